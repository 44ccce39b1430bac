package contest_test

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

var (
	tenant = aggregate.TenantID("T1")
	asker  = aggregate.Ref{Tenant: tenant, Kind: "task", ID: aggregate.Derive(time.UnixMilli(1), "task")}
	began  = time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
)

func order(teams ...string) contest.Order {
	o := contest.Order{
		Execution: contest.IDFor(asker, "PROMPT#0001"), Tenant: tenant, Prompt: "勤怠の方針", Locale: "ja", MaxRounds: 5, MinRounds: 2,
		TeamTimeoutSeconds: 300, Budget: aggregate.USD(1), By: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, For: &asker, ForRow: "PROMPT#0001",
	}
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
	return contest.Scored{Result: contest.RoundResult{
		ExecutionID: w.a.Head.ExecutionID, TeamID: e.TeamID, TeamName: e.TeamName, RoundNumber: round, SubmissionContent: "draft " + e.TeamID,
		EvaluationScore: score, EvaluationFeedback: "Relevance (0.90): good", Usage: contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3},
		ExecutionTimeSeconds: 5.2, CompletedAt: w.now,
	}}
}

func (w *world) score(team, round int, score float64) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	w.teams[team] = applied(w.teams[team], expect.Value(w.teams[team].ScoreRound(w.scored(team, round, score), w.now))(w.t))
}

func (w *world) end(team int, exit contest.ExitReason) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	w.teams[team] = applied(w.teams[team], expect.Value(w.teams[team].End(exit, "", "", w.now))(w.t))
}

func (w *world) close() error {
	w.now = w.now.Add(time.Second)
	var all []contest.Standing
	for _, x := range w.teams {
		s, err := x.Standing()
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
