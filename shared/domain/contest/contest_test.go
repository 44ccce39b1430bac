package contest_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

func TestARowAsksForOneContest(t *testing.T) {
	a, b := contest.IDFor(asker, "PROMPT#0001"), contest.IDFor(asker, "PROMPT#0002")
	expect.That(t, a != b && a == contest.IDFor(asker, "PROMPT#0001") && contest.ValidID(a) &&
		contest.ValidID(contest.NewID()) && contest.NewID() != contest.NewID(), "%s %s", a, b)
	for _, id := range []string{"", "x", strings.ToUpper(a), a + "#", "550e8400-e29b-11d4-a716-446655440000"} {
		expect.That(t, !contest.ValidID(id), "%q is one", id)
	}
}

func TestAnOrderOutsideOfItsBoundsIsRefusedByName(t *testing.T) {
	many := make([]string, contest.MaxTeams+1)
	for i := range many {
		many[i] = string(rune('a' + i))
	}
	for field, edit := range map[string]func(*contest.Order){
		"execution_id":             func(o *contest.Order) { o.Execution = "1" },
		"user_prompt":              func(o *contest.Order) { o.Prompt = " 　\n\u200b" },
		"teams":                    func(o *contest.Order) { o.Teams = order(many...).Teams },
		"teams[1].team_id":         func(o *contest.Order) { o.Teams = order("a", "a").Teams },
		"teams[0].team_name":       func(o *contest.Order) { o.Teams[0].TeamName = "　" },
		"max_rounds":               func(o *contest.Order) { o.MaxRounds = 11 },
		"timeout_per_team_seconds": func(o *contest.Order) { o.TeamTimeoutSeconds = 9 },
		"timeout_seconds":          func(o *contest.Order) { o.TimeoutSeconds = -1 },
		"budget_usd":               func(o *contest.Order) { o.Budget = 0 }, "for": func(o *contest.Order) { o.ForRow = "" },
	} {
		o := order("a", "b")
		edit(&o)
		_, err := contest.Begin(o, began)
		var said aggregate.Problem
		expect.That(t, errors.As(err, &said) && said.Field == field, "%s: %v", field, err)
	}
	o := order("a")
	o.Prompt = strings.Repeat("あ", contest.MaxPrompt/3+1)
	expect.That(t, expect.Err(contest.Begin(o, began)) != nil, "a prompt that no row holds is taken")
}

func TestTheBestRoundOfATeamIsTheLaterInATie(t *testing.T) {
	w := newWorld(t, "a")
	for i, score := range []float64{0.5, 0.9, 0.7, 0.9, 0.1} {
		w.score(0, i+1, score)
		var best []int
		for _, b := range w.teams[0].Board {
			if b.IsBest {
				best = append(best, b.RoundNumber)
			}
		}
		want := []int{1, 2, 2, 4, 4}[i]
		expect.That(t, len(best) == 1 && best[0] == want && w.teams[0].Team.BestRound == want,
			"after round %d the best is %v, want %d", i+1, best, want)
	}
	expect.Fails(t, w.close(), aggregate.ErrInFlight, "closed while a team runs")
	w.end(0, contest.MaxRoundsReached)
	s := w.teams[0].Team
	expect.That(t, s.Status == contest.TeamEnded && *s.BestScore == 0.9, "%+v", s)
}

func TestARoundThatIsWrittenAgainKeepsItsIdentity(t *testing.T) {
	w := newWorld(t, "a")
	w.score(0, 1, 0.9)
	w.score(0, 2, 0.5)
	before, row := *w.teams[0].Rounds[0], *w.teams[0].Board[0]
	expect.That(t, before.Usage.Details != nil, "the row's details are no object")
	again := w.scored(0, 1, 0.2)
	again.Result.TeamName, again.Kept.Messages = "Another name", aggregate.Blob{JSON: `[{"kind":"request","parts":[]}]`}
	w.now = w.now.Add(time.Minute)
	w.teams[0] = applied(w.teams[0], expect.Value(w.teams[0].ScoreRound(again, w.now))(t))
	r, b := w.teams[0].Rounds[0], w.teams[0].Board[0]
	expect.That(t, r.ID == before.ID && r.TeamName == before.TeamName && r.CreatedAt.Equal(before.CreatedAt) &&
		r.MessageHistory.JSON == again.Kept.Messages.JSON, "%+v", r)
	expect.That(t, b.ID == row.ID && b.TeamName == row.TeamName && b.CreatedAt.Equal(row.CreatedAt) &&
		b.EvaluationScore == 0.2 && !b.IsBest && w.teams[0].Board[1].IsBest, "%+v", b)
	expect.That(t, len(w.teams[0].Rounds) == 2 && w.teams[0].Team.Rounds == 2, "%d rounds", len(w.teams[0].Rounds))
}

