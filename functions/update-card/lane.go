package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/slackapi"
)

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
	boot.Count(boot.CardLate, 1)
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
