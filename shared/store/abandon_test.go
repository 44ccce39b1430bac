package store_test

import (
	"context"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// TestAContestThatIsClosedOverCrashesIsPaidForOnce crashes the code that closes an abandoned contest after each of its
// calls to the table in turn. In the end there is one summary of the scored rounds and one sum of their cost.
func TestAContestThatIsClosedOverCrashesIsPaidForOnce(t *testing.T) {
	server := storetest.Start(t)
	w := newWorld(t, server)
	id := contest.NewID()
	ref := contest.Ref(contestTenant, id)
	_, teams := w.begin(t, id, "scored", "idle")
	expect.NoError(t, w.Begin(t.Context(), order(contest.NewID(), "another")))
	w.save(t, id, "scored", 1, 0.8)
	for i, team := range teams {
		k := store.Kept{Store: w.ContestStore, Team: team.Ref(), Execution: id}
		expect.NoError(t, k.Keep(t.Context(), "01/leader/1", []byte(`{}`), aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: aggregate.MicroUSD(100 * (i + 1))}))
	}
	for range 6 { // its runs crash
		_, err := w.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) { return a.RestartRun(a.Head.Run, time.Now()) })
		expect.NoError(t, err)
	}
	a := expect.Value(w.Load(t.Context(), ref))(t)
	expect.Must(t, a.Contest.Status == contest.Abandoned && a.Contest.SettledAt == nil, "%+v", a.Contest)
	died := 0
	for calls := int32(0); ; calls++ {
		ctx, cancel := context.WithCancel(t.Context())
		v := &invocation{faults: &faults{killed: true}, cancel: cancel}
		v.left.Store(calls)
		_, err := w.through(server, v).Settle(ctx, ref, a.Head.Run)
		killed := ctx.Err() != nil
		cancel()
		if err == nil && !killed {
			break
		}
		if died++; died > 50 {
			t.Fatal(err)
		}
	}
	settled := expect.Value(w.Load(t.Context(), ref))(t)
	s := expect.Value(w.Summary(t.Context(), contestTenant, id))(t)
	if died < 5 || s.Status != contest.SummaryPartialFailure || *s.BestTeamID != "scored" || len(s.TeamResults) != 1 || len(s.FailedTeams) != 1 ||
		s.FailedTeams[0].Reason != contest.ReasonUnfinished || settled.Contest.Status != contest.Abandoned || settled.Contest.Reason != contest.ReasonRunFailed {
		t.Errorf("after %d crashes %+v of %+v", died, s, settled.Contest)
	}
	u := settled.Contest.Usage
	expect.That(t, u.Cost == 300 && u.Calls == 2 && u.ID == id, "it cost %+v", u)
	sums := expect.Value(w.ContestStore.Of.Spent(t.Context(), contestTenant, settled.Contest.CreatedAt))(t)
	expect.Is(t, sums.Day, 300+order("").Budget, "the day counts") // the other's is reserved
	again := expect.Value(w.Settle(t.Context(), ref, a.Head.Run))(t)
	expect.Is(t, again.Head.Rev, settled.Head.Rev, "settled twice")
}

// All teams of a contest that was cancelled before their time was up say so, however late their last calls returned.
func TestACancelledTeamWasNotTooLate(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	id := contest.NewID()
	ref := contest.Ref(contestTenant, id)
	_, teams := w.begin(t, id, "scored", "idle")
	w.save(t, id, "scored", 1, 0.8)
	_, err := w.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) {
		return a.Cancel(aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, contest.ReasonCancelled, time.Now())
	})
	expect.NoError(t, err)
	w.Now = func() time.Time { return time.Now().Add(time.Hour) }
	expect.Value(w.Settle(t.Context(), ref, 1))(t)
	for _, x := range teams {
		k := expect.Value(w.Teams.Load(t.Context(), x.Ref()))(t).Team
		expect.Is(t, k.Reason, contest.ReasonCancelled, "%s ended by %s", k.TeamID, k.ExitReason)
	}
}
