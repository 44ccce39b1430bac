package slackapi

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"
)

// Message is a card's message: a text for notifications, and one attachment whose bar shows the state by its colour. A
// plain reply has no attachment.
type Message struct {
	Text        string             `json:"text"`
	Attachments []slack.Attachment `json:"attachments"`
}

// Suggestion is a request that Slack offers as a button in the app's messages.
type Suggestion struct {
	Title   string // on the button
	Message string // the message that a click sends
}

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
func body(m Message) slack.MsgOption {
	return slack.MsgOptionCompose(
		slack.MsgOptionText(m.Text, false), slack.MsgOptionAttachments(m.Attachments...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	)
}

// Post posts a card's message into a thread, or outside of threads if thread is empty, and returns its timestamp. After
// Unknown the message may exist: look with FindCards before posting again.
func (c *Client) Post(
	ctx context.Context, channel, thread string, m Message, about Metadata,
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
func (c *Client) Update(ctx context.Context, channel, ts string, m Message, about Metadata) error {
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

// UpdateView replaces the content of an open modal. It fails if the modal has moved on from the page with this hash. An
// empty hash replaces any page.
func (c *Client) UpdateView(ctx context.Context, id, hash string, view slack.ModalViewRequest) error {
	_, err := c.api.UpdateViewContext(ctx, view, "", hash, id)
	return outcome("views.update", err)
}

// Suggest sets the prompts that Slack offers in a direct message. It names no thread: for an app with agent_view, a
// call with a thread does nothing.
func (c *Client) Suggest(ctx context.Context, channel string, suggestions []Suggestion) error {
	params := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel}
	for _, s := range suggestions {
		params.AddPrompt(s.Title, s.Message)
	}
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
