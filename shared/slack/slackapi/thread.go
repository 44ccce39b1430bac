package slackapi

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
)

// threadPages bounds the reading of a thread: Slack gives its oldest replies first.
const threadPages = 5

// Said is a message of somebody in a thread.
type Said struct {
	User string // who; the id of an app's bot for its messages
	Text string
}

// Before returns the last n messages of a thread that were written before ts, oldest
// first: people's and other apps', without our cards and what has no text.
func (c *Client) Before(ctx context.Context, channel, thread, ts string, n int) ([]Said, error) {
	var said []Said
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Latest: ts, Limit: 200, IncludeAllMetadata: true}
	for range threadPages {
		replies, more, cursor, err := c.api.GetConversationRepliesContext(ctx, &params)
		if err := outcome("conversations.replies", err); err != nil {
			return nil, err
		}
		for _, m := range replies {
			if m.Text == "" || m.Timestamp >= ts || m.Metadata.EventType == EventType {
				continue
			}
			who := m.User
			if who == "" {
				who = m.BotID
			}
			said = append(said, Said{who, m.Text})
		}
		said = said[max(0, len(said)-n):]
		if !more || cursor == "" {
			return said, nil
		}
		params.Cursor = cursor
	}
	return nil, errors.New("conversations.replies: the thread is too long to read")
}
