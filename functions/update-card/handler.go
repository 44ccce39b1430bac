package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

const (
	// margin of the invocation's time is for returning the message to the queue.
	margin = 1500 * time.Millisecond
	// maxBackoff is the longest wait after a failure for which Slack gives no time.
	maxBackoff = time.Minute
	// mostReceives is the number of receives after which a message for copies is replaced by a new one. The queue
	// allows 100.
	mostReceives = 50
	// mostAnew is how many invocations may have led to a message that is replaced. Lambda ends a chain of sixteen.
	mostAnew = 12
	// maxRetryAfter is the longest wait that Slack may ask for.
	maxRetryAfter = time.Hour
)

// Queue is the queue of the messages.
type Queue interface {
	SendMessageBatch(
		ctx context.Context, in *sqs.SendMessageBatchInput, o ...func(*sqs.Options),
	) (*sqs.SendMessageBatchOutput, error)
	SendMessage(ctx context.Context, in *sqs.SendMessageInput, o ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
	ChangeMessageVisibility(
		ctx context.Context, in *sqs.ChangeMessageVisibilityInput, o ...func(*sqs.Options),
	) (*sqs.ChangeMessageVisibilityOutput, error)
}

type Handler struct {
	Store Store
	Rows  Rows
	Kinds map[string]Kind // by name
	Slack Slack
	Homes *Homes // nil: Home tabs are not published
	// Pace counts calls against Slack's rate limits; nil: nobody counts. PaceScale multiplies the published limits: 1,
	// unless Slack granted the app more.
	Pace      Pace
	PaceScale float64
	Queue     Queue
	QueueURL  string
	Now       func() time.Time
	NewID     func() string
	who       people.Requesters
	settings  clock.Answers[string, tenancy.Settings] // by tenant
	away      clock.Answers[absent, []tenancy.Delegation]
	answers   clock.Answers[string, bool]   // workspaces that no row calls silent
	ahead     clock.Answers[string, *ahead] // by workspace
	Wait      func(ctx context.Context, d time.Duration) error
	Random    func(n int64) int64 // from 0 up to n, without n; nil: math/rand's
}

// Causes of waits that are no failures.
const (
	slacksPace = "Slack's pace"
	itsTime    = "its time has not come"
)

// later is an error that says how long a message must wait.
type later struct {
	after time.Duration
	cause string
}

func (e later) Error() string { return fmt.Sprintf("in %s: %s", e.after, e.cause) }

// Handle makes Slack show each task's present rows. A message that fails leaves its lane for as long as Slack asks or
// with a growing delay.
func (h *Handler) Handle(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	var out events.SQSEventResponse
	for i, r := range e.Records {
		received := newReceipt(r)
		asked := received.asked
		h.linger(ctx, received)
		if h.back(ctx, r, asked) ||
			h.failedBefore(r, received) && h.aside(ctx, r, asked, effect.Moved{Doubted: true}, errDied) {
			continue
		}
		err := h.record(ctx, r, received)
		if err == nil || h.anew(ctx, r, asked, err) || h.movesAside(ctx, r, received, err) {
			continue
		}
		h.giveBack(ctx, r, asked, err)
		for _, rest := range e.Records[i:] {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: rest.MessageId})
		}
		break
	}
	return out, nil
}

// linger waits for the time of a message that comes just before it. By the queue's clock another receipt could not tell
// this one from one that was handled and died, and would draw all cards anew.
func (h *Handler) linger(ctx context.Context, received *receipt) {
	if wait := received.asked.After.Sub(h.Now()); wait > 0 && wait <= clocks && !received.early {
		_ = h.Wait(ctx, wait) // if it ends early, the message is given back
	}
}

