package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi"
)

// receipt is one receipt of a message. Usually a message is received once, and then one write after an update saves
// what Slack shows. If the invocation dies before that write, the row has the hash of earlier content, which is wrong if
// the card's content changes back meanwhile. So later receipts forget the hashes that an earlier one may have left, and
// forget each before its update, unless one of these shows that the earlier ones left none: this instance remembers
// their end, or the head has a draw_at. Only a receipt of the task's own group sets that, at its end, and while it is
// set nobody saves with one write.
type receipt struct {
	message  string
	nth      int  // 0: unknown
	sure     bool // earlier receipts left no update unsaved
	progress bool // of the group for progress, beside the task's own
	open     bool // a message was updated, and that is not saved
}

// mostDoubted is the largest number of cards for which updates are saved with one write: so many may have to be drawn
// anew after a crash.
const mostDoubted = 10

// endedLast is how long the end of a receipt is remembered. It covers the longest wait before the next one.
const endedLast = 2 * maxRetryAfter

func (h *Handler) receipt(m events.SQSMessage) *receipt {
	nth, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	_, sure := h.ended.Known(m.MessageId, h.Now())
	after := effect.ReadAfter(m.Body)
	first, err := strconv.ParseInt(m.Attributes["ApproximateFirstReceiveTimestamp"], 10, 64)
	if err == nil && time.UnixMilli(first).Before(after.Add(-clocks)) {
		nth-- // the first receipt came before the message's time
	}
	return &receipt{message: m.MessageId, nth: nth, sure: sure, progress: !after.IsZero()}
}

// ends remembers that the message may be received again, and that this receipt leaves no update unsaved.
func (h *Handler) ends(r *receipt) {
	if !r.open {
		h.ended.Keep(r.message, true, h.Now(), endedLast)
	}
}

// once reports whether updates are saved with one write.
func (d *drawing) once() bool {
	return d.receipt.nth == 1 && d.head.DrawAt == nil && len(d.a.Common().Cards) <= mostDoubted
}

// doubt forgets the hashes of all cards if an earlier receipt may have left an update unsaved.
func (d *drawing) doubt(ctx context.Context, cards []*aggregate.Card) error {
	r := d.receipt
	if r.nth == 1 || r.sure || d.head.DrawAt != nil {
		return nil
	}
	r.open = true
	for _, c := range cards {
		if c.State != aggregate.CardPosted || c.Hash == "" {
			continue
		}
		if err := d.forget(ctx, c); err != nil {
			return err
		}
	}
	r.open = false
	return nil
}

// forget removes a card's hash and names this drawing, unless it did so before.
func (d *drawing) forget(ctx context.Context, c *aggregate.Card) error {
	if c.ClaimedBy == d.by && c.Hash == "" {
		return nil
	}
	if err := d.Rows.ForgetCard(ctx, d.ref, c.Key(), c.MessageTS, d.by); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	c.Hash, c.ClaimedBy = "", d.by
	return nil
}

// answered records what became of an update that wasn't saved before its call. Slack's refusals change nothing.
func (r *receipt) answered(err error) {
	var limit short
	if errors.As(err, new(slackapi.Refused)) || errors.As(err, new(slackapi.RateLimited)) || errors.As(err, &limit) {
		r.open = false
	}
}
