package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
)

const (
	// MaxInline is the largest configuration, or results of all teams, that is stored in a row, in bytes.
	MaxInline = 64 << 10
	// MaxRoundInline is MaxInline for each of a round's three texts, so that a team's ten rounds fit in one page of a
	// query.
	MaxRoundInline = 16 << 10
)

// Values stores values that are too large for a row.
type Values interface {
	KeepContest(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// ContestStore reads and writes contests and the work of their teams.
type ContestStore struct {
	KindStore[*contest.Aggregate]
	Teams  KindStore[*contest.Work]
	Values Values
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
}

// ContestsOf is the store of the contests in s, whose kinds must include contest.Kind and contest.TeamKind.
func ContestsOf(s *Store, v Values) *ContestStore {
	return &ContestStore{
		KindStore: KindStore[*contest.Aggregate]{Store: s}, Teams: KindStore[*contest.Work]{Store: s},
		Values: v, Now: time.Now, Sleep: clock.Sleep,
	}
}

// KeepConfig stores a contest's configuration (teams and evaluator) and returns its reference for an Order.
func (s *ContestStore) KeepConfig(ctx context.Context, tenant, execution string,
	config json.RawMessage) (aggregate.Blob, error) {
	return s.Values.KeepContest(ctx, contest.Ref(tenant, execution), config, MaxInline)
}

// Config returns the configuration that KeepConfig stored.
func (s *ContestStore) Config(ctx context.Context, a *contest.Aggregate) (json.RawMessage, error) {
	return s.Values.Open(ctx, a.Ref(), a.Contest.Config)
}

// Over reports whether the teams of a contest must not call models any more in this run. It makes one small read, so
// that it can be asked before each call.
func (s *ContestStore) Over(ctx context.Context, ref aggregate.Ref, run int) (bool, error) {
	h, err := ownHead[contest.Head](ctx, s.KindStore.Store, ref)
	return err == nil && (h.OverAt != nil || h.Run != run), err
}

// Spent returns what a team's calls have cost so far. It reads nothing else, so that it can be asked before each call.
func (s *ContestStore) Spent(ctx context.Context, team aggregate.Ref) (sum aggregate.MicroUSD, err error) {
	uses, err := s.KindStore.Uses(ctx, team)
	for _, u := range uses {
		sum += u.Cost
	}
	return sum, err
}

// Enter returns the work of the contest's team at a place, counted from 1. The team's time starts at the first call.
func (s *ContestStore) Enter(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
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

// End stops a team. Its result is its best scored round; without one it has failed. A stopped team is not changed.
func (s *ContestStore) End(ctx context.Context, team aggregate.Ref, exit contest.ExitReason, why aggregate.Reason) (
	*contest.Work, error) {
	return s.Teams.Decide(ctx, team, func(w *contest.Work) (aggregate.Change, error) {
		return w.End(exit, why, "", s.Now())
	})
}

// EndAt is End for a caller who has loaded the team as w. It returns aggregate.ErrMoved if the team has scored another
// round since.
func (s *ContestStore) EndAt(ctx context.Context, w *contest.Work, exit contest.ExitReason, why aggregate.Reason,
	detail string) (*contest.Work, error) {
	return s.Teams.Decide(ctx, w.Ref(), func(is *contest.Work) (aggregate.Change, error) {
		if len(is.Rounds) > len(w.Rounds) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return is.End(exit, why, detail, s.Now())
	})
}

// Settle closes a contest: it stops running teams, marks teams that never began as failed, and writes the summary. A
// closed contest is not changed. It returns aggregate.ErrSuperseded when the contest is in another run.
func (s *ContestStore) Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error) {
	a, err := s.KindStore.Load(ctx, ref)
	if err != nil || a.Contest == nil || a.Contest.SettledAt != nil {
		return a, err
	}
	if a.Head.Run != run {
		return nil, fmt.Errorf("settle %s: %w", ref, aggregate.ErrSuperseded)
	}
	var all []contest.TeamResult
	results := []json.RawMessage{}
	for i := range a.Contest.Teams {
		w, err := s.stopped(ctx, a, i+1)
		if err != nil {
			return nil, fmt.Errorf("settle team %d of %s: %w", i+1, ref, err)
		}
		standing, err := w.Result()
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
	after, err := s.KindStore.Decide(ctx, ref, func(a *contest.Aggregate) (aggregate.Change,
		error) {
		return a.Close(run, all, kept, s.Now())
	})
	if errors.Is(err, aggregate.ErrNotDue) { // another caller was faster
		return s.KindStore.Load(ctx, ref)
	}
	return after, err
}

// stopped stops a team and returns its work.
func (s *ContestStore) stopped(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return nil, err
	}
	why := contest.ReasonUnfinished
	w, err := s.Teams.Load(ctx, contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID))
	if errors.Is(err, aggregate.ErrNotFound) { // it is entered only to be ended, so that a later Enter finds it ended
		why = contest.ReasonNeverBegan
		w, err = s.Enter(ctx, a, place)
	}
	if err != nil || w.Team == nil || w.Team.Status != contest.TeamRunning {
		return w, err
	}
	at := s.Now()
	if a.Contest.Status == contest.Cancelled && a.Head.OverAt != nil { // a later deadline ended nothing
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
	return s.End(ctx, w.Ref(), exit, why)
}

// ContestQuery asks hold-contest what is wrong with the file of a contest.
type ContestQuery struct {
	Tenant string `json:"tenant"`
	File   string `json:"file"`
	// Prices are what the tenant's own prices of models become together with the setting that names the file; nil: they
	// stay as they are.
	Prices []tenancy.ModelPrice `json:"prices"`
	// MaxRounds is the most rounds that the file may be played with; 0: as many as it says.
	MaxRounds int    `json:"max_rounds,omitempty"`
	Locale    string `json:"locale,omitempty"` // of what is said of the file; "": English
}

// ContestResult says why a file can't be played.
type ContestResult struct {
	NotSet bool     `json:"not_set"` // the deployment has no files of contests
	Wrong  []string `json:"wrong"`
}
