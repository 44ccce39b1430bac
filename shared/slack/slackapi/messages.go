package slackapi

import (
	"context"
	"fmt"
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/slack/slackapi/outgoing"
)

// EventType is the metadata type of a card's message.
const EventType = "ringi_card"

// Metadata names the card that a message shows. Members of the channel can read it: ids only.
type Metadata struct {
	Task string
	Card string // the card row's key
}

func (m Metadata) option() slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: EventType, EventPayload: map[string]any{"task": m.Task, "card": m.Card},
	})
}

// body is a card's content. An attachment list that is left out would keep the old
// one on an update, so it is always sent.
func body(m outgoing.Message) slack.MsgOption {
	return slack.MsgOptionCompose(
		slack.MsgOptionText(m.Text, false), slack.MsgOptionAttachments(m.Attachments...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	)
}

// Post posts a card's message into a thread, or outside of any when thread is empty, and
// returns its timestamp. After Unknown it may be there: look with FindCards before posting again.
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

// refusedBlocks reports whether Slack rejected a block: its type is unknown or not allowed
// here. Nothing was posted then.
func refusedBlocks(err error) bool {
	return slices.Contains(
		[]string{"invalid_blocks", "invalid_attachments", "invalid_blocks_format", "msg_blocks_too_long"}, Code(err))
}

// Update replaces what a card's message shows. Doing it again is harmless.
func (c *Client) Update(ctx context.Context, channel, ts string, m outgoing.Message, about Metadata) error {
	_, _, _, err := c.api.UpdateMessageContext(ctx, channel, ts, body(m), about.option())
	err = outcome("chat.update", err)
	if refusedBlocks(err) && m.Plain != nil {
		return c.Update(ctx, channel, ts, *m.Plain, about)
	}
	return err
}

// Delete removes a message of Ringi's. One that is gone already is fine.
func (c *Client) Delete(ctx context.Context, channel, ts string) error {
	_, _, err := c.api.DeleteMessageContext(ctx, channel, ts)
	if err = outcome("chat.delete", err); Code(err) == CodeMessageNotFound {
		return nil
	}
	return err
}

// Ephemeral shows text to one person, in a thread unless it is empty.
func (c *Client) Ephemeral(ctx context.Context, channel, thread, user, text string) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false)}
	if thread != "" {
		options = append(options, slack.MsgOptionTS(thread))
	}
	_, err := c.api.PostEphemeralContext(ctx, channel, user, options...)
	return outcome("chat.postEphemeral", err)
}

// Permalink is the address of a message.
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

// OpenDM opens the conversation with a person and returns its channel.
func (c *Client) OpenDM(ctx context.Context, user string) (channel string, err error) {
	dm, _, _, err := c.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
	if err := outcome("conversations.open", err); err != nil {
		return "", err
	}
	return dm.ID, nil
}

// OpenView shows a modal to whoever made the trigger, which lives for 3 s.
func (c *Client) OpenView(ctx context.Context, trigger string, view slack.ModalViewRequest) error {
	_, err := c.api.OpenViewContext(ctx, trigger, view)
	return outcome("views.open", err)
}

// UpdateView replaces what an open modal shows, unless it shows another page than the
// one with this hash by now. An empty hash replaces it whatever it shows.
func (c *Client) UpdateView(ctx context.Context, id, hash string, view slack.ModalViewRequest) error {
	_, err := c.api.UpdateViewContext(ctx, view, "", hash, id)
	return outcome("views.update", err)
}

// Suggest sets what Slack offers to say in a direct message, below its latest message.
// An app with agent_view names no thread: with one the call does nothing.
func (c *Client) Suggest(ctx context.Context, channel string, suggestions []outgoing.Suggestion) error {
	params := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel}
	for _, s := range suggestions {
		params.AddPrompt(s.Title, s.Message)
	}
	return outcome("assistant.threads.setSuggestedPrompts", c.api.SetAssistantThreadsSuggestedPromptsContext(ctx, params))
}
