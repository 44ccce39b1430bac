package contest_test

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

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
		expect.Fails(t, expect.Err(w.a.Withdraw(by, w.now)), aggregate.ErrNotFound, "withdrawn by %s", by)
	}
}

func TestOnlyTheLatestRunClosesAContestWithItsTeams(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.end(0, contest.TeamTimeout)
	w.end(1, contest.TeamTimeout)
	all := []contest.TeamResult{expect.Value(w.teams[0].Result())(t), expect.Value(w.teams[1].Result())(t)}
	_, err := w.a.Close(w.a.Head.Run+1, all, aggregate.Blob{}, w.now)
	expect.Fails(t, err, aggregate.ErrSuperseded, "closed by another run")
	for name, teams := range map[string][]contest.TeamResult{"one is missing": all[:1], "one twice": {all[0], all[0]}} {
		made, err := w.a.Close(w.a.Head.Run, teams, aggregate.Blob{}, w.now)
		expect.That(t, err != nil && made.Empty(), "%s: %v", name, err)
	}
	ended, err := w.teams[0].End(contest.TeamTimeout, "", "", w.now)
	expect.That(t, err == nil && ended.Empty(), "a team that has stopped is stopped again: %v", err)
}

var (
	tenant = aggregate.TenantID("T1")
	asker  = aggregate.Ref{Tenant: tenant, Kind: "task", ID: aggregate.Derive(time.UnixMilli(1), "task")}
	began  = time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
)

func order(teams ...string) contest.Order {
	o := contest.Order{Execution: contest.IDFor(asker, "PROMPT#0001"), Tenant: tenant, Prompt: "勤怠の方針", Locale: "ja",
		MaxRounds: 5, TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		For: asker, ForRow: "PROMPT#0001"}
	for _, t := range teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t, TeamName: "Team " + t})
	}
	return o
}

// world is a contest and its teams without a table.
type world struct {
	t     *testing.T
	now   time.Time
	a     *contest.Aggregate
	teams []*contest.Work
}

func newWorld(t *testing.T, teams ...string) *world {
	t.Helper()
	w := &world{t: t, now: began, a: &contest.Aggregate{}}
	c := expect.Value(contest.Begin(order(teams...), w.now))(t)
	w.a = applied(w.a, c)
	for i := range teams {
		_, c, err := w.a.BeginTeam(i+1, w.now)
		expect.NoError(t, err)
		w.teams = append(w.teams, applied(&contest.Work{}, c))
	}
	return w
}

// applied returns an aggregate as the store would load it after the change.
func applied[A aggregate.Aggregate](a A, c aggregate.Change) A {
	if c.Empty() {
		return a
	}
	c.ID = aggregate.NewID()
	return a.After(c).(A)
}

func (w *world) scored(team, round int, score float64) contest.Scored {
	e := w.a.Contest.Teams[team]
	return contest.Scored{ScoredRound: contest.ScoredRound{Result: contest.RoundResult{ExecutionID: w.a.Head.ExecutionID,
		TeamID: e.TeamID, TeamName: e.TeamName, RoundNumber: round, SubmissionContent: "draft " + e.TeamID,
		EvaluationScore: score, EvaluationFeedback: "Relevance (0.90): good",
		Usage: contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}, ExecutionTimeSeconds: 5.2,
		CompletedAt: w.now}}}
}

func (w *world) score(team, round int, score float64) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	w.teams[team] = applied(w.teams[team], expect.Value(w.teams[team].ScoreRound(w.scored(team, round, score),
		w.now))(w.t))
}

func (w *world) end(team int, exit contest.ExitReason) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	w.teams[team] = applied(w.teams[team], expect.Value(w.teams[team].End(exit, "", "", w.now))(w.t))
}

func (w *world) close() error {
	w.now = w.now.Add(time.Second)
	var all []contest.TeamResult
	for _, x := range w.teams {
		s, err := x.Result()
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	c, err := w.a.Close(w.a.Head.Run, all, aggregate.Blob{JSON: "[]", Bytes: 2}, w.now)
	if err == nil {
		w.a = applied(w.a, c)
	}
	return err
}
