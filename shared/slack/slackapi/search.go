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
)

// maxPages bounds the reading of a thread to 50 pages of 200 replies, more than any task's thread has.
const maxPages = 50

// FindCards returns the timestamps, earliest first, of Ringi's messages that show this card, in a thread or, if there
// is none in it, among the channel's latest messages, where Slack posts what was for a thread that it didn't find.
func (c *Client) FindCards(ctx context.Context, channel, thread string, about Metadata) ([]string, error) {
	shows := func(m slack.Message) bool {
		return m.Metadata.EventType == EventType &&
			m.Metadata.EventPayload["task"] == about.Task && m.Metadata.EventPayload["card"] == about.Card
	}
	if thread != "" {
		in := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread}
		if found, err := c.find(ctx, c.replies(ctx, in), shows); err != nil || len(found) > 0 {
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

// errTooLong means that a thread has more than maxPages pages.
var errTooLong = errors.New("conversations.replies: the thread is too long to read")

// replies lists the messages of a thread, the oldest first. After maxPages it ends with errTooLong.
func (c *Client) replies(
	ctx context.Context, params slack.GetConversationRepliesParameters,
) iter.Seq2[slack.Message, error] {
	read := 0
	return paged(func(cursor string) ([]slack.Message, string, error) {
		if read++; read > maxPages {
			return nil, "", errTooLong
		}
		params.Cursor = cursor
		return c.repliesAt(ctx, params)
	})
}

// repliesAt returns a page of a thread and the cursor of the next one.
func (c *Client) repliesAt(
	ctx context.Context, params slack.GetConversationRepliesParameters,
) (page []slack.Message, after string, err error) {
	params.Limit, params.IncludeAllMetadata = 200, true
	page, more, after, err := c.api.GetConversationRepliesContext(ctx, &params)
	if !more {
		after = ""
	}
	return page, after, outcome("conversations.replies", err)
}

// Said is a person's or another app's message in a thread.
type Said struct {
	User string // the author; of what an app sent, for itself or with a person's token, its bot's id
	Text string // see Content.Whole
	TS   string
	// Quoted are the authors of messages that it forwards.
	Quoted []string
}

// Before returns the last n messages of a thread before ts, oldest first. It omits Ringi's cards, what Slack itself
// writes, such as “This message was deleted.”, and messages without a text and a file. Slack lists a thread's oldest
// messages first, so that all of them are read.
func (c *Client) Before(ctx context.Context, channel, thread, ts string, n int) (said []Said, err error) {
	shown := map[string]Message{} // by timestamp
	label := c.labelling(ctx)
	ctx = context.WithValue(ctx, asSent{}, func(answer []byte) {
		clear(shown)
		readShown(answer, shown)
	})
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Latest: ts}
	for m, err := range c.replies(ctx, params) {
		if err != nil {
			return nil, err
		}
		is := shown[m.Timestamp]
		label(&is)
		content := is.Content()
		text := content.Whole()
		if text == "" || m.Timestamp >= ts || m.Metadata.EventType == EventType || m.SubType == tombstone ||
			m.User == Slackbot {
			continue
		}
		quoted := append(aggregate.AuthorsOf(content.Forwarded), aggregate.OwnersOf(content.Files)...)
		said = append(said, Said{cmp.Or(m.BotID, m.User), text, m.Timestamp, quoted})
		said = said[max(0, len(said)-n):]
	}
	return said, nil
}

// Seen returns what people see of a message by now, and whether it is still there. thread is the root of its thread, if
// it is in one.
func (c *Client) Seen(ctx context.Context, channel, thread, ts string) (m Message, there bool, err error) {
	shown := map[string]Message{}
	ctx = context.WithValue(ctx, asSent{}, func(answer []byte) { readShown(answer, shown) })
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: cmp.Or(thread, ts), Inclusive: true,
		Oldest: ts, Latest: ts}
	page, _, err := c.repliesAt(ctx, params)
	if Code(err) == CodeThreadNotFound {
		return m, false, nil
	}
	for _, x := range page { // Slack adds the thread's first message
		if x.Timestamp == ts && x.SubType != tombstone {
			return shown[ts], true, nil
		}
	}
	return m, false, err
}

// tombstone is the subtype of what stands where a message with replies was deleted.
const tombstone = "tombstone"

// readShown adds the messages of an answer to those that are shown.
func readShown(answer []byte, shown map[string]Message) {
	var page struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(answer, &page) // slack-go refuses what is no answer
	for _, text := range page.Messages {
		var m struct {
			Message
			TS string `json:"ts"`
		}
		_ = json.Unmarshal(text, &m) // it goes on after a member of another form
		shown[m.TS] = m.Message
	}
}
