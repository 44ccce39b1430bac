package slackapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/words/language"
)

// EventType is the metadata type of a card's message.
const EventType = "ringi_card"

// Metadata names the card that a message shows. All members of the channel can read it, so it has ids only.
type Metadata struct {
	Task string
	Card string // the card row's key
}

func (m Metadata) option() slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: EventType, EventPayload: map[string]any{"task": m.Task, "card": m.Card},
	})
}

// body is a card's content. It always sends the attachments: an update without them would keep the old ones. Slack
// shows a text above attachments, where it would repeat their heading: there it is the first one's fallback, which
// notifications have.
func body(m slack.Msg) slack.MsgOption {
	text, attachments := m.Text, slices.Clone(m.Attachments)
	if len(attachments) > 0 {
		attachments[0].Fallback, text = text, ""
	}
	options := []slack.MsgOption{slack.MsgOptionText(text, false), slack.MsgOptionAttachments(attachments...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl()}
	if len(m.Blocks.BlockSet) > 0 {
		options = append(options, slack.MsgOptionBlocks(m.Blocks.BlockSet...))
	}
	return slack.MsgOptionCompose(options...)
}

// Post posts a card's message into a thread, or outside of threads if thread is empty, and returns its timestamp. After
// Unknown the message may exist: look with FindCards before posting again.
func (c *Client) Post(
	ctx context.Context, channel, thread string, m slack.Msg, about Metadata,
) (ts string, err error) {
	options := []slack.MsgOption{body(m), about.option()}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, ts, err = c.api.PostMessageContext(ctx, channel, options...)
	if err := outcome("chat.postMessage", err); err != nil {
		return "", err
	}
	if ts == "" {
		return "", fmt.Errorf("chat.postMessage: %w", Unknown{Cause: "answer without ts"})
	}
	return ts, nil
}

// Update replaces the content of a card's message. It is idempotent.
func (c *Client) Update(ctx context.Context, channel, ts string, m slack.Msg, about Metadata) error {
	_, _, _, err := c.api.UpdateMessageContext(ctx, channel, ts, body(m), about.option())
	return outcome("chat.update", err)
}

// Delete removes one of Ringi's messages. It returns nil if the message is already gone.
func (c *Client) Delete(ctx context.Context, channel, ts string) error {
	_, _, err := c.api.DeleteMessageContext(ctx, channel, ts)
	if err = outcome("chat.delete", err); Code(err) == CodeMessageNotFound {
		return nil
	}
	return err
}

// Ephemeral shows a text to one person only, within a thread unless thread is empty. Blocks take its place where
// Slack can draw them.
func (c *Client) Ephemeral(ctx context.Context, channel, thread, user, text string, blocks ...slack.Block) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false)}
	if len(blocks) > 0 {
		options = append(options, slack.MsgOptionBlocks(blocks...))
	}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, err := c.api.PostEphemeralContext(ctx, channel, user, options...)
	return outcome("chat.postEphemeral", err)
}

// Permalink returns the address of a message.
func (c *Client) Permalink(ctx context.Context, channel, ts string) (string, error) {
	link, err := c.api.GetPermalinkContext(ctx, &slack.PermalinkParameters{Channel: channel, Ts: ts})
	return link, outcome("chat.getPermalink", err)
}

// Direct sends a person a message of plain text.
func (c *Client) Direct(ctx context.Context, user, text string) error {
	channel, err := c.OpenDM(ctx, user)
	if err != nil {
		return err
	}
	_, _, err = c.api.PostMessageContext(ctx, channel, slack.MsgOptionText(text, false))
	return outcome("chat.postMessage", err)
}

// OpenDM opens a person's direct messages and returns their channel.
func (c *Client) OpenDM(ctx context.Context, user string) (channel string, err error) {
	dm, _, _, err := c.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
	if err := outcome("conversations.open", err); err != nil {
		return "", err
	}
	return dm.ID, nil
}

// OpenView shows a modal to the person whose click made the trigger. A trigger expires after 3 s.
func (c *Client) OpenView(ctx context.Context, trigger string, view slack.ModalViewRequest) error {
	_, err := c.api.OpenViewContext(ctx, trigger, view)
	return outcome("views.open", err)
}

// Suggest sets the prompts that Slack offers in a direct message. It names no thread: for an app with agent_view, a
// call with a thread does nothing.
func (c *Client) Suggest(ctx context.Context, channel string, suggestions []slack.AssistantThreadsPrompt) error {
	params := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel, Prompts: suggestions}
	return outcome("assistant.threads.setSuggestedPrompts", c.api.SetAssistantThreadsSuggestedPromptsContext(ctx, params))
}

