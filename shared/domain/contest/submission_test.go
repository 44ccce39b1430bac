package contest_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

var at = time.Date(2025, 11, 5, 10, 0, 15, 0, time.UTC)

// golden checks that a file of testdata is unchanged after it was read into v and written again.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	file := expect.Value(os.ReadFile("testdata/" + name))(t)
	expect.NoError(t, json.Unmarshal(file, v))
	same(t, file, expect.Value(json.Marshal(v))(t))
}

func same(t *testing.T, a, b []byte) {
	t.Helper()
	var x, y any
	expect.NoError(t, json.Unmarshal(a, &x))
	expect.NoError(t, json.Unmarshal(b, &y))
	expect.Same(t, x, y)
}

func TestThePublishedExamplesComeBackAsTheyWere(t *testing.T) {
	var record contest.MemberSubmissionsRecord
	golden(t, "member_submissions_record.json", &record)
	expect.That(t, len(record.Submissions) == 1 && record.Submissions[0].AgentType == "system" &&
		record.TotalUsage().OutputTokens == 100, "%+v", record)
	var results []contest.RoundResult
	golden(t, "team_results.json", &results)
	for _, r := range results {
		expect.NoError(t, r.Check())
	}
	var info contest.UsageInfo
	golden(t, "usage_info.json", &info)
	expect.Same(t, info, results[0].Usage.Info())
	var messages []contest.ModelMessage
	golden(t, "message_history.json", &messages)
}

func TestARecordWithoutComputedFieldsIsRead(t *testing.T) {
	file := expect.Value(os.ReadFile("testdata/record_of_before.json"))(t)
	var record contest.MemberSubmissionsRecord
	expect.NoError(t, json.Unmarshal(file, &record))
	u := record.TotalUsage()
	expect.That(t, u.InputTokens == 250 && u.OutputTokens == 500 && u.Requests == 2, "%+v", u)
	expect.Is(t, record.Submissions[0].Timestamp.Format(time.RFC3339Nano), "2025-10-23T10:30:45.123456Z")
	err := record.Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "execution_id"), "written without an execution: %v", err)
}

func TestComputedFieldsAreComputed(t *testing.T) {
	why := "timeout"
	record := contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T", RoundNumber: 2,
		Submissions: []contest.MemberSubmission{
			{AgentName: "a", AgentType: contest.Plain, Status: contest.Success, Timestamp: at,
				Usage: contest.RunUsage{InputTokens: 1, CacheWriteTokens: 2, CacheReadTokens: 3, OutputTokens: 4,
					InputAudioTokens: 5, CacheAudioReadTokens: 6, OutputAudioTokens: 7, Details: map[string]int64{"thinking": 8},
					Requests: 9, ToolCalls: 10}},
			{AgentName: "b", AgentType: contest.CodeExec, Status: contest.Error, ErrorMessage: &why, Timestamp: at,
				Usage: contest.RunUsage{InputTokens: 1, Details: map[string]int64{"thinking": 1, "audio": 1}}},
		}}
	expect.NoError(t, record.Check())
	want := contest.RunUsage{InputTokens: 2, CacheWriteTokens: 2, CacheReadTokens: 3, OutputTokens: 4,
		InputAudioTokens: 5, CacheAudioReadTokens: 6, OutputAudioTokens: 7, Details: map[string]int64{"thinking": 9,
			"audio": 1}, Requests: 9, ToolCalls: 10}
	expect.Same(t, want, record.TotalUsage())
	expect.Is(t, record.Submissions[0].Usage.Details["thinking"], 8, "the sum changed what it was made of")
	text := expect.Value(json.Marshal(record))(t)
	var read struct {
		Successful   []contest.MemberSubmission `json:"successful_submissions"`
		Failed       []contest.MemberSubmission `json:"failed_submissions"`
		TotalCount   int                        `json:"total_count"`
		SuccessCount int                        `json:"success_count"`
		FailureCount int                        `json:"failure_count"`
		TotalUsage   contest.RunUsage           `json:"total_usage"`
	}
	expect.NoError(t, json.Unmarshal(text, &read))
	expect.That(t, len(read.Successful) == 1 && len(read.Failed) == 1 && read.TotalCount == 2 && read.SuccessCount == 1 &&
		read.FailureCount == 1 && reflect.DeepEqual(read.TotalUsage, want), "%s", text)
	empty := expect.Value(json.Marshal(contest.MemberSubmissionsRecord{}))(t)
	expect.That(t, !strings.Contains(string(empty), "null"), "%s", empty)
}

