package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/runtime/metric"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/slackstate"
)

const (
	// probeEvery is how often one drawing tries whether a workspace's Slack answers again. It is the time after which a
	// call is given up, so that such calls take one lane at most.
	probeEvery = slackTimeout
	// silenceLasts is how long a workspace is taken to be silent when nobody finds out.
	silenceLasts = 10 * time.Minute
)

// silence is the error that a workspace's Slack does not answer, and that another drawing is trying it.
type silence struct{ since, until time.Time }

func (e silence) Error() string {
	return fmt.Sprintf("Slack does not answer since %s", e.since.UTC().Format(time.TimeOnly))
}

// again is when it is worth looking again: soon at first, and a minute later where the silence is older than that, so
// that no message is received too often.
func (e silence) again(now time.Time) time.Time {
	if next := now.Add(longLine); now.Sub(e.since) >= longLine && e.until.Before(next) {
		return next
	}
	return e.until
}

// reach is called before Slack is. While the workspace's Slack does not answer, it returns silence to all but one
// drawing in probeEvery: a call that hangs takes a lane, and all workspaces share the lanes.
func (h *Handler) reach(ctx context.Context, team string) (probes bool, err error) {
	if h.Pace == nil {
		return false, nil
	}
	now := h.Now()
	since, err := h.Pace.SilentSince(ctx, team, now)
	if unpaced(ctx, err); err != nil || since.IsZero() {
		return false, nil
	}
	until, err := h.Pace.TakePace(ctx, slackstate.Probes(team, probeEvery), 0, now)
	if unpaced(ctx, err); err != nil || until.IsZero() {
		return true, nil
	}
	return false, silence{since, until}
}

// unpaced says that the pace's rows can't be read or written: cards are drawn without them.
func unpaced(ctx context.Context, err error) {
	if err != nil {
		slog.WarnContext(ctx, "pace", "err", err)
	}
}

// heard takes note of what became of a call to a workspace's Slack: it did not answer, or it does so again.
func (h *Handler) heard(ctx context.Context, team string, probes bool, err error) {
	if h.Pace == nil {
		return
	}
	now := h.Now()
	switch {
	case slackapi.Silent(err):
		unpaced(ctx, h.Pace.NoteSilence(ctx, team, now, now.Add(silenceLasts)))
	case probes:
		unpaced(ctx, h.Pace.NoteAnswer(ctx, team))
	}
}

// reach asks Handler.reach once for each drawing.
func (d *drawing) reach(ctx context.Context) (err error) {
	if !d.reached {
		d.probes, err = d.Handler.reach(ctx, d.place.Team)
		d.reached = err == nil
	}
	return err
}

// heard tells Handler.heard how a call ended. The first call without an answer is the last of this drawing.
func (d *drawing) heard(ctx context.Context, err error) {
	if d.silent {
		return
	}
	d.Handler.heard(ctx, d.place.Team, d.probes, err)
	d.silent, d.probes = slackapi.Silent(err), false
}

// leave returns what Handle does with a message while Slack does not answer: it joins the workspace's line. A message
// whose turn is more than a minute off leaves the queue, and so does every message after a minute of silence; the
// sweeper asks for the cards at their turn. During the first minute messages stay, since most often one answer was
// merely lost.
func (d *drawing) leave(ctx context.Context, s silence) error {
	now := d.Now()
	at, err := d.Pace.JoinLine(ctx, d.budget(methodUpdate, updates, updateWindow), 0, now)
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
	metric.Count(metric.CardLate, 1)
	slog.InfoContext(ctx, "left to the sweeper", d.ref.Log(), "rev", d.head.Rev, "err", s,
		"seconds", int(at.Sub(now).Seconds()))
	return nil
}
