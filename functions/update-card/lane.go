package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/decide/effect"
)

// failedBefore reports whether an earlier invocation received a message of a lane and neither handled nor moved it: it
// died, or Lambda had no room for it. The lane stood still until the queue showed the message again, and must not stand
// still twice. Messages that may wait in their lane are received more often without a failure.
func failedBefore(r events.SQSMessage) bool {
	most := 1
	if ref, _ := effect.ReadMessage(r.Body); ref.Kind == effect.Home || !effect.ReadAfter(r.Body).IsZero() {
		most = homeTries
	}
	n, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	return n > most
}

// movesAside moves a message that can't be handled now out of its lane. Two kinds wait in the lane instead: one whose
// time has not come, because those behind it are due no earlier, and a Home tab that waits for Slack's pace, because
// those behind it need the same calls.
func (h *Handler) movesAside(ctx context.Context, r events.SQSMessage, err error) bool {
	var known later
	if errors.As(err, &known) {
		ref, _ := effect.ReadMessage(r.Body)
		if known.cause == itsTime || known.cause == slacksPace && ref.Kind == effect.Home {
			return false
		}
	}
	return h.aside(ctx, r, pause(err, r.Attributes["ApproximateReceiveCount"]), "err", err)
}

// aside moves a message out of its lane for a time. It returns false if the message is in none.
func (h *Handler) aside(ctx context.Context, r events.SQSMessage, wait time.Duration, why ...any) bool {
	in, ok := effect.Aside(h.QueueURL, r.Attributes["MessageGroupId"], r.Body, r.MessageId, h.Now().Add(wait))
	if !ok {
		return false
	}
	log := slog.With("message_id", r.MessageId, "seconds", int(wait.Seconds())).With(why...)
	if _, err := h.Queue.SendMessage(ctx, in); err != nil {
		log.WarnContext(ctx, "stays in its lane", "send", err)
		return false
	}
	log.WarnContext(ctx, "moved out of its lane")
	return true
}
