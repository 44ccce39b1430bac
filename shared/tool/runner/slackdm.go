package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
	"ringi/shared/tool"
	"ringi/shared/tool/wire"
)

const (
	// DMEvent is the metadata of messages that steps send.
	DMEvent = "ringi_dm"
	// dmPages and dmPageSize limit how many messages a repeated call searches for its own.
	dmPages    = 5
	dmPageSize = 200
	// answerTime is the time reserved for the next attempt after a wait.
	answerTime = 5 * time.Second
)

// DM acts as the bot of one workspace.
type DM struct{ reads, writes *slack.Client }

// dm acts as the tenant's bot.
func (r *Runner) dm(ctx context.Context, c tool.Call) (*DM, error) {
	token, address, err := r.config.Slack(ctx, c.Tenant)
	if err == nil && token == "" {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return nil, noTokenError(explain.Slack, err)
	}
	by := func(h *http.Client) *slack.Client {
		return slack.New(token, slack.OptionAPIURL(address), slack.OptionHTTPClient(slackapi.Heeding{Doer: h}))
	}
	return &DM{reads: by(r.http.Reads), writes: by(r.http.Writes)}, nil
}

// Detail is one line after the text.
type Detail struct {
	Label string `json:"label"`
	Value any    `json:"value"`
}

// DirectMessage is the message to send, which is shown with the very characters that it has here, and the line below
// it. Recipient is a user id or an e-mail address.
type DirectMessage struct {
	Recipient string   `json:"recipient"`
	Text      string   `json:"text"`
	Details   []Detail `json:"details"`
	Below     string   `json:"-"` // a line of Ringi's own in Slack's markup; empty: none
}

// SentDM is the result of send_slack_dm.
type SentDM struct {
	User        string `json:"user"`
	Channel     string `json:"channel"`
	MessageTS   string `json:"message_ts"`
	AlreadySent bool   `json:"already_sent"`
}

// Find opens the recipient's DM and looks there for the message with this key. MessageTS is empty if there is none.
func (c *DM) Find(ctx context.Context, m DirectMessage, key string) (SentDM, error) {
	user := m.Recipient
	if strings.Contains(user, "@") {
		found, err := patiently(ctx, func() (*slack.User, error) { return c.reads.GetUserByEmailContext(ctx, user) })
		if err != nil {
			return SentDM{}, before(err, m.Recipient)
		}
		user = found.ID
	}
	channel, err := patiently(ctx, func() (*slack.Channel, error) {
		opened, _, _, err := c.writes.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}})
		return opened, err
	})
	if err != nil {
		return SentDM{}, before(err, m.Recipient)
	}
	out := SentDM{User: user, Channel: channel.ID}
	if out.MessageTS, err = c.find(ctx, channel.ID, key); err != nil {
		return SentDM{}, before(err, m.Recipient)
	}
	out.AlreadySent = out.MessageTS != ""
	return out, nil
}

// Send posts the message unless the DM already has one with this key. Members can read the key, so it holds only ids.
func (c *DM) Send(ctx context.Context, m DirectMessage, key string) (SentDM, error) {
	out, err := c.Find(ctx, m, key)
	if err != nil || out.AlreadySent {
		return out, err
	}
	out.MessageTS, err = patiently(ctx, func() (string, error) {
		_, ts, err := c.writes.PostMessageContext(ctx, out.Channel,
			slack.MsgOptionText(m.text(), false), slack.MsgOptionDisableMarkdown(), slack.MsgOptionBlocks(m.blocks()...),
			slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
			slack.MsgOptionMetadata(slack.SlackMetadata{EventType: DMEvent, EventPayload: map[string]any{"key": key}}))
		return ts, err
	})
	if err != nil {
		return SentDM{}, classify(err, m.Recipient)
	}
	return out, nil
}

// patiently makes a call. If Slack says that it did nothing and when to call again, patiently waits and
// repeats the call, unless too little time is left.
func patiently[T any](ctx context.Context, call func() (T, error)) (T, error) {
	for {
		got, err := call()
		var limited *slack.RateLimitedError
		if !errors.As(err, &limited) || limited.RetryAfter <= 0 {
			return got, err
		}
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) <= limited.RetryAfter+answerTime {
			return got, err
		}
		if clock.Sleep(ctx, limited.RetryAfter+rand.N(limited.RetryAfter/2+1)) != nil {
			return got, err
		}
	}
}

// find looks for the message of an earlier call with the same key. Any app may post a message with that key, so only
// messages from Ringi's bot count.
func (c *DM) find(ctx context.Context, channel, key string) (ts string, err error) {
	var self *slack.AuthTestResponse
	cursor := ""
	for range dmPages {
		page, err := patiently(ctx, func() (*slack.GetConversationHistoryResponse, error) {
			return c.reads.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
				ChannelID: channel, Limit: dmPageSize, Cursor: cursor, IncludeAllMetadata: true,
			})
		})
		if err != nil {
			return "", err
		}
		for _, m := range page.Messages {
			if m.Metadata.EventType != DMEvent || m.Metadata.EventPayload["key"] != key {
				continue
			}
			if self == nil {
				self, err = patiently(ctx, func() (*slack.AuthTestResponse, error) { return c.reads.AuthTestContext(ctx) })
				if err != nil {
					return "", err
				}
			}
			if slackapi.Ours(m, self) {
				return m.Timestamp, nil
			}
		}
		if cursor = page.ResponseMetaData.NextCursor; cursor == "" {
			break
		}
	}
	return "", nil
}

// before classifies an error before the post, when nothing was sent yet.
func before(err error, recipient string) error {
	e := classify(err, recipient)
	e.Outcome = explain.CallFailed
	return e
}

