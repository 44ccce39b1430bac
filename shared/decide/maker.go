package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store/large"
)

// reserved is the time at the end of the caller's deadline for telling the person that the decision was not made.
const reserved = 500 * time.Millisecond

// Subject is an aggregate that asks people to decide. A new kind that does needs these methods; its acts other than
// approving and rejecting must be in Buttons.
type Subject interface {
	explain.Asking
	// Readable returns aggregate.ErrNotFound for a subject that is forgotten, and aggregate.ErrConflict for a torn
	// read.
	Readable(now time.Time) error
	// Asks returns the gate that waits for approval, if there is one.
	Asks() (q aggregate.Question, waits bool)
	// GateAt returns the gate of the row with this key, or nil.
	GateAt(key string) *aggregate.Gate
	Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
		on ...aggregate.Owned) (aggregate.Change, error)
	// End ends the subject, unless it is a call that is made, or is over: aggregate.ErrInFlight, aggregate.ErrDecided.
	End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
}

// Store loads and commits aggregates of all kinds.
type Store interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	DecideFrom(ctx context.Context, a aggregate.Aggregate, decide aggregate.Decision[aggregate.Aggregate]) (
		aggregate.Aggregate, error)
	// StandIns returns the delegations by which a hand stands in for others.
	StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error)
}

type Maker struct {
	Store   Store
	People  *people.People
	Results large.Copier // copies values that are too large for a row
	Now     func() time.Time
}

// Click is one act of one person on a subject.
type Click struct {
	people.Want
	Ref aggregate.Ref
	ID  string // of the gate or execution, or of the subject
	// Stage is the number of the stage that the person saw, of a gate under a rule; 0: they saw none.
	Stage int
}

// Verdict is the outcome of a click.
type Verdict struct {
	Settings tenancy.Settings
	Subject  Subject // as it was before; nil if it was not found or the person is unknown
	Empty    bool    // the same person had decided the same before
	StandIns []circulation.StandIn
	Err      error
}

// Task returns the subject if it is a task.
func (v Verdict) Task() (a *task.Aggregate, is bool) {
	a, is = v.Subject.(*task.Aggregate)
	return a, is
}

// Decide loads the subject, applies the act and commits. The store decides again after a conflict.
func (m Maker) Decide(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(ctx context.Context, a Subject, f aggregate.Decision[aggregate.Aggregate]) error {
		_, err := m.Store.DecideFrom(ctx, a, large.Copying(ctx, m.Results, f))
		return err
	})
}

// Check applies the act without committing: it tells whether the decision is allowed and still open.
func (m Maker) Check(ctx context.Context, c Click, act Act) Verdict {
	return m.judge(ctx, c, act, func(_ context.Context, a Subject, f aggregate.Decision[aggregate.Aggregate]) error {
		_, err := f(a)
		return err
	})
}

// judge applies an act with the current settings and the person's current permissions. run has the act applied to the
// subject as loaded, and may have it applied to newer rows.
func (m Maker) judge(ctx context.Context, c Click, act Act,
	run func(context.Context, Subject, aggregate.Decision[aggregate.Aggregate]) error) (v Verdict) {
	ctx, cancel := clock.Sparing(ctx, reserved)
	defer cancel()
	if v.Settings, v.Err = m.Store.Settings(ctx, c.Ref.Tenant); v.Err != nil {
		v.Err = fmt.Errorf("read the settings: %w", v.Err)
		return v
	}
	if c.ID != c.Ref.ID && !aggregate.ValidID(c.ID) {
		v.Err = aggregate.ErrNotFound
		return v
	}
	var s seat
	var refused error // by the act itself
	at, tries := 0, 0 // at the same revision what is refused stays so
	for {
		a, err := m.load(ctx, c.Ref)
		if err == nil {
			s, err = m.seat(ctx, a, c, v.Settings, s)
		}
		if err != nil {
			v.Err = err
			return v
		}
		v.Subject, v.StandIns = a, s.policy.StandIns
		again := false
		v.Err = run(ctx, a, func(x aggregate.Aggregate) (aggregate.Change, error) {
			a := x.(Subject) // as loaded, or newer
			if err := a.Readable(m.Now()); err != nil {
				return aggregate.Change{}, err
			}
			if again && !s.holds(a, c) {
				return aggregate.Change{}, errSeat
			}
			v.Subject, again = a, true
			change, err := act(a, c.ID, s.by, s.policy, m.Now())
			if err == nil && c.Retries && !change.Empty() && s.policy.Left != nil {
				err = s.policy.Left()
			}
			refused = err
			v.Empty = err == nil && change.Empty()
			return change, err
		})
		if !errors.Is(v.Err, errSeat) {
			return v
		}
		if rev := a.Root().Revision(); rev != at {
			at, tries = rev, 0
		}
		if tries++; tries == maxSeats || ctx.Err() != nil {
			v.Err = cmp.Or(refused, fmt.Errorf("look a person up again: %w", aggregate.ErrConflict))
			return v
		}
	}
}

// load loads a subject. It tries again if a torn read left out what tells where it was asked for.
func (m Maker) load(ctx context.Context, ref aggregate.Ref) (Subject, error) {
	for range 3 {
		x, err := m.Store.Load(ctx, ref)
		if err != nil {
			return nil, err
		}
		a, asks := x.(Subject)
		if !asks {
			return nil, aggregate.ErrNotFound
		}
		if err = a.Readable(m.Now()); !errors.Is(err, aggregate.ErrConflict) {
			return a, err
		}
	}
	return nil, fmt.Errorf("load %s: %w", ref.ID, aggregate.ErrConflict)
}

