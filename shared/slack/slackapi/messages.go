package slackapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi/outgoing"
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

// body is a card's content. It always sends the attachments: an update without them would keep the old ones.
func body(m outgoing.Message) slack.MsgOption {
	return slack.MsgOptionCompose(
		slack.MsgOptionText(m.Text, false), slack.MsgOptionAttachments(m.Attachments...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	)
}

// Post posts a card's message into a thread, or outside of threads if thread is empty, and returns its timestamp. After
// Unknown the message may exist: look with FindCards before posting again.
func (c *Client) Post(
	ctx context.Context, channel, thread string, m outgoing.Message, about Metadata,
) (ts string, err error) {
	options := []slack.MsgOption{body(m), about.option()}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, ts, err = c.api.PostMessageContext(ctx, channel, options...)
	if err := outcome("chat.postMessage", err); refusedBlocks(err) && m.Plain != nil {
		return c.Post(ctx, channel, thread, *m.Plain, about)
	} else if err != nil {
		return "", err
	}
	if ts == "" {
		return "", fmt.Errorf("chat.postMessage: %w", Unknown{Cause: "answer without ts"})
	}
	return ts, nil
}

// refusedBlocks reports whether Slack rejected a block because its type is unknown or not allowed here. Nothing was
// posted then.
func refusedBlocks(err error) bool {
	return slices.Contains(
		[]string{"invalid_blocks", "invalid_attachments", "invalid_blocks_format", "msg_blocks_too_long"}, Code(err))
}

// Update replaces the content of a card's message. It is idempotent.
func (c *Client) Update(ctx context.Context, channel, ts string, m outgoing.Message, about Metadata) error {
	_, _, _, err := c.api.UpdateMessageContext(ctx, channel, ts, body(m), about.option())
	err = outcome("chat.update", err)
	if refusedBlocks(err) && m.Plain != nil {
		return c.Update(ctx, channel, ts, *m.Plain, about)
	}
	return err
}

// Delete removes one of Ringi's messages. It returns nil if the message is already gone.
func (c *Client) Delete(ctx context.Context, channel, ts string) error {
	_, _, err := c.api.DeleteMessageContext(ctx, channel, ts)
	if err = outcome("chat.delete", err); Code(err) == CodeMessageNotFound {
		return nil
	}
	return err
}

// Ephemeral shows a text to one person only, within a thread unless thread is empty.
func (c *Client) Ephemeral(ctx context.Context, channel, thread, user, text string) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false)}
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

// UpdateView replaces the content of an open modal. It fails if the modal has moved on from the page with this hash. An
// empty hash replaces any page.
func (c *Client) UpdateView(ctx context.Context, id, hash string, view slack.ModalViewRequest) error {
	_, err := c.api.UpdateViewContext(ctx, view, "", hash, id)
	return outcome("views.update", err)
}

// Suggest sets the prompts that Slack offers in a direct message. It names no thread: for an app with agent_view, a
// call with a thread does nothing.
func (c *Client) Suggest(ctx context.Context, channel string, suggestions []outgoing.Suggestion) error {
	params := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel}
	for _, s := range suggestions {
		params.AddPrompt(s.Title, s.Message)
	}
	return outcome("assistant.threads.setSuggestedPrompts", c.api.SetAssistantThreadsSuggestedPromptsContext(ctx, params))
}

// noChannel are Slack's answers about a channel's former id. Methods for files have the second one
// (https://docs.slack.dev/reference/methods/files.completeUploadExternal#errors).
var noChannel = []string{"channel_not_found", "invalid_channel"}

// moved finds what Slack calls a channel by now.
type moved struct {
	of    func(ctx context.Context, tenant string) (tenancy.Channels, error)
	known clock.Answers[string, tenancy.Channels] // by tenant
}

// Follow makes the client find the present ids of channels that got others: a call that Slack refuses for a former id,
// so that it had no effect, is made again with the present one.
func (c *Client) Follow(of func(ctx context.Context, tenant string) (tenancy.Channels, error)) {
	c.moved.of = of
}

// all returns the channels of the context's tenant that got other ids.
func (m *moved) all(ctx context.Context) (tenancy.Channels, error) {
	if m.of == nil || Tenant(ctx) == "" {
		return nil, nil
	}
	return m.of(ctx, Tenant(ctx))
}

// recently is all, but may be known for a while: what only links and shows may name a former id.
func (m *moved) recently(ctx context.Context) tenancy.Channels {
	all, err := m.known.Ask(Tenant(ctx), time.Now(), time.Minute, func() (tenancy.Channels, error) { return m.all(ctx) })
	if err != nil {
		slog.WarnContext(ctx, "read which channels got other ids", "err", err)
	}
	return all
}

// mentioned matches the mention of a channel in a call's body, which may be a form.
var mentioned = language.Regexp{Text: `((?:%3C|[uU]003[cC]|<)(?:%23|#))([CG][A-Z0-9]+)`}

// named returns a call's body with the channels that its text mentions by their present ids: Slack shows nobody the
// name of a former one.
func (m *moved) named(ctx context.Context, body []byte) []byte {
	if !mentioned.Get().Match(body) {
		return body
	}
	all := m.recently(ctx)
	return mentioned.Get().ReplaceAllFunc(body, func(is []byte) []byte {
		part := mentioned.Get().FindSubmatch(is)
		return append(slices.Clone(part[1]), all.Now(string(part[2]))...)
	})
}

// follow returns a call with the present ids of its channels, or nil if it has them already.
func (m *moved) follow(r *http.Request, body []byte) (*http.Request, []byte) {
	all, err := m.all(r.Context())
	if err != nil {
		slog.WarnContext(r.Context(), "read which channels got other ids", "err", err)
		return nil, nil
	}
	changed := false
	query := r.URL.Query()
	present(query, all, &changed)
	now := r.Clone(r.Context())
	now.URL.RawQuery = query.Encode()
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, nil
		}
		present(form, all, &changed)
		body = []byte(form.Encode())
	case "application/json":
		var members map[string]json.RawMessage
		if json.Unmarshal(body, &members) != nil {
			return nil, nil
		}
		for _, field := range channelFields {
			var was string
			if json.Unmarshal(members[field], &was) == nil && all.Now(was) != was {
				members[field], _ = json.Marshal(all.Now(was)) // a string
				changed = true
			}
		}
		body, _ = json.Marshal(members) // they were read from it
	}
	if !changed {
		return nil, nil
	}
	return now, body
}

// channelFields are the arguments by which calls name channels.
var channelFields = []string{"channel", "channel_id"}

// present gives the channels in a call's arguments their present ids.
func present(args url.Values, all tenancy.Channels, changed *bool) {
	for _, field := range channelFields {
		if was := args.Get(field); was != "" && all.Now(was) != was {
			args.Set(field, all.Now(was))
			*changed = true
		}
	}
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
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	_, err := c.api.SetAgentSessionStatusContext(ctx,
		slack.AgentSessionSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: string(status), Title: title})
	return outcome("agents.sessions.setStatus", err)
}

// SetWaiting has Slack say in a thread, after the app's name, what people wait for
// (https://docs.slack.dev/reference/methods/assistant.threads.setStatus). Slack takes the line away when the app posts
// there, or after two minutes.
func (c *Client) SetWaiting(ctx context.Context, channel, thread, text string) error {
	return outcome("assistant.threads.setStatus", c.api.SetAssistantThreadsStatusContext(ctx,
		slack.AssistantThreadsSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: text}))
}
