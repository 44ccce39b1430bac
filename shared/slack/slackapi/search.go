package slackapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi/seen"
)

// maxPages bounds a search to 50 pages of 200 replies, more than any task's thread has.
const maxPages = 50

// FindCards returns the timestamps, earliest first, of Ringi's messages that show this card, in a thread or, if there is
// none in it, among the channel's latest messages, where Slack posts what was for a thread that it didn't find.
func (c *Client) FindCards(ctx context.Context, channel, thread string, about Metadata) ([]string, error) {
	shows := func(m slack.Message) bool {
		return m.Metadata.EventType == EventType &&
			m.Metadata.EventPayload["task"] == about.Task && m.Metadata.EventPayload["card"] == about.Card
	}
	if thread != "" {
		in := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread}
		if found, err := c.find(ctx, c.replies(ctx, in, maxPages), shows); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return c.find(ctx, c.latest(ctx, channel), shows)
}

// latest lists the latest 200 messages outside of threads, which include one that was just posted.
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

// find returns the timestamps, earliest first, of the wanted messages that Ringi's own bot wrote. A deleted thread has
// none.
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
	slices.Sort(found) // timestamps have equal length, so they sort as strings
	return slices.Compact(found), nil
}

// Ours reports whether the bot self wrote the message. Metadata is no proof: any app may send metadata of any type.
func Ours(m slack.Message, self *slack.AuthTestResponse) bool {
	return self.BotID != "" && m.BotID == self.BotID || self.UserID != "" && m.User == self.UserID
}

// paged lists Slack's results page by page. next returns a page and the cursor of the one after it, empty after the
// last. It is called only when more is needed. An error ends the list.
func paged[V any](next func(cursor string) (page []V, after string, err error)) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		for cursor := ""; ; {
			page, after, err := next(cursor)
			if err != nil {
				yield(*new(V), err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			if after == "" || after == cursor {
				return
			}
			cursor = after
		}
	}
}

// errTooLong means that a thread has more pages than we read.
var errTooLong = errors.New("conversations.replies: the thread is too long to read")

// replies lists the messages of a thread, the oldest first. After most pages it ends with errTooLong.
func (c *Client) replies(
	ctx context.Context, params slack.GetConversationRepliesParameters, most int,
) iter.Seq2[slack.Message, error] {
	params.Limit, params.IncludeAllMetadata = 200, true
	read := 0
	return paged(func(cursor string) ([]slack.Message, string, error) {
		if read++; read > most {
			return nil, "", errTooLong
		}
		params.Cursor = cursor
		page, more, after, err := c.api.GetConversationRepliesContext(ctx, &params)
		if !more {
			after = ""
		}
		return page, after, outcome("conversations.replies", err)
	})
}

// threadPages bounds the reading of a thread: Slack returns the oldest replies first.
const threadPages = 5

// Said is a person's or another app's message in a thread.
type Said struct {
	User string // the author; for an app, its bot's id
	Text string // what people see of it; see seen.Content.Whole
	TS   string
	// Quoted are the authors of messages that it forwards.
	Quoted []string
}

// Before returns the last n messages of a thread before ts, oldest first. It omits Ringi's cards and messages of which
// people see nothing.
func (c *Client) Before(ctx context.Context, channel, thread, ts string, n int) ([]Said, error) {
	var said []Said
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Latest: ts}
	shown := map[string]seen.Message{} // by timestamp
	ctx = context.WithValue(ctx, asSent{}, func(answer []byte) { readShown(answer, shown) })
	for m, err := range c.replies(ctx, params, threadPages) {
		if err != nil {
			return nil, err
		}
		if m.Timestamp >= ts || m.Metadata.EventType == EventType {
			continue
		}
		content := shown[m.Timestamp].Content()
		if text := content.Whole(); text != "" {
			said = append(said, Said{cmp.Or(m.User, m.BotID), text, m.Timestamp, aggregate.AuthorsOf(content.Forwarded)})
		}
	}
	return said[max(0, len(said)-n):], nil
}

// readShown adds the messages of an answer to those that are shown.
func readShown(answer []byte, shown map[string]seen.Message) {
	var page struct {
		Messages []struct {
			seen.Message
			TS string `json:"ts"`
		} `json:"messages"`
	}
	if json.Unmarshal(answer, &page) != nil {
		return // slack-go refuses the answer, too
	}
	for _, m := range page.Messages {
		shown[m.TS] = m.Message
	}
}