// record handles one message. It logs and removes a message that can never be handled.
func (h *Handler) record(ctx context.Context, r events.SQSMessage, received *receipt) (err error) {
	asked, ref := received.asked, received.asked.Ref
	tab := h.Homes != nil && asked.Tab()
	if received.err != nil || h.Kinds[ref.Kind] == nil && !tab {
		slog.ErrorContext(ctx, "dropped: the message names nothing that is drawn", "message_id", r.MessageId)
		return nil
	}
	defer boot.Recover(ctx, &err, ref.Log())
	ctx, cancel := clock.Sparing(ctx, margin)
	defer cancel()
	of := slackapi.For(ctx, ref.Tenant)
	if tab {
		return h.tab(of, ref, r)
	}
	if wait := asked.After.Sub(h.Now()); wait > 0 || received.early {
		return later{max(0, wait), itsTime}
	}
	if asked.Copies {
		err = h.copies(of, ref, asked.Head)
	} else {
		err = h.draw(of, ref, asked.Head, received)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		slog.ErrorContext(ctx, "dropped: there is none", ref.Log())
		return nil
	}
	return err
}

// anew replaces a message for copies that has often waited for Slack's rate limits by a new one. Otherwise the queue
// would move it to the dead-letter queue after a hundred receives, although nothing failed. Only a message in a group
// of its own is received so often: others are moved. Cards that wait so long are left to the sweeper instead, which
// doesn't know about copies.
func (h *Handler) anew(ctx context.Context, r events.SQSMessage, asked effect.Message, err error) bool {
	var known later
	n, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	group := r.Attributes["MessageGroupId"]
	if !errors.As(err, &known) || known.cause != slacksPace || n < mostReceives || asked.Hops > mostAnew || group == "" ||
		!asked.Copies {
		return false
	}
	_, err = h.Queue.SendMessage(ctx, asked.Anew(h.QueueURL, group, h.NewID()))
	if err != nil {
		slog.WarnContext(ctx, "copies are not asked for again", "message_id", r.MessageId, "err", err)
	}
	return err == nil
}

// giveBack leaves a message in the queue until another try makes sense.
func (h *Handler) giveBack(ctx context.Context, r events.SQSMessage, asked effect.Message, err error) {
	wait := h.pause(err, r.Attributes["ApproximateReceiveCount"])
	if asked.Copies { // else the queue would soon give up what only waits for Slack's pace
		wait = max(wait, h.pause(nil, r.Attributes["ApproximateReceiveCount"]))
	}
	slog.WarnContext(ctx, "gave back", "message_id", r.MessageId, "seconds", int(wait.Seconds()), "err", err)
	_, err = h.Queue.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &h.QueueURL, ReceiptHandle: aws.String(r.ReceiptHandle), VisibilityTimeout: int32(wait.Seconds()),
	})
	if err != nil { // then the message waits for the queue's own visibility timeout
		slog.WarnContext(ctx, "change the visibility", "message_id", r.MessageId, "err", err)
	}
}

// pause returns how long a message waits, in whole seconds: as long as Slack asks, or longer after each failure. It
// adds up to a quarter, so that tasks that failed together don't return together, unless each has its own time.
func (h *Handler) pause(err error, receives string) time.Duration {
	var limited slackapi.RateLimited
	var known later
	var wait time.Duration
	switch {
	case errors.As(err, &limited):
		wait = min(limited.RetryAfter, maxRetryAfter)
	case errors.As(err, &known):
		wait = known.after
	default:
		n, _ := strconv.Atoi(receives)
		wait = min(maxBackoff, time.Second<<min(max(n, 1)-1, 6))
	}
	wait = max(0, wait) // the time to wait for may already be over
	if known.cause != itsTime {
		random := h.Random
		if random == nil {
			random = rand.Int64N
		}
		wait += time.Duration(random(int64(wait/4) + 1))
	}
	return max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
}

var errDied = errors.New("an invocation died, or had no room")

