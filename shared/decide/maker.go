package decide

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

// Subject is an aggregate that asks people. What a new kind that asks them needs for being decided on is these methods;
// its acts beside approving and rejecting stand in Buttons.
type Subject interface {
	aggregate.Aggregate
	// Readable returns aggregate.ErrNotFound for what is forgotten, and aggregate.ErrConflict for a torn read.
	Readable(now time.Time) error
	Origin() aggregate.Origin
	Beginning() (message, thread string)
	// Askers are the people whose own request it is what waits.
	Askers() []string
	// Asks is the gate that waits for people's approval, if one does.
	Asks() (q aggregate.Question, waits bool)
	AskedBy(id string) aggregate.CardType
	AskedHash(id string) string
	AskedAt(id string) time.Time
	IsOpen(id string) bool
	VerdictOn(id string) aggregate.Verdict
	ApproveRead(id, hash string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
	Reject(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
	// End ends it wherever it stands.
	End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
}

// Store is where decisions are made: the rows of all kinds.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error)
	DecideBoth(ctx context.Context, first, second aggregate.Ref, decide Both) error
}

// Both decides on two aggregates at once.
type Both = func(a, b aggregate.Aggregate) (ofA, ofB aggregate.Change, err error)

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

// Click is one act of one person: on which subject, and on what in it.
type Click struct {
	people.Want
	Ref  aggregate.Ref
	ID   string             // of what is decided
	Card aggregate.CardType // of the card whose button approves; empty for anything else
}

// Verdict is what became of a click.
type Verdict struct {
	Settings tenancy.Settings
	Of       Subject   // as it was before; nil when no such subject was found, or it is not known who clicked
	Empty    bool      // it was decided so already, by the same person
	Asked    time.Time // when the gate that is decided began to wait; zero for anything else
	Err      error
}

// Task is the subject where that is a task.
func (v Verdict) Task() (a *task.Aggregate, is bool) {
	a, is = v.Of.(*task.Aggregate)
	return a, is
}

// Origin is where the subject was asked for, zero without one.
func (v Verdict) Origin() aggregate.Origin {
	if v.Of == nil {
		return aggregate.Origin{}
	}
	return v.Of.Origin()
}

// Decide is the whole of a click: load, decide, commit; the store decides again when somebody was faster.
func (m Maker) Decide(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(ctx context.Context, f aggregate.Decision[aggregate.Aggregate]) error {
		_, err := m.Store.Decide(ctx, c.Ref, f)
		return err
	})
}

// Check decides without committing: would it be allowed, and is it still open?
func (m Maker) Check(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(ctx context.Context, f aggregate.Decision[aggregate.Aggregate]) error {
		a, err := m.Store.Load(ctx, c.Ref)
		if err == nil {
			_, err = f(a)
		}
		return err
	})
}

// judge applies an act under the settings and to the person as they are now.
func (m Maker) judge(ctx context.Context, c Click, act Act, run func(context.Context, aggregate.Decision[aggregate.Aggregate]) error) (v Verdict) {
	ctx, cancel := sleep.Sparing(ctx, reserved)
	defer cancel()
	if v.Settings, v.Err = m.Store.Settings(ctx, c.Ref.Tenant); v.Err != nil {
		v.Err = fmt.Errorf("read the settings: %w", v.Err)
		return v
	}
	if c.ID != c.Ref.ID && !aggregate.ValidID(c.ID) {
		v.Err = aggregate.ErrNotFound
		return v
	}
	var by aggregate.Actor
	var policy aggregate.Policy
	v.Err = run(ctx, func(x aggregate.Aggregate) (aggregate.Change, error) {
		a, asks := x.(Subject)
		if !asks {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		if err := a.Readable(m.Now()); err != nil {
			return aggregate.Change{}, err
		}
		if v.Of == nil { // asked once, however often the decision is made again
			var err error
			if by, policy, err = m.People.Who(ctx, c.Want, a.Origin(), v.Settings); err != nil {
				return aggregate.Change{}, err
			}
		}
		v.Of = a
		if err := m.unread(ctx, c, a, v.Settings.Locale); err != nil {
			return aggregate.Change{}, err
		}
		change, err := act(a, c.ID, by, policy, m.Now())
		v.Empty = err == nil && change.Empty()
		if !c.Withdraws {
			v.Asked = a.AskedAt(c.ID)
		}
		return change, err
	})
	return v
}

// unread returns ErrUnread when a click on a task's card approves content that the card does not show whole. Buttons
// that carry the hash of the content need no such check: only a card that shows all of it has them.
func (m Maker) unread(ctx context.Context, c Click, a Subject, locale string) error {
	t, is := a.(*task.Aggregate)
	if c.Card == "" || !is || !a.IsOpen(c.ID) {
		return nil
	}
	drawn, err := m.Results.Opened(ctx, t, c.ID)
	if err != nil {
		return err
	}
	if !card.Whole(drawn, c.Card, c.ID, locale) {
		return ErrUnread
	}
	return nil
}

// Log writes what became of a click that decided nothing.
func (v Verdict) Log(ctx context.Context, log *slog.Logger) {
	switch class := errorclass.Of(v.Err); {
	case class == errorclass.Unconfirmed:
		log.ErrorContext(ctx, "not known to be saved", "err", v.Err)
	case !class.Refusal():
		log.ErrorContext(ctx, "not saved", "err", v.Err)
	default:
		log.InfoContext(ctx, "not decided", "err", v.Err)
	}
}

// Unsaved reports whether something failed in Ringi or Slack, rather than a rule refusing the click.
func (v Verdict) Unsaved() bool { return v.Err != nil && !errorclass.Of(v.Err).Refusal() }

// Measure counts how long what was decided had waited.
func (v Verdict) Measure(now time.Time) {
	if !v.Asked.IsZero() {
		metric.Put(metric.Value{Name: metric.DecisionSeconds, N: v.waited(now).Seconds()})
	}
}

// waited is never negative, although the clock of the machine that opened the gate may be ahead of this one's.
func (v Verdict) waited(now time.Time) time.Duration { return max(0, now.Sub(v.Asked)) }
