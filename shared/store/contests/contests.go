// Package contests is the store of contests: the table, what its rows leave to the bucket, and the queries that rank
// teams.
package contests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/sleep"
	"ringi/shared/store"
	"ringi/shared/store/sums"
)

const (
	// MaxInline is how much of a configuration, or of all teams' results, stays in a row, in bytes.
	MaxInline = 64 << 10
	// MaxRoundInline is MaxInline of each of a round's three texts: a team's ten rounds are one page to read.
	MaxRoundInline = 16 << 10
)

// Values keep values that are too large for a row.
type Values interface {
	KeepContest(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Store reads and writes contests and the work of their teams.
type Store struct {
	store.Of[*contest.Aggregate]
	Teams  store.Of[*contest.Work]
	Sums   *sums.Counter
	Values Values
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
}

// Of is the store of the contests among the kinds of s, which must be contest.Kind and contest.TeamKind at least.
func Of(s *store.Store, v Values) *Store {
	return &Store{
		Of: store.Of[*contest.Aggregate]{Store: s}, Teams: store.Of[*contest.Work]{Store: s}, Sums: sums.Of(s.Table(), s.Kinds()),
		Values: v, Now: time.Now, Sleep: sleep.For,
	}
}

// KeepConfig keeps what a contest's teams, evaluator and judge are, for its Order.
func (s *Store) KeepConfig(ctx context.Context, tenant, execution string, config json.RawMessage) (aggregate.Blob, error) {
	return s.Values.KeepContest(ctx, contest.Ref(tenant, execution), config, MaxInline)
}

// Config is what KeepConfig kept.
func (s *Store) Config(ctx context.Context, a *contest.Aggregate) (json.RawMessage, error) {
	return s.Values.Open(ctx, a.Ref(), a.Contest.Config)
}

// Begin opens a contest that nothing else asks for. It returns aggregate.ErrExists when it is there, aggregate.ErrFull
// when the day has no room for its budget, aggregate.ErrField for what can't be.
func (s *Store) Begin(ctx context.Context, o contest.Order) error {
	c, err := contest.Begin(o, s.Now())
	if err != nil {
		return err
	}
	return s.Of.Create(ctx, contest.Ref(o.Tenant, o.Execution), c)
}

// Over reports whether no team of a contest may call a model any more in this run of it. It is one small read, for
// before each call.
func (s *Store) Over(ctx context.Context, ref aggregate.Ref, run int) (bool, error) {
	root, err := s.Of.Head(ctx, ref)
	if err != nil {
		return false, err
	}
	h := root.(*contest.Head)
	return h.OverAt != nil || h.Run != run, nil
}

// Spent is what a team's calls have cost so far. It reads nothing else of the team: it is for before each call.
func (s *Store) Spent(ctx context.Context, team aggregate.Ref) (sum aggregate.MicroUSD, err error) {
	uses, err := s.Of.Uses(ctx, team)
	for _, u := range uses {
		sum += u.Cost
	}
	return sum, err
}

// Enter is the work of the contest's team at a place, from 1. The team's time counts from when this was first asked.
func (s *Store) Enter(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return nil, err
	}
	ref := contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID)
	w, err := s.Teams.Load(ctx, ref)
	if !errors.Is(err, aggregate.ErrNotFound) {
		return w, err
	}
	_, begin, err := a.BeginTeam(place, s.Now())
	if err != nil {
		return nil, err
	}
	if err := s.Teams.Create(ctx, ref, begin); err != nil && !errors.Is(err, aggregate.ErrExists) {
		return nil, err
	}
	return s.Teams.Load(ctx, ref)
}

// End stops a team: at its best scored round, or as failed when none was scored. One that has stopped stays as it is.
func (s *Store) End(ctx context.Context, team aggregate.Ref, exit contest.ExitReason, why aggregate.Reason, detail string) (*contest.Work, error) {
	return s.Teams.Decide(ctx, team, func(w *contest.Work) (aggregate.Change, error) { return w.End(exit, why, detail, s.Now()) })
}

// EndAt is End for a caller who knows the team as w. It returns aggregate.ErrMoved for a team that has scored another
// round since.
func (s *Store) EndAt(ctx context.Context, w *contest.Work, exit contest.ExitReason, why aggregate.Reason, detail string) (*contest.Work, error) {
	return s.Teams.Decide(ctx, w.Ref(), func(is *contest.Work) (aggregate.Change, error) {
		if len(is.Rounds) > len(w.Rounds) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return is.End(exit, why, detail, s.Now())
	})
}

// Settle closes a contest: teams that still run are stopped, those that never began have failed, and the summary says
// what all came to. Of one that is settled it is no change. It returns aggregate.ErrSuperseded when the contest's run
// is another.
func (s *Store) Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error) {
	a, err := s.Of.Load(ctx, ref)
	if err != nil || a.Contest == nil || a.Contest.SettledAt != nil {
		return a, err
	}
	if a.Head.Run != run {
		return nil, fmt.Errorf("settle %s: %w", ref, aggregate.ErrSuperseded)
	}
	var all []contest.Standing
	results := []json.RawMessage{}
	for i := range a.Contest.Teams {
		w, err := s.stopped(ctx, a, i+1)
		if err != nil {
			return nil, fmt.Errorf("settle team %d of %s: %w", i+1, ref, err)
		}
		standing, err := w.Standing()
		if err != nil {
			return nil, err
		}
		all = append(all, standing)
		if standing.Best == nil {
			continue
		}
		r, err := s.Result(ctx, w, standing.Best.RoundNumber)
		if err != nil {
			return nil, err
		}
		text, err := encode(r)
		if err != nil {
			return nil, err
		}
		results = append(results, text)
	}
	text, err := encode(results)
	if err != nil {
		return nil, err
	}
	kept, err := s.Values.KeepContest(ctx, ref, text, MaxInline)
	if err != nil {
		return nil, err
	}
	after, err := s.Of.Decide(ctx, ref, func(a *contest.Aggregate) (aggregate.Change, error) { return a.Close(run, all, kept, s.Now()) })
	if errors.Is(err, aggregate.ErrNotDue) { // another was faster
		return s.Of.Load(ctx, ref)
	}
	return after, err
}

// stopped is a team's work once the team has stopped.
func (s *Store) stopped(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return nil, err
	}
	why := contest.ReasonUnfinished
	w, err := s.Teams.Load(ctx, contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID))
	if errors.Is(err, aggregate.ErrNotFound) { // it begins only to end: whoever still wants to enter it finds that
		why = contest.ReasonNeverBegan
		w, err = s.Enter(ctx, a, place)
	}
	if err != nil || w.Team == nil || w.Team.Status != contest.TeamRunning {
		return w, err
	}
	at := s.Now()
	if a.Contest.Status == contest.Cancelled && a.Head.OverAt != nil { // what became of a team's time later ended nothing
		at = *a.Head.OverAt
	}
	exit := w.Next(at)
	switch {
	case exit != "":
		why = contest.ReasonOf(exit)
	case a.Contest.Status == contest.Cancelled:
		exit, why = contest.PartialFailure, contest.ReasonCancelled
	default:
		exit = contest.PartialFailure
	}
	return s.End(ctx, w.Ref(), exit, why, "")
}