func TestWhatCantBeScoredIsRefused(t *testing.T) {
	w := newWorld(t, "a", "b")
	for _, score := range []float64{-0.01, 1.01, math.NaN()} {
		_, err := w.teams[0].ScoreRound(w.scored(0, 1, score), w.now)
		expect.That(t, errors.As(err, new(contest.ScoreError)), "%v: %v", score, err)
	}
	err := (&contest.Board{EvaluationScore: 2}).Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "got 2.0. This violates the contract specification."),
		"the row of a score of 2: %v", err)
	_, err = w.teams[0].ScoreRound(w.scored(1, 1, 0.5), w.now)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "another team's round: %v", err)
	_, err = w.teams[0].ScoreRound(w.scored(0, 2, 0.5), w.now)
	expect.That(t, errors.Is(err, aggregate.ErrMoved), "the second round before the first: %v", err)
	w.score(0, 1, 0.5)
	w.end(0, contest.TeamTimeout)
	expect.Fails(t, expect.Err(w.teams[0].ScoreRound(w.scored(0, 2, 0.9), w.now)), aggregate.ErrMoved, "after the end")
	c, err := w.teams[0].End(contest.PartialFailure, "", "", w.now)
	expect.That(t, err == nil && c.Empty(), "ended twice: %v", err)
}

func TestATeamGoesOnUntilSomethingStopsIt(t *testing.T) {
	w := newWorld(t, "a")
	stops := func(when time.Time, want contest.ExitReason) {
		t.Helper()
		expect.Is(t, w.teams[0].Next(when), want)
	}
	stops(w.now, "")
	stops(w.teams[0].Team.DeadlineAt, contest.TeamTimeout)
	w.score(0, 1, 0.9)
	w.score(0, 2, 0.9)
	w.score(0, 3, 0.1)
	stops(w.now, "")
	w.teams[0].Add(&aggregate.Use{Usage: aggregate.Usage{ID: "x", Cost: w.teams[0].Team.Budget}})
	stops(w.now, contest.BudgetExhausted)
	w.score(0, 4, 0.9)
	w.score(0, 5, 0.9)
	stops(w.now, contest.MaxRoundsReached)
	_, err := w.teams[0].ScoreRound(w.scored(0, 6, 0.9), w.now)
	expect.Fails(t, err, aggregate.ErrMoved, "a round more than there may be")
}

func TestAContestsTimeBoundsItsTeams(t *testing.T) {
	for _, tt := range []struct{ team, whole, want int }{{300, 0, 300}, {300, 600, 300}, {300, 60, 60}} {
		o := order("a")
		o.TeamTimeoutSeconds, o.TimeoutSeconds = tt.team, tt.whole
		a := applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
		_, c, err := a.BeginTeam(1, began)
		expect.NoError(t, err)
		team := applied(&contest.Work{}, c)
		expect.Is(t, team.Team.DeadlineAt.Sub(began), time.Duration(tt.want)*time.Second, "%+v", tt)
	}
}

func TestAnOrderOfAnotherAggregateBeginsWhatItNames(t *testing.T) {
	o := order("a", "b")
	text := aggregate.JSON(expect.Value(json.Marshal(o))(t))
	ref := contest.Ref(tenant, o.Execution)
	a := applied(&contest.Aggregate{}, expect.Value(contest.Kind.Begin(ref, text, began))(t))
	expect.That(t, a.Ref() == ref && len(a.Contest.Teams) == 2 && a.Contest.ForID == asker.ID &&
		a.Contest.Share == o.Budget/2, "%+v", a.Contest)
	for _, other := range []aggregate.Ref{contest.Ref(tenant, contest.NewID()),
		contest.Ref(aggregate.TenantID("T2"), o.Execution)} {
		expect.Fails(t, expect.Err(contest.Kind.Begin(other, text, began)), aggregate.ErrNotFound, "%s", other)
	}
}