func TestWhatCantBeIsNotWritten(t *testing.T) {
	why, slow := "x", -1.0
	good := contest.MemberSubmission{AgentName: "a", AgentType: contest.Plain, Status: contest.Success, Timestamp: at}
	for name, change := range map[string]func(*contest.MemberSubmission){
		"agent_name":        func(s *contest.MemberSubmission) { s.AgentName = " 　" },
		"agent_type":        func(s *contest.MemberSubmission) { s.AgentType = "system" },
		"status":            func(s *contest.MemberSubmission) { s.Status = "success" },
		"error_message":     func(s *contest.MemberSubmission) { s.ErrorMessage = &why },
		"timestamp":         func(s *contest.MemberSubmission) { s.Timestamp = time.Time{} },
		"execution_time_ms": func(s *contest.MemberSubmission) { s.ExecutionTimeMS = &slow },
	} {
		bad := good
		change(&bad)
		record := contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T", RoundNumber: 1,
			Submissions: []contest.MemberSubmission{good, bad}}
		err := record.Check()
		expect.That(t, err != nil && strings.HasPrefix(err.Error(), "submissions[1]."+name), "%s: %v", name, err)
	}
	err := (contest.MemberSubmissionsRecord{ExecutionID: "e", TeamID: "t", TeamName: "T"}).Check()
	expect.That(t, err != nil && strings.Contains(err.Error(), "round_number must be 1 or more, got 0"), "%v", err)
}

func TestFeedbackIsALineForEachMetric(t *testing.T) {
	got := contest.Feedback([]contest.MetricScore{
		{MetricName: "Relevance", Score: 90, EvaluatorComment: "  高品質な情報が提供されています。\n"}, {MetricName: "Coverage",
			Score: 85.004, EvaluatorComment: "包括的な\r\n分析が\u2028含まれています。"}, {MetricName: "Clarity", Score: 88},
	})
	expect.That(t, got == "Relevance (0.90): 高品質な情報が提供されています。\nCoverage (0.85): 包括的な 分析が 含まれています。\nClarity (0.88):", "%q",
		got)
	for locale, want := range map[string]string{
		"ja": "関連性 (90): 高品質な情報が提供されています。\n網羅性 (85): 包括的な 分析が 含まれています。\nClarity (88):\nWhole (100): Coverage (0.50): x\n" +
			"明確さと一貫性 (7):",
		"en": "Relevance (90): 高品質な情報が提供されています。\nCoverage (85): 包括的な 分析が 含まれています。\nClarity (88):\nWhole (100): Coverage " +
			"(0.50): x\nClarity and coherence (7):",
	} {
		shown := contest.InPoints(got+"\nWhole (1.00): Coverage (0.50): x\nClarityCoherence (0.07):", locale)
		expect.Is(t, shown, want, "%s: people are shown", locale)
	}
	expect.That(t, contest.Round2(84.994999) == 84.99 && contest.Round2(84.995001) == 85 &&
		contest.Scaled(70.59) == 0.7059 && !math.Signbit(contest.Round2(math.Copysign(0, -1))) &&
		math.IsNaN(contest.Round2(math.NaN())), "two decimals")
}

func TestABestRoundIsTheLaterOneInATie(t *testing.T) {
	scored := []contest.RoundResult{{EvaluationScore: 0.5}, {EvaluationScore: 0.9}, {EvaluationScore: 0.9},
		{EvaluationScore: 0.1}}
	expect.Same(t, []int{2, 0, -1}, []int{contest.Best(scored), contest.Best(scored[:1]), contest.Best(nil)})
}

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
