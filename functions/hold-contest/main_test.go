package main

import (
	"errors"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// world is one contest of the teams a, b and c, in a table.
type world struct {
	*testing.T
	store *store.ContestStore
	ref   aggregate.Ref
}

func begin(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	o := storetest.Order("a", "b", "c")
	w := &world{t, storetest.Store(t, db), contest.Ref(o.Tenant, o.Execution)}
	expect.NoError(t, storetest.Begin(t, w.store, o))
	return w
}

func (w *world) load() *contest.Aggregate {
	w.Helper()
	return expect.Value(w.store.Load(w.Context(), w.ref))(w)
}

// scored adds the team with this index, and scores one of its rounds with a cost.
func (w *world) scored(place int) {
	w.Helper()
	team := expect.Value(w.store.Enter(w.Context(), w.load(), place))(w)
	expect.NoError(w, store.Kept{Store: w.store, Team: team.Ref(), Execution: w.ref.ID}.Keep(w.Context(), "01/leader/1",
		nil, aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: aggregate.USD(0.25)}))
	expect.Value(w.round(place, 1))(w)
}

func (w *world) round(place, number int) (*contest.Work, error) {
	e := expect.Value(w.load().Entrant(place))(w)
	return w.store.SaveRound(w.Context(), contest.TeamRef(w.ref.Tenant, w.ref.ID, e.TeamID),
		storetest.Round(w.ref.ID, e, number, "案 "+e.TeamID, 0.5, time.Now()))
}

func (w *world) closes(run int) (aggregate.Next, error) {
	return (&Handler{Contests: w.store}).Close(w.Context(),
		pipeline.Input{Tenant: w.ref.Tenant, Kind: w.ref.Kind, ID: w.ref.ID, Run: run})
}

func TestAContestIsClosedFromItsRows(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*world){
		"whatever became of its teams": testCutOff,
		"by the run that is its own":   testAnotherRun,
		"after it was cancelled":       testCancelled,
		"by two invocations at once":   testAtOnce,
	} {
		t.Run(name, func(t *testing.T) { run(begin(t, db)) })
	}
}

func testCutOff(w *world) {
	w.scored(1)
	expect.Value(w.store.Enter(w.Context(), w.load(), 2))(w)
	for range 2 { // the second call finds the contest ended
		if next, err := w.closes(1); err != nil || next.State != aggregate.StateFinish ||
			next.Outcome != string(contest.SummaryPartialFailure) {
			w.Fatalf("%+v, %v", next, err)
		}
	}
	s := w.load().Summary
	if len(s.Places) != 1 || s.Places[0].TeamID != "a" || s.Places[0].ExitReason != contest.PartialFailure ||
		*s.BestTeamID != "a" {
		w.Errorf("places %+v", s.Places)
	}
	for i, want := range []aggregate.Reason{contest.ReasonUnfinished, contest.ReasonNeverBegan} {
		if f := s.FailedTeams[i]; f.Reason != want {
			w.Errorf("%+v, not %s", f, want)
		}
	}
	if _, err := w.round(1, 2); !errors.Is(err, aggregate.ErrMoved) {
		w.Errorf("a round that came late: %v", err)
	}
	if late := expect.Value(w.store.Enter(w.Context(), w.load(), 3))(w); late.Team.Status != contest.TeamFailed {
		w.Errorf("a team that came late is %s", late.Team.Status)
	}
}

func testAnotherRun(w *world) {
	w.scored(1)
	if _, err := w.closes(2); !errors.Is(err, aggregate.ErrSuperseded) {
		w.Errorf("another run: %v", err)
	}
	team := expect.Value(w.store.Teams.Load(w.Context(), contest.TeamRef(w.ref.Tenant, w.ref.ID, "a")))(w)
	if a := w.load(); a.Summary != nil || team.Team.Status != contest.TeamRunning {
		w.Errorf("it closed the contest: %+v, team %s", a.Summary, team.Team.Status)
	}
}

func testCancelled(w *world) {
	w.scored(1)
	expect.Value(w.store.Decide(w.Context(), w.ref, func(a *contest.Aggregate) (aggregate.Change, error) {
		return a.Withdraw(aggregate.Ref{Tenant: w.ref.Tenant, Kind: a.Contest.ForKind, ID: a.Contest.ForID}, time.Now())
	}))(w)
	expect.Value(w.closes(1))(w)
	a := w.load()
	if a.Contest.Status != contest.Cancelled || a.Contest.SettledAt == nil ||
		a.Contest.Usage.Cost != aggregate.USD(0.25) || len(a.Summary.Places) != 1 || a.Summary.FailedTeams[0].Reason == "" {
		w.Errorf("%+v\n%+v", a.Contest, a.Summary)
	}
}

func testAtOnce(w *world) {
	w.scored(1)
	w.scored(2)
	w.scored(3)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if next, err := w.closes(1); err != nil || next.Outcome != string(contest.SummaryCompleted) {
				w.Errorf("%+v, %v", next, err)
			}
		})
	}
	all.Wait()
	if a := w.load(); a.Contest.Usage.Cost != aggregate.USD(0.75) || len(a.Summary.Places) != 3 {
		w.Errorf("cost %s, places %+v", a.Contest.Usage.Cost, a.Summary.Places)
	}
	page := expect.Value(w.store.Audit(w.Context(), w.ref.Tenant, store.AuditFilter{Resource: w.ref.ID}, "", 20))(w)
	ended := 0
	for _, e := range page.Items {
		if e.Action == contest.AuditEnded {
			ended++
		}
	}
	if ended != 1 {
		w.Errorf("it ended %d times: %+v", ended, page.Items)
	}
}
