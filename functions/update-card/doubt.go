package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
)

const (
	// probeEvery is how often one drawing tries whether a workspace's Slack answers again. It equals the timeout of a
	// call, so that such calls occupy at most one lane.
	probeEvery = slackTimeout
	// silenceLasts is how long a workspace counts as silent if nobody tries.
	silenceLasts = 10 * time.Minute
	// answersLast is how long a workspace that no row called silent counts as one that answers. It is shorter than a
	// call: before the first of those that hang is noted, others would have begun as well.
	answersLast = 5 * time.Second
)

// silence is the error that a workspace's Slack does not answer, and that another drawing is trying it.
type silence struct{ since, until time.Time }

func (e silence) Error() string {
	return fmt.Sprintf("Slack does not answer since %s", e.since.UTC().Format(time.TimeOnly))
}

// again returns when to try again: soon at first, and after a minute once the silence is older than that, so that the
// message is not received too often.
func (e silence) again(now time.Time) time.Time {
	if next := now.Add(longLine); now.Sub(e.since) >= longLine && e.until.Before(next) {
		return next
	}
	return e.until
}

// reach is called before Slack. While the workspace's Slack does not answer, it lets one drawing in probeEvery try and
// returns silence to all others: a slow call occupies one of the workspace's lanes.
func (h *Handler) reach(ctx context.Context, team string) (probes bool, err error) {
	if h.Pace == nil {
		return false, nil
	}
	now := h.Now()
	if _, ok := h.answers.Known(team, now); ok {
		return false, nil
	}
	since, err := h.Pace.SilentSince(ctx, team, now)
	if unpaced(ctx, err); err != nil || since.IsZero() {
		if err == nil {
			h.answers.Keep(team, true, now, answersLast)
		}
		return false, nil
	}
	until, err := h.Pace.TakePace(ctx, records.Probes(team, probeEvery), 0, now)
	if unpaced(ctx, err); err != nil || until.IsZero() {
		return true, nil
	}
	return false, silence{since, until}
}

// unpaced logs that the rows of the rate limits can't be read or written. Cards are then drawn without them.
func unpaced(ctx context.Context, err error) {
	if err != nil {
		slog.WarnContext(ctx, "pace", "err", err)
	}
}

// heard records whether a workspace's Slack answered a call.
func (h *Handler) heard(ctx context.Context, team string, probes bool, err error) {
	if h.Pace == nil {
		return
	}
	now := h.Now()
	switch {
	case slackapi.Silent(err):
		h.answers.Keep(team, false, now, 0) // forgets that it answers
		unpaced(ctx, h.Pace.NoteSilence(ctx, team, now, now.Add(silenceLasts)))
	case probes:
		unpaced(ctx, h.Pace.NoteAnswer(ctx, team))
	}
}

// reach calls Handler.reach once for each drawing.
func (d *drawing) reach(ctx context.Context) (err error) {
	if !d.reached {
		d.probes, err = d.Handler.reach(ctx, d.place.Team)
		d.reached = err == nil
	}
	return err
}

// heard calls Handler.heard. The first call without an answer is this drawing's last.
func (d *drawing) heard(ctx context.Context, err error) {
	if d.silent {
		return
	}
	d.Handler.heard(ctx, d.place.Team, d.probes, err)
	d.silent, d.probes = slackapi.Silent(err), false
}

// leave decides what happens to a message while Slack does not answer. The task reserves a turn. If the turn is more
// than a minute away, or Slack has been silent for a minute, the message leaves the queue and the sweeper requests the
// cards at their turn. During the first minute messages stay, since usually just one answer was lost.
func (d *drawing) leave(ctx context.Context, s silence) error {
	now := d.Now()
	at, err := d.Pace.JoinLine(ctx, d.updates(), 0, now)
	if again := s.again(now); at.Before(again) {
		at = again
	}
	soon := later{at.Sub(now), slacksPace}
	if err == nil && at.Sub(now) < longLine {
		return soon
	}
	if err == nil {
		err = d.Store.DrawAt(ctx, d.ref, at, true)
	}
	if err != nil {
		slog.WarnContext(ctx, "no place in line", d.ref.Log(), "err", err)
		return soon
	}
	slog.InfoContext(ctx, "left to the sweeper", d.ref.Log(), "rev", d.head.Rev, "err", s,
		"seconds", int(at.Sub(now).Seconds()))
	return nil
}

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

// forget removes a card's hash and names this drawing, unless it did so before. If another drawing has shown the card
// since it was read, this one begins again: what it has read may be older.
func (d *drawing) forget(ctx context.Context, c *aggregate.Card) error {
	if c.ClaimedBy == d.by && c.Hash == "" {
		return nil
	}
	err := d.Rows.ForgetCard(ctx, d.ref, c, d.by)
	if isOther(err) {
		return later{0, "another invocation was faster"}
	}
	if err != nil {
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
