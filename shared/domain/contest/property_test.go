package contest_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

// walk is a contest to which random events happen in any order: rounds are scored again, teams end twice, superseded
// runs make calls, the contest is cancelled, runs die.
type walk struct {
	*rapid.T
	now    time.Time
	a      *contest.Aggregate
	teams  []*contest.Work // nil: not begun
	ended  map[int]contest.Team
	closed *contest.Summary
}

func TestWhateverHappensAContestKeepsItsWord(t *testing.T) {
	expect.Walks(t, func(reached map[contest.Status]int) { rapid.Check(t, walks(reached)) },
		contest.Running, contest.Closed, contest.Cancelled, contest.Abandoned)
}

// walks counts in reached the statuses in which the walks end.
func walks(reached map[contest.Status]int) func(rt *rapid.T) {
	return func(rt *rapid.T) {
		names := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(rt, "teams")]
		c, err := contest.Begin(order(names...), began)
		expect.NoError(rt, err)
		w := &walk{T: rt, now: began, a: applied(&contest.Aggregate{}, c), teams: make([]*contest.Work, len(names)),
			ended: map[int]contest.Team{}}
		for range rapid.IntRange(5, 60).Draw(rt, "moves") {
			w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, time.Minute,
				time.Hour}).Draw(rt, "elapsed"))
			rapid.SampledFrom([]func(){w.begins, w.scores, w.scores, w.scores, w.ends, w.closes, w.cancels, w.dies, w.dies,
				w.tells}).Draw(rt, "move")()
			w.holds()
		}
		reached[w.a.Contest.Status]++
	}
}

func (w *walk) team() (int, *contest.Work) {
	i := rapid.IntRange(0, len(w.teams)-1).Draw(w.T, "team")
	return i, w.teams[i]
}

func (w *walk) begins() {
	if i, x := w.team(); x == nil {
		_, c, err := w.a.BeginTeam(i+1, w.now)
		w.require(err == nil, "%v", err)
		w.teams[i] = applied(&contest.Work{}, c)
	}
}

func (w *walk) scores() {
	i, x := w.team()
	if x == nil {
		return
	}
	number := rapid.IntRange(1, x.Team.Rounds+2).Draw(w.T, "round")
	s := (&world{a: w.a, now: w.now}).scored(i, number, float64(rapid.IntRange(-1, 11).Draw(w.T, "score"))/10)
	c, err := x.ScoreRound(s, w.now)
	if err != nil {
		return
	}
	w.require(x.Team.Status == contest.TeamRunning && number <= x.Team.Rounds+1 && number <= 5,
		"round %d of %d of a team that %s was scored", number, x.Team.Rounds, x.Team.Status)
	w.require(s.Result.EvaluationScore >= 0 && s.Result.EvaluationScore <= 1, "a score of %v", s.Result.EvaluationScore)
	before := x
	w.teams[i] = applied(x, c)
	for j, r := range before.Rounds {
		n := w.teams[i].Rounds[j]
		w.require(n.ID == r.ID && n.TeamName == r.TeamName && n.CreatedAt.Equal(r.CreatedAt), "round %d is another one", j+1)
	}
}

func (w *walk) ends() {
	i, x := w.team()
	if x == nil {
		return
	}
	c, err := x.End(rapid.SampledFrom(contest.ExitReasons).Draw(w.T, "exit"), "", "", w.now)
	w.require(err == nil, "%v", err)
	w.teams[i] = applied(x, c)
	if _, known := w.ended[i]; !known {
		w.ended[i] = *w.teams[i].Team
	}
}

func (w *walk) closes() {
	var all []contest.TeamResult
	for _, x := range w.teams {
		if x == nil {
			return
		}
		s, err := x.Result()
		if err != nil {
			w.require(errors.Is(err, aggregate.ErrInFlight), "%v", err)
			return
		}
		all = append(all, s)
	}
	run := max(1, w.a.Head.Run-rapid.IntRange(0, 1).Draw(w.T, "old run"))
	settled := w.a.Contest.SettledAt != nil
	c, err := w.a.Close(run, all, aggregate.Blob{}, w.now)
	if err != nil {
		return
	}
	w.require(!settled && run == w.a.Head.Run, "closed a contest that was settled, or by an old run")
	w.a = applied(w.a, c)
}

