package contest_test

import (
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

// personal returns a contest that this actor began without another aggregate.
func personal(t *testing.T, by aggregate.Actor) *contest.Aggregate {
	t.Helper()
	o := order("a")
	o.For, o.ForRow, o.By = nil, "", by
	return applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
}

func TestWhoMayStopAContest(t *testing.T) {
	user := func(id string) aggregate.Actor { return aggregate.Actor{Type: aggregate.ActorUser, ID: id} }
	ofTask := newWorld(t, "a").a
	for name, c := range map[string]struct {
		a     *contest.Aggregate
		by    string
		admin bool
		may   bool
	}{
		"who began it":                        {personal(t, user("U1")), "U1", false, true},
		"an administrator":                    {personal(t, user("U1")), "U2", true, true},
		"anybody else":                        {personal(t, user("U1")), "U2", false, false},
		"nobody, one that nobody began":       {personal(t, user("")), "", false, false},
		"one with the id of the agent":        {personal(t, aggregate.Actor{Type: aggregate.ActorAgent, ID: "U1"}), "U1", false, false},
		"the requester, a task's":             {ofTask, "U1", false, false},
		"an administrator, a task's":          {ofTask, "U2", true, false},
		"an administrator, without a contest": {&contest.Aggregate{}, "U2", true, false},
	} {
		_, err := c.a.Stop(user(c.by), c.admin, began)
		expect.Is(t, err == nil, c.may, "%s: %v", name, err)
	}
}

// A contest is withdrawn only by the aggregate that asked for it, whatever the ids of others are.
func TestWhoMayWithdrawAContest(t *testing.T) {
	w := newWorld(t, "a")
	for _, change := range []func(r *aggregate.Ref){
		func(r *aggregate.Ref) { r.Tenant = aggregate.TenantID("T2") },
		func(r *aggregate.Ref) { r.Kind = "conversation" },
		func(r *aggregate.Ref) { r.ID = aggregate.Derive(began, "other") },
	} {
		by := asker
		change(&by)
		_, err := w.a.Withdraw(by, w.now)
		expect.Fails(t, err, aggregate.ErrNotFound, "withdrawn by %s", by)
	}
}

// Whoever stops a contest that they stopped before changes nothing. Anybody else learns who was faster.
func TestAContestIsStoppedOnce(t *testing.T) {
	user := func(id string) aggregate.Actor { return aggregate.Actor{Type: aggregate.ActorUser, ID: id} }
	a := personal(t, user("U1"))
	a = applied(a, expect.Value(a.Stop(user("U1"), false, began))(t))
	again, err := a.Stop(user("U1"), false, began)
	expect.That(t, err == nil && again.Empty(), "stopped twice by one: %v", err)
	again, err = a.Stop(user("U2"), true, began)
	was, _ := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, again.Empty() && was.By == "U1" && was.Status == string(contest.Cancelled), "stopped by two: %v", err)
}

func TestOnlyTheLatestRunClosesAContestWithItsTeams(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.end(0, contest.TeamTimeout)
	w.end(1, contest.TeamTimeout)
	all := []contest.Standing{expect.Value(w.teams[0].Standing())(t), expect.Value(w.teams[1].Standing())(t)}
	_, err := w.a.Close(w.a.Head.Run+1, all, aggregate.Blob{}, w.now)
	expect.Fails(t, err, aggregate.ErrSuperseded, "closed by another run")
	for name, teams := range map[string][]contest.Standing{"one is missing": all[:1], "one twice": {all[0], all[0]}} {
		made, err := w.a.Close(w.a.Head.Run, teams, aggregate.Blob{}, w.now)
		expect.That(t, err != nil && made.Empty(), "%s: %v", name, err)
	}
	ended, err := w.teams[0].End(contest.TeamTimeout, "", "", w.now)
	expect.That(t, err == nil && ended.Empty(), "a team that has stopped is stopped again: %v", err)
}
