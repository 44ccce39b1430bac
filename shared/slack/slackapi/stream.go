package slackapi

import (
	"context"
	"fmt"
	"time"

	"github.com/slack-go/slack"
)

// MaxStreamed is the most Markdown that one streaming call takes, in characters.
const MaxStreamed = 12000

// StartStream begins a streamed message that answers user in a thread, and returns its timestamp
// (https://docs.slack.dev/reference/methods/chat.startStream). After Unknown the message may exist: FindStreams looks
// for it.
func (c *Client) StartStream(ctx context.Context, channel, thread, team, user, markdown string) (ts string, err error) {
	_, ts, err = c.api.StartStreamContext(ctx, channel,
		slack.MsgOptionTS(thread), slack.MsgOptionRecipientTeamID(team), slack.MsgOptionRecipientUserID(user),
		slack.MsgOptionMarkdownText(markdown))
	if err := outcome("chat.startStream", err); err != nil {
		return "", err
	}
	if ts == "" {
		return "", fmt.Errorf("chat.startStream: %w", Unknown{Cause: "answer without ts"})
	}
	return ts, nil
}

// AppendStream adds text to a message that is being streamed.
func (c *Client) AppendStream(ctx context.Context, channel, ts, markdown string) error {
	_, _, err := c.api.AppendStreamContext(ctx, channel, ts, slack.MsgOptionMarkdownText(markdown))
	return outcome("chat.appendStream", err)
}

// StopStream ends the streaming of a message; until then Slack neither updates nor deletes it. It returns nil if the
// stream has already ended.
func (c *Client) StopStream(ctx context.Context, channel, ts string) error {
	_, _, err := c.api.StopStreamContext(ctx, channel, ts)
	if err = outcome("chat.stopStream", err); Code(err) == CodeNotStreaming {
		return nil
	}
	return err
}

// skew is how far Slack's clock may be behind ours.
const skew = 5 * time.Second

// FindStreams returns the timestamps of Ringi's messages in a thread that were begun since a time and show no card yet,
// because they are or were being streamed.
func (c *Client) FindStreams(ctx context.Context, channel, thread string, since time.Time) ([]string, error) {
	since = since.Add(-skew)
	oldest := fmt.Sprintf("%d.%06d", since.Unix(), since.Nanosecond()/1000)
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Oldest: oldest}
	return c.find(ctx, c.replies(ctx, params), func(m slack.Message) bool {
		return m.Metadata.EventType == "" && m.Timestamp >= oldest
	})
}
