package slackapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi/inbound"
)

// maxPages bounds a search to 50 pages of 200 replies, more than any task's thread has.
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

// errTooLong means that threadCalls or maxPages calls did not find what is looked for in a thread.
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
	User string // the author; for an app, its bot's id
	Text string // see inbound.Content.Whole
	TS   string
	// Quoted are the authors of messages that it forwards.
	Quoted []string
}

// Before returns the last n messages of a thread before ts, oldest first. It omits Ringi's cards, what Slack itself
// writes, such as “This message was deleted.”, and messages without a text and a file.
func (c *Client) Before(ctx context.Context, channel, thread, ts string, n int) ([]Said, error) {
	shown := map[string]inbound.Message{} // by timestamp
	ctx = context.WithValue(ctx, asSent{}, func(answer []byte) {
		clear(shown)
		readShown(answer, shown)
	})
	params := slack.GetConversationRepliesParameters{ChannelID: channel, Timestamp: thread, Inclusive: true}
	said, err := c.end(ctx, params, ts, n, func(m slack.Message) (Said, bool) {
		if m.Metadata.EventType == EventType || m.SubType == tombstone || m.User == slackbot {
			return Said{}, false
		}
		content := shown[m.Timestamp].Content()
		text := content.Whole()
		quoted := append(aggregate.AuthorsOf(content.Forwarded), aggregate.OwnersOf(content.Files)...)
		return Said{authorOf(m), text, m.Timestamp, quoted}, text != ""
	})
	for i := 0; err == nil && i < len(said); i++ {
		err = c.nameApp(ctx, &said[i])
	}
	return said, err
}

// Seen returns what people see of a message by now, and whether it is still there. thread is the root of its thread, if
// it is in one.
func (c *Client) Seen(ctx context.Context, channel, thread, ts string) (m inbound.Message, there bool, err error) {
	shown := map[string]inbound.Message{}
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

// bots stands between the user and the bot of a message that has both, until Slack says which of them wrote it.
const bots = "/"

// authorOf returns who wrote a message. What an app sends has its bot's id and its bot's user; what it sends with a
// person's token has that person as its user.
func authorOf(m slack.Message) string {
	if m.BotID == "" || m.User == "" {
		return cmp.Or(m.User, m.BotID)
	}
	return m.User + bots + m.BotID
}

// nameApp gives a message the id of the app's bot that wrote it, or of the person whose token the app used.
func (c *Client) nameApp(ctx context.Context, s *Said) error {
	user, bot, both := strings.Cut(s.User, bots)
	if !both {
		return nil
	}
	of := Tenant(ctx) + bots + user
	is, known := c.apps.Known(of, time.Now())
	if !known {
		u, err := c.User(ctx, user)
		if code := Code(err); code == CodeUserNotFound || code == CodeUserNotVisible {
			s.User = bot // all that is known of who wrote it
			return nil
		}
		if err != nil {
			return err
		}
		is = u.Bot
		c.apps.Keep(of, is, time.Now(), appsFor)
	}
	if s.User = user; is {
		s.User = bot
	}
	return nil
}

// appsFor is how long it is remembered whether a user is an app's. That never changes.
const appsFor = 24 * time.Hour

// tombstone is the subtype of what stands where a message with replies was deleted.
const tombstone = "tombstone"

// threadCalls bounds the calls for the end of a thread.
const threadCalls = 25

// end returns the last n messages of a thread before ts that read accepts. Slack returns a thread's oldest replies
// first. So if more than a page follows a message, end asks for the later half of the time, until one page has all
// that follows. If these are too few, it goes on with what is before them.
func (c *Client) end(ctx context.Context, params slack.GetConversationRepliesParameters, ts string, n int,
	read func(slack.Message) (Said, bool)) (said []Said, err error) {
	early := params.Timestamp
	params.Oldest, params.Latest = early, ts
	for range threadCalls {
		page, more, err := c.repliesAt(ctx, params)
		if err != nil {
			return nil, err
		}
		if more != "" && len(page) > 0 {
			early = max(early, page[len(page)-1].Timestamp)
			params.Oldest = between(early, params.Latest)
			continue
		}
		var found []Said
		for _, m := range page { // Slack adds the thread's first message to any page
			if s, ok := read(m); ok && m.Timestamp >= params.Oldest && m.Timestamp < params.Latest {
				found = append(found, s)
			}
		}
		said = append(found, said...)
		if len(said) >= n || params.Oldest <= params.Timestamp {
			return said[max(0, len(said)-n):], nil
		}
		if params.Latest = params.Oldest; early >= params.Latest {
			early = params.Timestamp
		}
		params.Oldest = early
	}
	return nil, errTooLong
}

// between returns a timestamp halfway between two, or the earlier one if there is none.
func between(early, late string) string {
	a, errA := strconv.ParseInt(strings.Replace(early, ".", "", 1), 10, 64)
	b, errB := strconv.ParseInt(strings.Replace(late, ".", "", 1), 10, 64)
	if errA != nil || errB != nil || b <= a {
		return early
	}
	mid := a + (b-a)/2
	return fmt.Sprintf("%d.%06d", mid/1e6, mid%1e6)
}

// readShown adds the messages of an answer to those that are shown.
func readShown(answer []byte, shown map[string]inbound.Message) {
	var page struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(answer, &page) // slack-go refuses what is no answer
	for _, text := range page.Messages {
		var m struct {
			inbound.Message
			TS string `json:"ts"`
		}
		_ = json.Unmarshal(text, &m) // it goes on after a member of another form
		shown[m.TS] = m.Message
	}
}