func (w *walk) cancels() {
	if rapid.IntRange(0, 9).Draw(w.T, "cancelled") < 9 {
		return
	}
	if c, err := w.a.Withdraw(asker, w.now); err == nil {
		w.a = applied(w.a, c)
	}
}

func (w *walk) dies() {
	if c, err := w.a.RestartRun(max(1, w.a.Head.Run-rapid.IntRange(0, 1).Draw(w.T, "older")), w.now); err == nil {
		w.a = applied(w.a, c)
	}
}

func (w *walk) tells() {
	for _, t := range w.a.Effects(w.now).Tell {
		c, err := t.Told(w.a)
		w.require(err == nil, "%v", err)
		w.a = applied(w.a, c)
	}
}

// holds checks the invariants.
func (w *walk) holds() {
	settled := w.a.Contest.SettledAt != nil
	e := w.a.Effects(w.now)
	w.require((e.Run != nil) == !settled, "a run of a contest that is settled: %v", settled)
	w.require(settled || len(e.Tell) == 0, "told before the end")
	w.require(w.a.DueAt(w.now) != nil || settled && w.a.Contest.Told, "nobody looks again")
	w.require(w.a.Head.OverAt != nil || w.a.Contest.Status == contest.Running, "teams of a contest that is %s go on",
		w.a.Contest.Status)
	for i, x := range w.teams {
		if x == nil {
			continue
		}
		best := slices.DeleteFunc(slices.Clone(x.Board), func(b *contest.Board) bool { return !b.IsBest })
		w.require(len(best) == min(1, len(x.Board)), "%d best rounds of %d", len(best), len(x.Board))
		if len(best) == 1 {
			top := slices.MaxFunc(x.Board, func(a, b *contest.Board) int {
				return cmp.Or(cmp.Compare(a.EvaluationScore, b.EvaluationScore), cmp.Compare(a.RoundNumber, b.RoundNumber))
			})
			w.require(best[0] == top && *x.Team.BestScore == top.EvaluationScore && x.Team.BestRound == top.RoundNumber,
				"round %d is the best, not %d", top.RoundNumber, best[0].RoundNumber)
		}
		w.require(x.Team.Status != contest.TeamEnded || len(best) == 1, "ended without a score")
		w.require(x.Team.Status != contest.TeamFailed || len(best) == 0, "failed with a score")
		if was, over := w.ended[i]; over {
			w.require(*x.Team == was || x.Team.Status == was.Status && x.Team.ExitReason == was.ExitReason &&
				x.Team.Rounds == was.Rounds, "what a team came to changed after its end")
		}
	}
	if s := w.a.Summary; s != nil {
		w.require(w.closed == nil || w.closed == s || s.CompletedAt.Equal(w.closed.CompletedAt), "a second summary")
		w.closed = s
		w.require(len(s.Places)+len(s.FailedTeams) == s.TotalTeams && s.TotalTeams == len(w.teams),
			"%d places, %d failed of %d", len(s.Places), len(s.FailedTeams), s.TotalTeams)
		w.require((s.Status == contest.SummaryFailed) == (s.BestTeamID == nil) &&
			(s.BestTeamID == nil) == (s.BestScore == nil), "%s with the best team %v", s.Status, s.BestTeamID)
		w.require(w.a.Contest.Outcome == s.Status, "%s on the list, %s in the summary", w.a.Contest.Outcome, s.Status)
		w.require(slices.IsSortedFunc(s.Places, func(a, b contest.Place) int { return cmp.Compare(b.Score, a.Score) }),
			"places out of order")
	}
}

func (w *walk) require(holds bool, format string, args ...any) {
	w.T.Helper()
	if !holds {
		w.T.Fatalf(format, args...)
	}
}