func TestTheSummaryFollowsItsRule(t *testing.T) {
	for name, tt := range map[string]struct {
		scores []float64 // below 0: the team fails
		status contest.SummaryStatus
		best   string
	}{
		"no team fails":       {[]float64{0.5, 0.8}, contest.SummaryCompleted, "b"},
		"one does":            {[]float64{-1, 0.8}, contest.SummaryPartialFailure, "b"},
		"all do":              {[]float64{-1, -1}, contest.SummaryFailed, ""},
		"a tie: the earlier":  {[]float64{0.8, 0.8}, contest.SummaryCompleted, "a"},
		"nothing is a result": {[]float64{0, -1}, contest.SummaryPartialFailure, "a"},
	} {
		w := newWorld(t, "a", "b")
		for i, score := range tt.scores {
			if score >= 0 {
				w.score(i, 1, score)
			}
			w.end(i, contest.PartialFailure)
		}
		expect.NoError(t, w.close())
		s := w.a.Summary
		expect.That(t, s.Status == tt.status && (s.BestTeamID == nil) == (tt.best == "") &&
			(s.BestScore == nil) == (tt.best == "") && (s.BestTeamID == nil || *s.BestTeamID == tt.best), "%s: %+v", name, s)
		expect.That(t, s.TotalExecutionTimeSeconds == w.a.Contest.SettledAt.Sub(w.a.Contest.CreatedAt).Seconds() &&
			len(s.FailedTeams)+len(s.Places) == 2, "%s: %v s, %+v", name, s.TotalExecutionTimeSeconds, s.FailedTeams)
		expect.Fails(t, w.close(), aggregate.ErrNotDue, "%s: closed twice", name)
	}
}

func TestACancelledContestIsSettledLikeAnyOther(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.score(0, 1, 0.7)
	stranger := asker
	stranger.ID = aggregate.Derive(began, "other")
	expect.Fails(t, expect.Err(w.a.Withdraw(stranger, w.now)), aggregate.ErrNotFound, "withdrawn by another")
	w.a = applied(w.a, expect.Value(w.a.Withdraw(asker, w.now))(t))
	expect.That(t, w.a.Head.OverAt != nil && w.a.Effects(w.now).Run != nil && len(w.a.Effects(w.now).Tell) == 0, "%+v",
		w.a.Head)
	expect.Fails(t, expect.Err(w.a.Withdraw(asker, w.now)), aggregate.ErrNotDue, "withdrawn twice")
	w.end(0, contest.PartialFailure)
	w.end(1, contest.PartialFailure)
	expect.NoError(t, w.close())
	expect.That(t, w.a.Contest.Status == contest.Cancelled && w.a.Summary.Status == contest.SummaryPartialFailure &&
		w.a.Effects(w.now).Run == nil, "%+v", w.a.Contest)
}

func TestRunsThatDieAreRepeatedAndThenGivenUp(t *testing.T) {
	w := newWorld(t, "a")
	expect.That(t, w.a.Effects(w.now).Run.Input == w.a.Effects(w.now.Add(time.Hour)).Run.Input,
		"a repeated start has other bytes")
	c := w.a.Overdue(w.now)[0]
	expect.Fails(t, expect.Err(c.Decide(w.a)), aggregate.ErrNotDue, "restarted before its time")
	runs := w.die(6)
	k := w.a.Contest
	expect.That(t, k.Status == contest.Abandoned && k.SettledAt == nil && w.a.Head.OverAt != nil && runs == 6 &&
		len(w.a.Effects(w.now).Tell) == 0, "after %d runs %+v", runs, k)
	expect.Has(t, w.a.Effects(w.now).Run.Input, `"teams":[]`, "the next run plays on")
	runs = w.die(50)
	expect.That(t, w.a.Contest.SettledAt != nil && w.a.Summary == nil && runs == 21 &&
		len(w.a.Effects(w.now).Tell) == 1 && w.a.DueAt(w.now) != nil, "after %d more runs %+v", runs, w.a.Contest)
}

