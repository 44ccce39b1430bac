package slackapi

import (
	"cmp"
	"context"

	"github.com/slack-go/slack"
)

// threadPages bounds the reading of a thread: Slack gives its oldest replies first.
const threadPages = 5

// Said is a message of somebody in a thread.
type Said struct {
	User string // who; the id of an app's bot for its messages
	Text string
}

// Before returns the last n messages of a thread that were written before ts, oldest first: people's and other apps',
// without Ringi's cards and what has no text.
func (c *Client) Before(ctx context.Context, channel, thread, ts string, n int) ([]Said, error) {
	var said []Said
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Latest: ts}
	for m, err := range c.replies(ctx, params, threadPages) {
		if err != nil {
			return nil, err
		}
		if m.Text != "" && m.Timestamp < ts && m.Metadata.EventType != EventType {
			said = append(said, Said{cmp.Or(m.User, m.BotID), m.Text})
		}
	}
	return said[max(0, len(said)-n):], nil
}