// errSeat: the gate asks others than those for whom the person was looked up, or what was found may have changed: they
// are looked up again.
var errSeat = errors.New("looked up for another question")

// maxSeats is how often a person is looked up at one revision of what is decided on.
const maxSeats = 3

// seat is a person as they were looked up for one question of a gate, with what holds for them there.
type seat struct {
	mode     circulation.Mode
	standIns bool // whether by standing in alone they could do something
	by       aggregate.Actor
	policy   aggregate.Policy
}

// seat looks up the person of a click. Of an earlier look-up it takes what Slack said, if the question is the same.
func (m Maker) seat(ctx context.Context, a Subject, c Click, set tenancy.Settings, was seat) (s seat, err error) {
	s = was
	if c.Want.Asked = askedMode(a, c.ID); was.by.ID == "" || was.mode != c.Want.Asked {
		s.mode = c.Want.Asked
		if s.by, s.policy, err = m.People.Who(ctx, c.Want, a.Origin(), set); err != nil {
			return s, err
		}
		s.by.Stage, s.by.Channel = c.Stage, a.Origin().Channel
		if s.by.Admin, err = m.administers(ctx, c, a); err != nil {
			return s, err
		}
		gate, of := a.Asked(c.ID).Gate != nil && !c.Withdraws, a.Askers()
		if c.Ref.Kind == task.Kind.Name {
			gate, of = gate || c.Retries, of[:1] // whoever filled in the form again may leave
		}
		of = slices.DeleteFunc(slices.Clone(of), func(id string) bool { return id == "" || id == c.User })
		if gate {
			s.policy.Left = sync.OnceValue(func() error { return m.People.Left(ctx, a.Origin().Team, of...) })
		}
	}
	s.standIns = needsStandIn(a, c)
	s.policy.StandIns, err = m.StandIns(ctx, a, c.ID, c.User)
	return s, err
}

// holds reports whether what was looked up answers what the gate asks now, and depends on no row that may have changed.
func (s seat) holds(a Subject, c Click) bool {
	return s.mode == askedMode(a, c.ID) && len(s.policy.StandIns) == 0 &&
		s.standIns == needsStandIn(a, c)
}

func needsStandIn(a Subject, c Click) bool {
	g := a.Asked(c.ID).Gate
	return g != nil && g.NeedsStandIn(c.User)
}

// administers reports whether a person who cancels what waits is one of the tenant's administrators.
func (m Maker) administers(ctx context.Context, c Click, a Subject) (bool, error) {
	if _, waits := a.Asks(); !waits || !c.Withdraws {
		return false, nil
	}
	t, err := m.Store.Tenant(ctx, c.Ref.Tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		return false, nil
	}
	return slices.Contains(t.Admins, c.User), err
}

// Log logs the outcome of a click that decided nothing.
func (v Verdict) Log(ctx context.Context, log *slog.Logger) {
	switch class := explain.ClassOf(v.Err); {
	case class == explain.Unconfirmed:
		log.ErrorContext(ctx, "not known to be saved", "err", v.Err)
	case !class.Refusal():
		log.ErrorContext(ctx, "not saved", "err", v.Err)
	default:
		log.InfoContext(ctx, "not decided", "err", v.Err)
	}
}

// Unsaved reports whether Ringi or Slack failed, as opposed to a rule that refused the click.
func (v Verdict) Unsaved() bool { return v.Err != nil && !explain.ClassOf(v.Err).Refusal() }

// Pick replaces the waiting policy by another team's submission, which the person has read. If the next card could not
// show all of its text it returns explain.ErrMalformedForm: no page offers such a submission.
func Pick(team, content string) Act {
	return Gate(task.CardPrompt, on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		if !card.Stampable(content) {
			return aggregate.Change{}, explain.ErrMalformedForm
		}
		name := team
		for _, row := range a.Prompts {
			if e := row.Contest.Entry(team); row.ID == id && e != nil {
				name = e.TeamName
			}
		}
		locale := ""
		if g := a.Asked(id).Gate; g != nil {
			locale = g.Terms.Locale
		}
		return a.PickDraft(id, team, content, card.PickReason(locale, name), by, p, now)
	}))
}

// MayPropose checks whether a person may propose an action of their own now, before they type one. Its change is never
// committed.
func MayPropose(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	of, is := a.(*conversation.Aggregate)
	if !is {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if of.Current() != nil {
		return aggregate.Change{}, conversation.ErrPending
	}
	return aggregate.Change{}, p.Request(by)
}

// Propose makes a person's own proposal of a command in a conversation. It waits for approval as an agent's does, and
// the person counts as who asked for it. The verdict's error is a Problem of what they typed, and
// aggregate.ErrNotAllowed also if nobody could approve it.
func (m Maker) Propose(ctx context.Context, c Click, command string) (v Verdict) {
	for range 2 { // the settings may change meanwhile
		s, err := m.Store.Settings(ctx, c.Ref.Tenant)
		if err != nil {
			return Verdict{Err: fmt.Errorf("read the settings: %w", err)}
		}
		if v = m.Decide(ctx, c, proposing(command, s)); !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

func proposing(command string, s tenancy.Settings) Act {
	return func(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(*conversation.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		def, _ := tenancy.AgentByID(tenancy.NamedAgents(s.Agents), of.Conversation.AgentID)
		own, err := conversation.Own(command, def, of.Conversation.On(), s.Locale)
		if err != nil {
			return aggregate.Change{}, err
		}
		if err := s.Nobody(of.Origin(), by.ID); err != nil {
			return aggregate.Change{}, err
		}
		own.Terms = s.ActionTerms(now)
		return of.Propose(own, by, p, now)
	}
}
