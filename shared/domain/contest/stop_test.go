package contest_test

import (
	"errors"
	"testing"
	"time"

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
		"who began it":                  {personal(t, user("U1")), "U1", false, true},
		"an administrator":              {personal(t, user("U1")), "U2", true, true},
		"anybody else":                  {personal(t, user("U1")), "U2", false, false},
		"nobody, one that nobody began": {personal(t, user("")), "", false, false},
		"one with the id of the agent": {personal(t, aggregate.Actor{Type: aggregate.ActorAgent, ID: "U1"}), "U1",
			false, false},
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
		expect.Fails(t, expect.Err(w.a.Withdraw(by, w.now)), aggregate.ErrNotFound, "withdrawn by %s", by)
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

// day holds a day's counters after the changes of one contest.
type day map[string]aggregate.MicroUSD

func (d day) applied(a *contest.Aggregate, c aggregate.Change) *contest.Aggregate {
	for _, n := range c.Counts {
		d[n.Key] += aggregate.MicroUSD(n.By)
	}
	return applied(a, c)
}

func TestTheDayCountsAContestAloneByItsBudgetUntilItIsClosed(t *testing.T) {
	const key = "SPENT#2026-11-05"
	for name, tt := range map[string]struct {
		cost, counted aggregate.MicroUSD
		before        func(*contest.Aggregate, time.Time) (aggregate.Change, error)
		later         time.Duration
		ordered       bool
	}{
		"what it didn't spend is given back":   {cost: 300_000, counted: 300_000},
		"also when it cost nothing":            {cost: 0, counted: 0},
		"what is beyond its budget is counted": {cost: 1_200_000, counted: 1_200_000},
		"all of it":                            {cost: 1_000_000, counted: 1_000_000},
		"on the day on which it began":         {cost: 300_000, counted: 300_000, later: 24 * time.Hour},
		"after it was cancelled": {cost: 300_000, counted: 300_000,
			before: func(a *contest.Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Cancel(aggregate.System(), now)
			}},
		"of one that was asked for, whoever asked counts": {cost: 300_000, ordered: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := day{}, order("a")
			if !tt.ordered {
				o.For, o.ForRow = nil, ""
			}
			a := d.applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
			reserved := d[key]
			expect.Must(t, (tt.ordered || reserved == o.Budget) && (!tt.ordered || reserved == 0), "reserved %s", reserved)
			now := began.Add(time.Second + tt.later)
			if tt.before != nil {
				a = d.applied(a, expect.Value(tt.before(a, now))(t))
			}
			_, begin, err := a.BeginTeam(1, now)
			expect.NoError(t, err)
			team := applied(&contest.Work{}, begin)
			team.Add(&aggregate.Use{Usage: aggregate.Usage{ID: "x", Calls: 1, Cost: tt.cost}})
			team = applied(team, expect.Value(team.End(contest.PartialFailure, "", "", now))(t))
			a = d.applied(a, expect.Value(a.Close(1, []contest.TeamResult{expect.Value(team.Result())(t)}, aggregate.Blob{},
				now))(t))
			expect.That(t, d[key] == tt.counted && len(d) <= 1 && a.Contest.Reserved == 0, "the days count %v, %s is reserved",
				d, a.Contest.Reserved)
		})
	}
}

// If no summary of a contest could be made, its full budget stays counted towards the day.
func TestAContestThatWasGivenUpKeepsWhatItReserved(t *testing.T) {
	d, o := day{}, order("a")
	o.For, o.ForRow = nil, ""
	a := d.applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
	for a.Contest.SettledAt == nil {
		a = d.applied(a, expect.Value(a.RestartRun(a.Head.Run, began))(t))
	}
	expect.That(t, d["SPENT#2026-11-05"] == o.Budget, "given up: %v", d)
}

var (
	tenant = aggregate.TenantID("T1")
	asker  = aggregate.Ref{Tenant: tenant, Kind: "task", ID: aggregate.Derive(time.UnixMilli(1), "task")}
	began  = time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC)
)

func order(teams ...string) contest.Order {
	o := contest.Order{Execution: contest.IDFor(asker, "PROMPT#0001"), Tenant: tenant, Prompt: "勤怠の方針", Locale: "ja",
		MaxRounds: 5, TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		By: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, For: &asker, ForRow: "PROMPT#0001"}
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
