package slackapi

import (
	"context"
	"errors"
	"slices"

	"github.com/slack-go/slack"
)

// maxPages bounds a search: 50 pages of 200 replies are more than any task's thread has.
const maxPages = 50

// FindCards returns the timestamps, earliest first, of our own bot's messages in a
// thread that show this card. A thread that is gone has none. Without a thread it
// looks among the channel's latest messages.
func (c *Client) FindCards(ctx context.Context, channel, thread string, about Metadata) ([]string, error) {
	self, err := c.whoami(ctx)
	if err != nil {
		return nil, err
	}
	if thread == "" {
		return c.findLatest(ctx, channel, about, self)
	}
	var found []string
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Limit: 200, IncludeAllMetadata: true}
	for range maxPages {
		replies, more, cursor, err := c.api.GetConversationRepliesContext(ctx, &params)
		if err := outcome("conversations.replies", err); Code(err) == CodeThreadNotFound {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		for _, m := range replies {
			if Ours(m, self) && shows(m.Metadata, about) {
				found = append(found, m.Timestamp)
			}
		}
		if !more || cursor == "" {
			slices.Sort(found) // of one length: seconds and microseconds
			return slices.Compact(found), nil
		}
		params.Cursor = cursor
	}
	return nil, errors.New("conversations.replies: the thread has too many replies to search")
}

// findLatest looks at the latest 200 messages outside of threads: what was posted a moment ago is among them.
func (c *Client) findLatest(ctx context.Context, channel string, about Metadata, self *slack.AuthTestResponse) ([]string, error) {
	latest, err := c.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Limit: 200, IncludeAllMetadata: true})
	if err := outcome("conversations.history", err); err != nil {
		return nil, err
	}
	var found []string
	for _, m := range latest.Messages {
		if Ours(m, self) && shows(m.Metadata, about) {
			found = append(found, m.Timestamp)
		}
	}
	slices.Sort(found)
	return found, nil
}

// Ours reports whether the bot that self names wrote the message: any app may send metadata of any type.
func Ours(m slack.Message, self *slack.AuthTestResponse) bool {
	return self.BotID != "" && m.BotID == self.BotID || self.UserID != "" && m.User == self.UserID
}

func shows(m slack.SlackMetadata, about Metadata) bool {
	return m.EventType == EventType && m.EventPayload["task"] == about.Task && m.EventPayload["card"] == about.Card
}