// AgentStatus is the state of an agent that Slack shows in a thread
// (https://docs.slack.dev/reference/methods/agents.sessions.setStatus).
type AgentStatus string

const (
	AgentActive     AgentStatus = "active"
	AgentProcessing AgentStatus = "processing" // shown with a button that stops the agent
	AgentSuspended  AgentStatus = "suspended"  // the agent waits for a person
	AgentClosed     AgentStatus = "closed"
)

// maxTitle is the greatest length of a session's title, in characters.
const maxTitle = 200

// SetAgentStatus sets an agent's state in a thread. It is idempotent.
func (c *Client) SetAgentStatus(ctx context.Context, channel, thread string, status AgentStatus, title string) error {
	_, err := c.api.SetAgentSessionStatusContext(ctx, slack.AgentSessionSetStatusParameters{
		ChannelID: channel, ThreadTS: thread, Status: string(status), Title: language.First(title, maxTitle)})
	return outcome("agents.sessions.setStatus", err)
}

// SetWaiting has Slack say in a thread, after the app's name, what people wait for
// (https://docs.slack.dev/reference/methods/assistant.threads.setStatus). Slack takes the line away when the app posts
// there, or after two minutes.
func (c *Client) SetWaiting(ctx context.Context, channel, thread, text string) error {
	return outcome("assistant.threads.setStatus", c.api.SetAssistantThreadsStatusContext(ctx,
		slack.AssistantThreadsSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: text}))
}

// File is a file that somebody shared, with its content.
type File struct {
	Name, Type string // Type is the MIME type
	Body       []byte
}

// ErrFile means that nobody can read the file: it was deleted, is not stored by Slack, or is too large.
var ErrFile = errors.New("the file can't be read")

// fileHosts are Slack's file hosts. The token is sent to no other host.
var fileHosts = []string{"files.slack.com", "files.slack-gov.com"}

// File reads a file of up to most bytes. It returns ErrFile for a file that can't be read, else RateLimited, Refused or
// Unknown.
func (c *Client) File(ctx context.Context, id string, most int) (File, error) {
	f, _, _, err := c.api.GetFileInfoContext(ctx, id, 1, 1)
	if refused := (Refused{}); errors.As(normal(err), &refused) &&
		slices.Contains([]string{"file_not_found", "file_deleted", "not_visible"}, refused.Code) {
		return File{}, fmt.Errorf("files.info: %s: %w", refused.Code, ErrFile)
	}
	if err := outcome("files.info", err); err != nil {
		return File{}, err
	}
	switch {
	case f.IsExternal || f.Mode == "tombstone" || f.Mode == "hidden_by_limit":
		return File{}, fmt.Errorf("it is %s: %w", f.Mode, ErrFile)
	case f.Size > most:
		return File{}, fmt.Errorf("it has %d bytes, the limit is %d: %w", f.Size, most, ErrFile)
	}
	body, err := c.download(ctx, cmp.Or(f.URLPrivateDownload, f.URLPrivate), f.Mimetype, most)
	return File{Name: f.Name, Type: f.Mimetype, Body: body}, err
}

// download reads a file from Slack's address for it. To a token without the scope files:read Slack answers with status
// 200 and a sign-in page in HTML.
func (c *Client) download(ctx context.Context, address, wants string, most int) ([]byte, error) {
	token, api, err := c.keys.Bot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read a file: %w", err)
	}
	if !fromSlack(address, api) {
		return nil, fmt.Errorf("it is not with Slack: %w", ErrFile)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("its address can't be read: %w", ErrFile)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := c.files.Do(r)
	if err != nil {
		return nil, Unknown{Cause: "reading a file failed"} // the error contains the address
	}
	defer res.Body.Close()
	got, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK || got == "text/html" && wants != got {
		return nil, fmt.Errorf("Slack answers with status %d and %.40s: %w", res.StatusCode, got, ErrFile)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, Unknown{Cause: "reading a file failed"}
	case len(body) > most:
		return nil, fmt.Errorf("it has more than %d bytes: %w", most, ErrFile)
	}
	return body, nil
}

// fromSlack reports whether an address leads to Slack's files or, in the local stack, to its sandbox.
func fromSlack(address, api string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if u.Scheme == "https" && slices.Contains(fileHosts, strings.ToLower(u.Host)) {
		return true
	}
	at, err := url.Parse(api)
	return err == nil && at.Host != "" && u.Scheme == at.Scheme && strings.EqualFold(u.Host, at.Host)
}