// failedBefore reports whether an earlier invocation received a message of a lane and neither handled nor moved it: it
// died, or Lambda had no room for it. The lane stood still until the queue showed the message again, and must not stand
// still twice. Messages that may wait in their lane are received more often without a failure.
func (h *Handler) failedBefore(r events.SQSMessage, received *receipt) bool {
	most := 1
	switch {
	case received.asked.Tab():
		most = homeTries
	case h.Now().Before(received.asked.After):
		return false
	case received.waited:
		most++
	}
	n, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	return n > most
}

// movesAside moves a message that can't be handled now out of its lane. Two kinds wait in the lane instead: one whose
// time has not come, because those behind it are due no earlier, and a Home tab that lacks a call of Slack's, because
// those behind it need the same calls. What has been moved often enough is left to the sweeper, if it only lacks calls,
// and else waits in a group of its own, from where the queue gives it up after a hundred receives.
func (h *Handler) movesAside(ctx context.Context, r events.SQSMessage, received *receipt, err error) bool {
	var known later
	var limited slackapi.RateLimited
	asked, waits := received.asked, errors.As(err, &known)
	if waits && known.cause == itsTime || asked.Tab() && (waits || errors.As(err, &limited)) {
		return false
	}
	how := effect.Moved{Wait: h.pause(err, strconv.Itoa(asked.Hops/2+1)), Doubted: received.open}
	last := asked.Hops > effect.MostHops
	if last || asked.Alone(r.Attributes["MessageGroupId"]) {
		if known.cause == slacksPace && h.toSweeper(ctx, received, how.Wait) {
			return true
		}
	}
	if last { // there a redrive from the dead-letter queue counts its receipts anew
		how = effect.Moved{Doubted: true}
	}
	return h.aside(ctx, r, asked, how, err)
}

// toSweeper leaves cards that lack calls of Slack's to the sweeper, unless their message must say what is in doubt. The
// sweeper doesn't know about copies.
func (h *Handler) toSweeper(ctx context.Context, received *receipt, wait time.Duration) bool {
	asked := received.asked
	if asked.Copies || asked.Tab() || received.open {
		return false
	}
	if err := h.Store.DrawAt(ctx, asked.Ref, h.Now().Add(wait), true); err != nil {
		slog.WarnContext(ctx, "not left to the sweeper", asked.Ref.Log(), "err", err)
		return false
	}
	slog.InfoContext(ctx, "left to the sweeper", asked.Ref.Log(), "seconds", int(wait.Seconds()))
	return true
}

// aside moves a message out of its lane. It returns false if the message is in no lane.
func (h *Handler) aside(
	ctx context.Context, r events.SQSMessage, asked effect.Message, how effect.Moved, cause error,
) bool {
	in, ok := asked.Aside(h.QueueURL, r.Attributes["MessageGroupId"], r.MessageId, h.Now(), how)
	return ok && h.move(ctx, in, moveLog(r, how, cause))
}

// moveLog says which message is moved, and why.
func moveLog(r events.SQSMessage, how effect.Moved, cause error) *slog.Logger {
	return slog.With("message_id", r.MessageId, "seconds", int(how.Wait.Seconds()), "err", cause)
}

// back returns a message whose time has come to its lane. Were it drawn where it waited, others would wait behind it.
func (h *Handler) back(ctx context.Context, r events.SQSMessage, asked effect.Message) bool {
	in, ok := asked.Back(h.QueueURL, r.Attributes["MessageGroupId"], r.MessageId)
	return ok && !h.Now().Before(asked.After) && h.move(ctx, in, slog.With("message_id", r.MessageId))
}

// move sends a message to another group. It returns false if the queue doesn't take it.
func (h *Handler) move(ctx context.Context, in *sqs.SendMessageInput, log *slog.Logger) bool {
	_, err := h.Queue.SendMessage(ctx, in)
	if err != nil {
		log.WarnContext(ctx, "not moved", "to", *in.MessageGroupId, "send", err)
		return false
	}
	log.InfoContext(ctx, "moved", "to", *in.MessageGroupId)
	return true
}