// die lets up to most runs die and returns how many were started.
func (w *world) die(most int) (runs int) {
	w.t.Helper()
	for ; w.a.Effects(w.now).Run != nil && runs < most; runs++ {
		w.now = w.now.Add(2 * time.Hour)
		w.a = applied(w.a, expect.Value(w.a.Overdue(w.now)[0].Decide(w.a))(w.t))
	}
	return runs
}

func TestWhatAskedIsToldUntilItKnows(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.score(0, 1, 0.7)
	w.teams[0].Add(&aggregate.Use{Usage: aggregate.Usage{ID: "x", Calls: 2, Cost: 70}})
	w.end(0, contest.BudgetExhausted)
	w.teams[1].Add(&aggregate.Use{Usage: aggregate.Usage{ID: "y", Calls: 1, Cost: 5}}) // costs of a failed team count too
	w.end(1, contest.PartialFailure)
	expect.NoError(t, w.close())
	tell := w.a.Effects(w.now).Tell
	expect.Must(t, len(tell) == 1 && tell[0].Ref == asker && w.a.Contest.Usage.Cost == 75 &&
		w.a.Contest.Usage.ID == w.a.Head.ExecutionID, "%+v %+v", tell, w.a.Contest.Usage)
	w.a = applied(w.a, expect.Value(tell[0].Told(w.a))(t))
	expect.That(t, len(w.a.Effects(w.now).Tell) == 0 && w.a.DueAt(w.now) == nil, "told again")
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	w := newWorld(t, "a")
	long := w.scored(0, 1, 0.7)
	long.Result.SubmissionContent = strings.Repeat("稟議", 1000)
	w.teams[0] = applied(w.teams[0], expect.Value(w.teams[0].ScoreRound(long, w.now))(t))
	b := w.teams[0].Board[0]
	expect.That(t, len(b.SubmissionContent) <= 1<<10 && (strings.HasSuffix(b.SubmissionContent, "議…") ||
		strings.HasSuffix(b.SubmissionContent, "稟…")) &&
		b.SubmissionHash == aggregate.HashOf(long.Result.SubmissionContent), "%d bytes", len(b.SubmissionContent))
}

func TestRanksSortAsTheBoardDoes(t *testing.T) {
	w := newWorld(t, "a", "b", "c")
	w.score(0, 1, 0.5)
	w.score(1, 1, 1)
	w.score(2, 1, 0)
	w.score(0, 2, 0.5)
	var keys []string
	for _, x := range w.teams {
		for _, b := range x.Board {
			keys = append(keys, b.Indexes(nil)[0].SK+" "+b.TeamID)
		}
	}
	slices.Sort(keys)
	var order []string
	for _, k := range keys {
		order = append(order, k[len(k)-1:])
	}
	expect.That(t, strings.Join(order, "") == "baac" && strings.HasPrefix(keys[0], "0000000#") &&
		strings.HasPrefix(keys[3], "1000000#"), "%v", keys)
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

// Pages rank teams as the decision does: the earlier of equal scores, and those without one last.
func TestTeamsStandAsTheyAreRanked(t *testing.T) {
	team := func(id string, score float64, second int) *contest.Work {
		w := &contest.Work{Team: &contest.Team{TeamID: id}}
		if score > 0 {
			w.Board = []*contest.Board{{TeamID: id, RoundNumber: 1, EvaluationScore: score, IsBest: true,
				CreatedAt: time.Unix(int64(second), 0)}}
		}
		return w
	}
	all := []*contest.Work{team("none", 0, 0), team("later", 0.9, 2), team("least", 0.1, 1), team("first", 0.9, 1)}
	var ids []string
	for _, w := range slices.SortedStableFunc(slices.Values(all), contest.ByBest) {
		ids = append(ids, w.Team.TeamID)
	}
	expect.Same(t, []string{"first", "later", "least", "none"}, ids)
}
