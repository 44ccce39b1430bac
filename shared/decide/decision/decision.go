// Package decision makes what a person wants of a task a commit, wherever they say so: it asks who they are and whether
// they may, decides on the rows as they are now, and says what became of it. A card's buttons, Slack's dialogs and the
// console's forms all decide here, so that one rule holds for all of them.
package decision

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/metric"
	"ringi/shared/runtime/sleep"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
)

// reserved is the last part of the caller's time, for telling the person that the decision could not be made in it.
const reserved = 500 * time.Millisecond

// ErrUnread refuses a click that would approve content of which its card shows only a part.
var ErrUnread = errors.New("not all of it was shown")

// Store is where decisions are made.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideBoth(ctx context.Context, first, second aggregate.Ref, decide func(a, b *task.Aggregate) (ofA, ofB aggregate.Change, err error)) error
}

// Results opens arguments that are too large for a row.
type Results interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
}

// Maker makes decisions.
type Maker struct {
	Store   Store
	People  *people.People
	Results Results
	Now     func() time.Time
}

// Click is one act of one person: of which task, and of what in it.
type Click struct {
	people.Want
	Ref  aggregate.Ref
	ID   string             // of what is decided
	Card aggregate.CardType // of the card whose button approves; empty for anything else
}

// Outcome is what became of what a person wanted, whatever it was about.
type Outcome struct {
	Settings tenancy.Settings
	Empty    bool      // it was decided so already, by the same person
	Asked    time.Time // when the gate that is decided began to wait; zero for anything else
	Err      error
}

// Verdict is what became of a click.
type Verdict struct {
	Outcome
	Request *task.Request // nil when no such task was found
	Title   string        // of the task, empty before there is one
	Ended   *task.Ended   // how the task had ended before
	// Undecidable: it was parked before because nobody may approve what comes next.
	Undecidable bool
}

// Decide is the whole of a click: load, decide, commit; the store decides again when somebody was faster.
func (m Maker) Decide(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(ctx context.Context, f task.Decision) error {
		_, err := m.Store.Decide(ctx, c.Ref, f)
		return err
	})
}

// Check decides without committing: would it be allowed, and is it still open?
func (m Maker) Check(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(ctx context.Context, f task.Decision) error {
		a, err := m.Store.Load(ctx, c.Ref)
		if err == nil {
			_, err = f(a)
		}
		return err
	})
}

// judge applies an act under the settings and to the person as they are now.
func (m Maker) judge(ctx context.Context, c Click, act Act, run func(context.Context, task.Decision) error) (v Verdict) {
	ctx, cancel := sleep.Sparing(ctx, reserved)
	defer cancel()
	settings, err := m.Store.Settings(ctx, c.Ref.Tenant)
	if err != nil {
		v.Err = fmt.Errorf("read the settings: %w", err)
		return v
	}
	v.Settings = settings
	if !aggregate.ValidID(c.Ref.ID) || !aggregate.ValidID(c.ID) {
		v.Err = aggregate.ErrNotFound
		return v
	}
	var by aggregate.Actor
	var policy aggregate.Policy
	v.Err = run(ctx, func(a *task.Aggregate) (aggregate.Change, error) {
		if a.Request == nil {
			return aggregate.Change{}, aggregate.ErrConflict // a torn read
		}
		if v.Request == nil { // asked once, however often the decision is made again
			if by, policy, err = m.People.Who(ctx, c.Want, a.Request.Origin(), settings); err != nil {
				return aggregate.Change{}, err
			}
			v.Request = a.Request
		}
		if err := m.unread(ctx, c, a, settings.Locale); err != nil {
			return aggregate.Change{}, err
		}
		change, err := act(a, c.ID, by, policy, m.Now())
		v.Empty = err == nil && change.Empty()
		v.Asked, v.Ended, v.Undecidable = asked(a, c.ID), a.Head.Ended, a.Head.Undecidable()
		if a.Task != nil {
			v.Title = a.Task.Title
		}
		return change, err
	})
	return v
}

// unread returns ErrUnread when a click on a card's button approves content that the card does not show whole.
func (m Maker) unread(ctx context.Context, c Click, a *task.Aggregate, locale string) error {
	if c.Card == "" || !a.IsOpen(c.ID) {
		return nil
	}
	drawn, err := m.Results.Opened(ctx, a, c.ID)
	if err != nil {
		return err
	}
	if !card.Whole(drawn, c.Card, c.ID, locale) {
		return ErrUnread
	}
	return nil
}

// asked is when the gate with this id began to wait, zero if there is no such gate.
func asked(a *task.Aggregate, id string) time.Time {
	terms, ok := a.TermsOf(id)
	if !ok || terms.DecideBy == nil {
		return time.Time{}
	}
	return terms.DecideBy.Add(-time.Duration(terms.ApprovalHours) * time.Hour) // a row is older: its generation came first
}

// Log writes what became of a click that decided nothing.
func (v Outcome) Log(ctx context.Context, log *slog.Logger) {
	switch class := errorclass.Of(v.Err); {
	case class == errorclass.Unconfirmed:
		log.ErrorContext(ctx, "not known to be saved", "err", v.Err)
	case !class.Refusal():
		log.ErrorContext(ctx, "not saved", "err", v.Err)
	default:
		log.InfoContext(ctx, "not decided", "err", v.Err)
	}
}

// Unsaved reports whether it was no rule that refused, but something of ours or Slack's that failed.
func (v Outcome) Unsaved() bool { return v.Err != nil && !errorclass.Of(v.Err).Refusal() }

// Measure counts how long what was decided had waited.
func (v Outcome) Measure(now time.Time) {
	if !v.Asked.IsZero() {
		metric.Put(metric.Value{Name: metric.DecisionSeconds, N: v.waited(now).Seconds()})
	}
}

// waited is never below 0: the clock of whoever asked may be ahead of ours.
func (v Outcome) waited(now time.Time) time.Duration { return max(0, now.Sub(v.Asked)) }
