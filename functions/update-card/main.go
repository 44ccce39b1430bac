// Command update-card makes a task's messages in Slack equal to its rows.
//
// It goes by levels, not by edges: it loads the aggregate, draws all of its cards and updates those whose hash differs
// from what was shown. Messages may come late, twice or in another order.
//
// A post is claimed in the card's row (posting), sent with metadata that has ids only, and saved on condition of the
// claim; a loser deletes its own message if the row names another. After an unknown outcome it looks for the message
// and adopts what it finds, of our own bot only. After a 500 of Slack's nothing is in flight: it looks, then posts
// anew. After 502 to 504, or no answer, the post may still be: it comes back 31 s after it was sent.
//
// An update saves the card's hash afterwards, on condition that nothing was saved since the card was read. Of two
// drawings at the same time nobody knows which content Slack shows; the later to save forgets the hash and asks for a
// redraw. A message that is received again after an invocation died has all hashes forgotten first.
//
// What Slack refuses to one channel or message marks that card unreachable, and is tried again at the next revision
// and, while people are asked, each hour. What Slack refuses to the app as a whole is no card's refusal: the message
// goes back, and an alarm rings.
//
// The queue's groups are the aggregates, so one invocation at a time draws each; progress has a group beside. A message
// that can't be handled now is hidden: as long as Slack's 429 says, spread over some time more, or longer after each
// failure. After twenty receives the queue gives it up, and the sweeper asks for the cards again.
//
// Those who are asked by name get a direct message with the same buttons, after the cards. It is changed once, when
// they aren't asked any more: to a line.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Results
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards and Home tabs to draw"`
	Console      string `env:"CONSOLE_ADDRESS" doc:"the console's address, for links on cards"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	s := store.OpenAll(cfg, env.Table)
	bot := vault.OpenBot(cfg, keys, env.Credentials, s, slackTimeout)
	return &Handler{
		Store: s, Results: large.Open(cfg, env.Results), Said: store.ConversationsOf(s),
		Slack: bot, Console: env.Console,
		Inbox: decide.InboxReader{Rows: s, Store: store.TasksOf(s), Slack: bot, Now: time.Now},
		Queue: sqs.NewFromConfig(cfg), QueueURL: env.CardQueueURL,
		Now: time.Now, NewID: aggregate.NewID, Wait: clock.Sleep, Random: rand.Int64N,
	}, nil
}

const (
	// margin of the invocation's time is for returning the message to the queue.
	margin = 1500 * time.Millisecond
	// maxBackoff is the longest wait after a failure for which Slack gives no time.
	maxBackoff = 2 * time.Minute
	// maxSpread is the longest time over which messages that Slack's pace delayed are spread.
	maxSpread = 32 * time.Second
	// maxRetryAfter is the longest wait that Slack may ask for.
	maxRetryAfter = time.Hour
)

// Queue is the queue of the messages.
type Queue interface {
	ChangeMessageVisibility(
		ctx context.Context, in *sqs.ChangeMessageVisibilityInput, o ...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityOutput, error)
}

// drawn are the kinds that have cards.
var drawn = []string{task.Kind.Name, conversation.Kind.Name, call.Kind.Name}

type Handler struct {
	Store    Store
	Results  card.Large
	Said     *store.ConversationStore // messages and the output of actions, which are outside of the aggregate
	Slack    Slack
	Inbox    decide.InboxReader // what a Home tab shows
	Queue    Queue
	QueueURL string
	Console  string // its address; empty: no links
	Now      func() time.Time
	NewID    func() string
	who      people.Requesters
	settings clock.Answers[string, tenancy.Settings] // by tenant
	Wait     func(ctx context.Context, d time.Duration) error
	Random   func(n int64) int64 // from 0 up to n, without n
}

// later is an error that says how long a message must wait.
type later struct {
	after time.Duration
	cause string
}

func (e later) Error() string { return fmt.Sprintf("in %s: %s", e.after, e.cause) }

// Handle makes Slack show each aggregate's present rows. A message that fails is hidden for as long as Slack asks, or
// for a growing time, and with it those of its group.
func (h *Handler) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	var out events.SQSEventResponse
	for i, r := range e.Records {
		err := h.record(ctx, r)
		if err == nil {
			continue
		}
		h.giveBack(ctx, r, err)
		for _, rest := range e.Records[i:] {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: rest.MessageId})
		}
		break
	}
	return out, nil
}

// record handles one message. It logs and removes a message that can never be handled.
func (h *Handler) record(ctx context.Context, r events.SQSMessage) (err error) {
	asked, err := effect.ReadMessage(r.Body)
	ref := asked.Ref()
	if err != nil || !slices.Contains(drawn, ref.Kind) && !asked.Tab() {
		slog.ErrorContext(ctx, "dropped: the message names nothing that is drawn", "message_id", r.MessageId)
		return nil
	}
	defer boot.Recover(ctx, &err, ref.Log())
	ctx, cancel := clock.Sparing(ctx, margin)
	defer cancel()
	of := slackapi.For(ctx, ref.Tenant)
	if asked.Tab() {
		return h.tab(of, asked, receives(r))
	}
	after := time.Unix(asked.After, 0)
	nth, wait := receiptOf(r, after), after.Sub(h.Now())
	switch {
	case nth.nth == 0:
		return later{wait, "its time has not come"}
	case wait > 0:
		if err := h.Wait(ctx, min(wait, nearly)); err != nil {
			return err
		}
	}
	err = h.draw(of, ref, aggregate.Head{Rev: asked.Rev, Redraws: asked.Redraws}, nth)
	if errors.Is(err, aggregate.ErrNotFound) {
		slog.ErrorContext(ctx, "dropped: there is none", ref.Log())
		return nil
	}
	return err
}

// receipt is one receipt of a message. An update is saved after it was made. If the invocation dies between, the row
// keeps the hash of earlier content, which is wrong if the content changes back meanwhile. So a receipt trusts no hash
// unless the one before was given back with nothing unsaved, which a row then says.
type receipt struct {
	message string
	nth     int // 0: it came before the message's time
}

// nearly is how long a receipt waits for its time; sooner ones are given back.
const nearly = time.Second

// receiptOf returns the receipt of a message that is not to be handled before a time. Whether the first came too early
// is told by the queue's clock alone, so that all receipts agree.
func receiptOf(m events.SQSMessage, after time.Time) receipt {
	r := receipt{m.MessageId, receives(m)}
	first, err := strconv.ParseInt(m.Attributes["ApproximateFirstReceiveTimestamp"], 10, 64)
	if err == nil && time.UnixMilli(first).Before(after.Add(-nearly)) {
		r.nth--
	}
	return r
}

// receives returns how often a message was received.
func receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	return max(n, 1)
}

func (r receipt) named(nth int) string { return fmt.Sprintf("%s/%d", r.message, nth) }

// giveBack leaves a message in the queue until another try makes sense. If Slack refuses the app itself, an alarm is
// raised, and the message is tried again until the token is valid.
func (h *Handler) giveBack(ctx context.Context, r events.SQSMessage, err error) {
	if refused := (slackapi.Refused{}); errors.As(err, &refused) && refused.App {
		boot.Count(boot.AppRefused, 1)
	}
	wait := h.pause(err, receives(r))
	slog.WarnContext(ctx, "gave back", "message_id", r.MessageId, "seconds", int(wait.Seconds()), "err", err)
	_, err = h.Queue.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &h.QueueURL, ReceiptHandle: aws.String(r.ReceiptHandle), VisibilityTimeout: int32(wait.Seconds()),
	})
	if err != nil { // then the message waits for the queue's own visibility timeout
		slog.WarnContext(ctx, "change the visibility", "message_id", r.MessageId, "err", err)
	}
}

// pause returns how long a message waits, in whole seconds: as long as is known, as Slack asks, or longer after each
// failure. Messages that Slack delays are spread, over more time with each receive: so many that wait for one channel
// take their turns, none of them often.
func (h *Handler) pause(err error, receives int) time.Duration {
	up := func(to time.Duration) time.Duration { return time.Duration(h.Random(int64(to) + 1)) }
	grown := time.Second << min(receives-1, 10)
	var limited slackapi.RateLimited
	var known later
	var wait time.Duration
	switch {
	case errors.As(err, &limited):
		wait = min(limited.RetryAfter, maxRetryAfter) + up(min(2*grown, maxSpread))
	case errors.As(err, &known):
		wait = known.after
	default:
		wait = min(maxBackoff, grown)
		wait += up(wait / 4)
	}
	return max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
}

// homeTries is the number of receives after which a failing tab stays unchanged: its person opens it again.
const homeTries = 5

// tab publishes the Home tab that a person opened. If Slack refuses the person, that is only logged; a tab that fails
// repeatedly stays unchanged.
func (h *Handler) tab(ctx context.Context, asked effect.Message, receives int) error {
	err := h.home(ctx, asked)
	var refused slackapi.Refused
	switch {
	case err == nil, errors.As(err, &refused) && refused.App:
		return err
	case refused.Permanent, receives >= homeTries:
		slog.WarnContext(ctx, "a Home tab stays as it is", "user", asked.ID, "err", err)
		return nil
	}
	return err
}

func (h *Handler) home(ctx context.Context, asked effect.Message) error {
	tenant, user := asked.Tenant, asked.ID
	ours, err := slackapi.HomeWorkspace{Slack: h.Slack, Rows: h.Store}.Serves(ctx, tenant)
	if err != nil || !ours {
		return err
	}
	settings, err := h.Store.Settings(ctx, tenant)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	in, err := h.Inbox.Read(ctx, tenant, asked.Team, user, settings)
	if err != nil {
		return fmt.Errorf("what a Home tab shows: %w", err)
	}
	locale := h.language(ctx, asked.Team, user, settings.Locale)
	view := card.HomeView(in.Summary(ctx, h.Slack, h.Console), settings, locale)
	if err := h.Slack.PublishHome(ctx, user, view); err != nil {
		return err
	}
	slog.InfoContext(ctx, "Home tab published", "user", user, "blocks", len(view.Blocks.BlockSet))
	return nil
}

// language asks Slack which language a person has chosen by now: what they alone see is never in that of before.
func (h *Handler) language(ctx context.Context, team, user, otherwise string) string {
	return new(people.Requesters).Language(ctx, h.Slack, team, user, otherwise, h.Now())
}