// classify determines whether a failed call can have had an effect. For fatal_error and internal_error Slack says that
// some of the work may have been done.
func classify(err error, recipient string) *explain.CallError {
	if limited, is := errors.AsType[*slack.RateLimitedError](err); is {
		return &explain.CallError{Outcome: explain.CallFailed, Problem: explain.ProblemRateLimited,
			Args: []any{explain.Slack}, RetryAfter: limited.RetryAfter, Err: err}
	}
	if status, is := errors.AsType[slack.StatusCodeError](err); is {
		return wire.Refused(explain.Slack, status.Code, http.Header{}, status.Status)
	}
	var refused slack.SlackErrorResponse
	if !errors.As(err, &refused) {
		return wire.Broken(explain.Slack, err)
	}
	e := explain.Fail(explain.ProblemRejected, errors.New(refused.Err), explain.Slack, refused.Err)
	switch refused.Err {
	case "fatal_error", "internal_error", "service_unavailable":
		e.Outcome, e.Problem, e.Args = explain.CallUnknown, explain.ProblemDown, []any{explain.Slack, refused.Err}
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive":
		e.Problem, e.Args = explain.ProblemUnauthorized, []any{explain.Slack}
	case "users_not_found", "user_not_found", "user_disabled", "cannot_dm_bot":
		e.Problem, e.Args = explain.ProblemNoRecipient, []any{recipient}
	case "ratelimited":
		e.Problem, e.Args = explain.ProblemRateLimited, []any{explain.Slack}
	}
	return e
}

// text returns the message as one text, for notifications and screen readers. Slack's control characters are escaped
// but around people and channels, and nothing else: it is sent as text without formatting.
func (m DirectMessage) text() string {
	var b strings.Builder
	b.WriteString(escape(m.Text))
	for _, d := range m.Details {
		b.WriteString("\n• " + escape(d.Label) + ": " + escape(d.value()))
	}
	if m.Below != "" {
		b.WriteString("\n" + m.Below)
	}
	return b.String()
}

var userForm = regexp.MustCompile(`^[UW][A-Z0-9]{2,40}$`)

// BelowDM returns the line that says for whom a message is sent: who asked for it, and all who approved it, unless
// nobody was asked to. It is empty if nobody is known to have asked. The card on which people approve shows this line.
func BelowDM(locale, asked string, stamped []string) string {
	if !userForm.MatchString(asked) {
		return ""
	}
	var by []string
	for _, user := range stamped {
		if userForm.MatchString(user) {
			by = append(by, "<@"+user+">")
		}
	}
	return explain.Sent(locale, "<@"+asked+">", by...)
}

// blocks returns the message, and the line below it in Slack's small print, where no message can write.
func (m DirectMessage) blocks() []slack.Block {
	if m.Below == "" {
		return []slack.Block{m.block()}
	}
	below := &slack.TextBlockObject{Type: slack.MarkdownType, Text: m.Below, Verbatim: true}
	return []slack.Block{m.block(), slack.NewContextBlock("", below)}
}

var referred = regexp.MustCompile("&lt;((?:@[UW]|#[CG])[A-Z0-9]{2,40})&gt;")
var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return referred.ReplaceAllString(entities.Replace(s), "<$1>") }

// block returns the message as a block whose texts Slack shows as they are, but for people and channels, which it
// names: no character in them formats, names an emoji, or ends a detail.
func (m DirectMessage) block() slack.Block {
	parts := []slack.RichTextElement{slack.NewRichTextSection(literal(m.Text)...)}
	var details []slack.RichTextElement
	for _, d := range m.Details {
		label := slack.NewRichTextSectionTextElement(d.Label+": ", &slack.RichTextSectionTextStyle{Bold: true})
		line := append([]slack.RichTextSectionElement{label}, literal(d.value())...)
		details = append(details, slack.NewRichTextSection(line...))
	}
	if details != nil {
		parts = append(parts, slack.NewRichTextList(slack.RTEListBullet, 0, details...))
	}
	return slack.NewRichTextBlock("", parts...)
}

// value is the detail's value as it was approved. Null has no characters.
func (d Detail) value() string {
	if d.Value == nil {
		return ""
	}
	return fmt.Sprint(d.Value)
}

// address finds web addresses in a text, which need not be followed by a space, people and channels.
var address = regexp.MustCompile("https?://[^\\x00-\\x20<>|\"`\\x7f-\\x{10FFFF}]+|<(?:@[UW]|#[CG])[A-Z0-9]{2,40}>")

// literal returns elements that show a text as it is. Web addresses in it are links to what they show, and Slack names
// people and channels as those who read may see them.
func literal(text string) (out []slack.RichTextSectionElement) {
	add := func(s string) {
		if s != "" { // Slack refuses an empty element
			out = append(out, slack.NewRichTextSectionTextElement(s, nil))
		}
	}
	done := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		if text[at[0]] == '<' {
			add(text[done:at[0]])
			id := text[at[0]+2 : at[1]-1]
			out = append(out, map[byte]slack.RichTextSectionElement{'@': slack.NewRichTextSectionUserElement(id, nil),
				'#': slack.NewRichTextSectionChannelElement(id, nil)}[text[at[0]+1]])
			done = at[1]
			continue
		}
		found := strings.TrimRight(text[at[0]:at[1]], ".,;:!?'")
		if !strings.Contains(found, "(") {
			found = strings.TrimRight(found, ".,;:!?')")
		}
		// a user in an address could be mistaken for the host
		if u, err := url.Parse(found); err == nil && u.Host != "" && u.User == nil {
			add(text[done:at[0]])
			out = append(out, slack.NewRichTextSectionLinkElement(found, found, nil))
			done = at[0] + len(found)
		}
	}
	add(text[done:])
	return out
}
