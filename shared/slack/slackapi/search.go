package slackapi

import (
	"context"
	"iter"
	"slices"

	"github.com/slack-go/slack"
)

// maxPages bounds a search: 50 pages of 200 replies are more than any task's thread has.
const maxPages = 50

// FindCards returns the timestamps, earliest first, of Ringi's own messages in a thread that show this card. A thread that
// is gone has none. Without a thread it looks among the channel's latest messages.
func (c *Client) FindCards(ctx context.Context, channel, thread string, about Metadata) ([]string, error) {
	messages := c.replies(ctx, slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread}, maxPages)
	if thread == "" {
		messages = c.latest(ctx, channel)
	}
	return c.find(ctx, messages, func(m slack.Message) bool {
		return m.Metadata.EventType == EventType &&
			m.Metadata.EventPayload["task"] == about.Task && m.Metadata.EventPayload["card"] == about.Card
	})
}

// latest lists the latest 200 messages outside of threads: what was posted a moment ago is among them.
func (c *Client) latest(ctx context.Context, channel string) iter.Seq2[slack.Message, error] {
	params := slack.GetConversationHistoryParameters{ChannelID: channel, Limit: 200, IncludeAllMetadata: true}
	return paged(func(string) ([]slack.Message, string, error) {
		latest, err := c.api.GetConversationHistoryContext(ctx, &params)
		if err := outcome("conversations.history", err); err != nil {
			return nil, "", err
		}
		return latest.Messages, "", nil
	})
}

// find returns the timestamps, earliest first, of those messages of Ringi's own bot that are wanted; none of a thread that is
// gone.
func (c *Client) find(
	ctx context.Context, messages iter.Seq2[slack.Message, error], wanted func(slack.Message) bool,
) (found []string, err error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return nil, err
	}
	for m, err := range messages {
		switch {
		case Code(err) == CodeThreadNotFound:
			return nil, nil
		case err != nil:
			return nil, err
		case Ours(m, self) && wanted(m):
			found = append(found, m.Timestamp)
		}
	}
	slices.Sort(found) // of one length: seconds and microseconds
	return slices.Compact(found), nil
}

// Ours reports whether the bot that self names wrote the message: any app may send metadata of any type.
func Ours(m slack.Message, self *slack.AuthTestResponse) bool {
	return self.BotID != "" && m.BotID == self.BotID || self.UserID != "" && m.User == self.UserID
}
