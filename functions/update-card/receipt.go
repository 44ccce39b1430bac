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

// receipt is one receipt of a message. Usually a message is received once, and one write after an update saves what
// Slack shows. If the invocation dies before that write, the row keeps the hash of earlier content, which is wrong if
// the card's content changes back meanwhile. So a later receipt first forgets all hashes that an earlier one may have
// left, and then forgets each hash before its update.
type receipt struct {
	asked  effect.Message
	err    error // asked names nothing
	doubts bool  // an earlier receipt may have left an update unsaved
	open   bool  // this receipt leaves such a doubt to the next one
	early  bool  // this is the first receipt, before the message's time by the queue's clock
	waited bool  // the first receipt may have come before the message's time
}

// mostDoubted is the largest number of cards for which updates are saved with one write: so many may have to be drawn
// anew after a crash.
const mostDoubted = 10

// newReceipt returns the receipt of a message. A message that waits is moved, and says whether its receipts are in
// doubt, so one that was received before was not handled to the end; only progress waits in its lane for its time.
func newReceipt(m events.SQSMessage) *receipt {
	nth, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	first, err := strconv.ParseInt(m.Attributes["ApproximateFirstReceiveTimestamp"], 10, 64)
	asked, bad := effect.ReadMessage(m.Body)
	early := err == nil && time.UnixMilli(first).Before(asked.After.Add(-clocks))
	doubts := asked.Doubted || nth != 1 && !(early && nth == 2) // the first of two came before its time
	return &receipt{asked: asked, err: bad, doubts: doubts, open: doubts, early: early && nth == 1,
		waited: err == nil && time.UnixMilli(first).Before(asked.After.Add(clocks))}
}

// once reports whether updates are saved with one write.
func (d *drawing) once() bool { return !d.receipt.doubts && len(d.a.Common().Cards) <= mostDoubted }

// doubt forgets the hashes of all cards if an earlier receipt may have left an update unsaved.
func (d *drawing) doubt(ctx context.Context, cards []*aggregate.Card) error {
	for _, c := range cards {
		if !d.receipt.doubts || c.State != aggregate.CardPosted || c.Hash == "" {
			continue
		}
		if err := d.forget(ctx, c); err != nil {
			return err
		}
	}
	d.receipt.open = false
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
