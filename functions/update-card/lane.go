package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/slack/slackapi"
)

var errDied = errors.New("an invocation died, or had no room")

// mostTries is how often a message may fail in its lane. After that it is handled in a group of its own, and the queue
// gives it up after a hundred receives.
const mostTries = 50

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
// those behind it need the same calls.
func (h *Handler) movesAside(ctx context.Context, r events.SQSMessage, received *receipt, err error) bool {
	var known later
	var limited slackapi.RateLimited
	waits := errors.As(err, &known)
	if waits && known.cause == itsTime || received.asked.Tab() && (waits || errors.As(err, &limited)) {
		return false
	}
	how := effect.Moved{Tries: received.asked.Tries, Doubted: received.open}
	if known.cause != slacksPace { // whose turn is another's has not failed
		how.Tries++
	}
	if how.Tries <= mostTries {
		how.Wait = pause(err, strconv.Itoa(how.Tries))
	} else { // it stays there to the end, and a redrive from the dead-letter queue counts its receipts anew
		how.Doubted = true
	}
	return h.aside(ctx, r, received.asked, how, err) || h.undoubted(ctx, r, received, how, err)
}

// undoubted sends a message in a group of its own anew, if its receipts left nothing in doubt. Were it given back, each
// receipt would draw all cards from the first one on, and Slack's pace may not allow them all at once.
func (h *Handler) undoubted(
	ctx context.Context, r events.SQSMessage, received *receipt, how effect.Moved, cause error,
) bool {
	if received.open || how.Tries > mostTries {
		return false
	}
	in, ok := received.asked.Undoubted(h.QueueURL, r.Attributes["MessageGroupId"], r.MessageId, h.Now(), how)
	return ok && h.move(ctx, in, moveLog(r, how, cause))
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
	return slog.With("message_id", r.MessageId, "seconds", int(how.Wait.Seconds()), "tries", how.Tries, "err", cause)
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
