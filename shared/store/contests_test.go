package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestContestsInTheTable(t *testing.T) {
	server := storetest.Start(t)
	for name, part := range map[string]func(*testing.T, *contestWorld){
		"the published examples are asked for and answered as published":     testExamples,
		"a round is one transaction and a second saving replaces the first":  testUpsert,
		"what is too large for a row is elsewhere and comes back whole":      testLarge,
		"scores are ranked over all, per contest, per team":                  testBoard,
		"a contest is settled with what its teams have":                      testSettle,
		"answers of models are kept once, what they cost always":             testTurns,
		"statistics count a row once, and a replaced one by its newest form": testStatistics,
		"a tenant finds nothing of another's":                                testTenants,
	} {
		t.Run(name, func(t *testing.T) { part(t, newWorld(t, server)) })
	}
	t.Run("a write that fails is tried four times", func(t *testing.T) { testRetries(t, newWorld(t, server), server) })
}

func example(t *testing.T, name string, into any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("../domain/contest/testdata/"+name))(t), into))
}

const published = "550e8400-e29b-41d4-a716-446655440000"

func testExamples(t *testing.T, w *contestWorld) {
	var record contest.MemberSubmissionsRecord
	var results []contest.RoundResult
	example(t, "member_submissions_record.json", &record)
	example(t, "team_results.json", &results)
	var messages []contest.ModelMessage
	example(t, "message_history.json", &messages)
	o := order(published, "team-001", "team-002")
	o.Teams[0].TeamName, o.Teams[1].TeamName = "Alpha Team", "Beta Team"
	expect.NoError(t, storetest.Begin(t, w.ContestStore, o))
	a := expect.Value(w.Load(t.Context(), contest.Ref(contestTenant, published)))(t)
	for i, r := range results {
		team := expect.Value(w.Enter(t.Context(), a, i+1))(t)
		mine := record
		mine.TeamID, mine.TeamName = r.TeamID, r.TeamName
		for j := range mine.Submissions {
			mine.Submissions[j].AgentType = contest.Plain // only older records have this member
		}
		expect.Value(w.SaveRound(t.Context(), team.Ref(), store.Played{ScoredRound: contest.ScoredRound{Result: r,
			Record: mine, Messages: messages}}))(t)
		expect.Value(w.End(t.Context(), team.Ref(), contest.MaxRoundsReached, ""))(t)
	}
	expect.Value(w.Settle(t.Context(), a.Ref(), 1))(t)

	summary := expect.Value(w.Summary(t.Context(), contestTenant, published))(t)
	expect.Same(t, results, summary.TeamResults)
	expect.That(t, summary.Status == contest.SummaryCompleted && *summary.BestTeamID == "team-001" &&
		*summary.BestScore == 0.85 && summary.TotalTeams == 2 &&
		summary.UserPrompt == "データ分析を実行してください", "%+v", summary)
	got, said, err := w.LoadRoundHistory(t.Context(), contestTenant, published, "team-001", 1)
	expect.NoError(t, err)
	expect.That(t, got != nil && got.TeamName == "Alpha Team" &&
		got.Submissions[0].Content == record.Submissions[0].Content && got.TotalUsage().OutputTokens == 100 &&
		len(said) == 4, "%+v, %d messages", got, len(said))
	for _, none := range []struct {
		execution, team string
		round           int
	}{{published, "team-001", 2}, {published, "team-009", 1}, {contest.NewID(), "team-001", 1}, {"#", "team-001",
		1}, {published, "team-001", 0}} {
		r, m, err := w.LoadRoundHistory(t.Context(), contestTenant, none.execution, none.team, none.round)
		expect.That(t, r == nil && m != nil && len(m) == 0 && err == nil, "%+v: %v %v %v", none, r, m, err)
	}
	board := expect.Value(w.Board(t.Context(), contestTenant, "", "", 0))(t)
	expect.That(t, len(board.Items) == 2 && board.Items[0].TeamName == "Alpha Team" && board.Items[0].RoundNumber == 1 &&
		board.Items[0].EvaluationScore == 0.85 && board.Items[0].EvaluationFeedback == results[0].EvaluationFeedback &&
		board.Items[0].SubmissionFormat == "structured_json" && !board.Items[0].CreatedAt.IsZero() &&
		board.Items[0].IsBest, "%+v", board.Items)
	info := expect.Value(json.Marshal(board.Items[0].UsageInfo))(t)
	expect.That(t, string(info) == `{"input_tokens":450,"output_tokens":900,"requests":3}`, "%s", info)
	_, err = w.Summary(t.Context(), contestTenant, contest.NewID())
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "the summary of none: %v", err)
}

func testUpsert(t *testing.T, w *contestWorld) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	w.save(t, id, "a", 1, 0.9)
	first := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	again := played(id, "a", 1, 0.4)
	again.Result.TeamName, again.Record.TeamName = "Renamed", "Renamed"
	again.Record.Submissions[0].Content = "別の結果"
	expect.Value(w.SaveRound(t.Context(), teams[0].Ref(), again))(t)
	second := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	r, s := first.Rounds[0], second.Rounds[0]
	expect.That(t, r.ID == s.ID && r.TeamName == s.TeamName && r.CreatedAt.Equal(s.CreatedAt) &&
		len(second.Rounds) == 1 && len(second.Board) == 1, "%+v", s)
	b, c := first.Board[0], second.Board[0]
	expect.That(t, b.ID == c.ID && b.TeamName == c.TeamName && b.CreatedAt.Equal(c.CreatedAt) && c.EvaluationScore == 0.4,
		"%+v", c)
	record, _, err := w.LoadRoundHistory(t.Context(), contestTenant, id, "a", 1)
	expect.NoError(t, err)
	expect.That(t, record.Submissions[0].Content == "別の結果", "%+v", record)
	board := expect.Value(w.Board(t.Context(), contestTenant, "", "", 0))(t)
	expect.That(t, len(board.Items) == 1 && board.Items[0].EvaluationScore == 0.4, "%+v", board.Items)
	bad := played(id, "a", 2, 1.5)
	if _, err := w.SaveRound(t.Context(), teams[0].Ref(), bad); err == nil ||
		err.Error() != "evaluation_score must be between 0.0 and 1.0, got 1.5. This violates the contract specification." {
		t.Errorf("%v", err)
	}
	// Packing the row refuses a score that the decision accepted.
	c.EvaluationScore = 1.5
	head := second.Head
	_, err = w.Teams.Commit(t.Context(), second, aggregate.Change{Head: &head, Rows: []aggregate.Row{c}, Now: time.Now()})
	expect.That(t, err != nil && strings.Contains(err.Error(), "This violates the contract specification."), "%v", err)
}

func testLarge(t *testing.T, w *contestWorld) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	big := played(id, "a", 1, 0.9)
	big.Result.SubmissionContent = strings.Repeat("稟議書の案。", 20_000)
	big.Record.Submissions[0].Content = strings.Repeat("<調べた結果>", 20_000)
	expect.Value(w.SaveRound(t.Context(), teams[0].Ref(), big))(t)
	team := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	r := team.Rounds[0]
	expect.That(t, r.SubmissionContent.S3Key != "" && r.MemberSubmissionsRecord.S3Key != "" &&
		r.MessageHistory.S3Key == "", "%+v", r)
	expect.Value(w.End(t.Context(), team.Ref(), contest.MaxRoundsReached, ""))(t)
	expect.Value(w.Settle(t.Context(), contest.Ref(contestTenant, id), 1))(t)
	summary := expect.Value(w.Summary(t.Context(), contestTenant, id))(t)
	record, _, err := w.LoadRoundHistory(t.Context(), contestTenant, id, "a", 1)
	expect.NoError(t, err)
	expect.That(t, summary.Summary.TeamResults.S3Key != "" &&
		summary.TeamResults[0].SubmissionContent == big.Result.SubmissionContent &&
		record.Submissions[0].Content == big.Record.Submissions[0].Content, "it did not come back whole")
}

func testBoard(t *testing.T, w *contestWorld) {
	one, two := contest.NewID(), contest.NewID()
	w.begin(t, one, "a", "b")
	w.begin(t, two, "a")
	for i, score := range []float64{0.5, 0.9, 0.7} {
		w.save(t, one, "a", i+1, score)
	}
	w.save(t, one, "b", 1, 0.7)
	w.save(t, two, "a", 1, 1)
	for _, tt := range []struct {
		team   string
		limit  int
		want   string
		looked int // rows: no more than the filter's own, however many there are
	}{
		{"", 0, "a1 a2 a3 b1 a1", 5},
		{"", 2, "a1 a2", 2},
		{"a", 0, "a1 a2 a3 a1", 4},
		{"x", 0, "", 0},
	} {
		page := expect.Value(w.Board(t.Context(), contestTenant, tt.team, "", tt.limit))(t)
		var got []string
		for _, b := range page.Items {
			got = append(got, b.TeamID+string(rune('0'+b.RoundNumber)))
		}
		expect.Is(t, strings.Join(got, " "), tt.want, tt.team)
		expect.Is(t, page.Looked, tt.looked, "rows looked at for "+tt.team)
	}
	all := expect.Value(w.Contests(t.Context(), contestTenant, "", 10))(t)
	expect.That(t, len(all.Items) == 2 && all.Items[0].ExecutionID == two, "%+v", all.Items)
}

func testSettle(t *testing.T, w *contestWorld) {
	id := contest.NewID()
	expect.NoError(t, storetest.Begin(t, w.ContestStore, order(id, "scored", "idle", "absent")))
	ref := contest.Ref(contestTenant, id)
	a := expect.Value(w.Load(t.Context(), ref))(t)
	expect.Value(w.Enter(t.Context(), a, 1))(t)
	expect.AtOnce(4, func(int) { // of several invocations at once one enters the team, and all work for it
		k, err := w.Enter(t.Context(), a, 2)
		expect.That(t, err == nil && k.Team.TeamID == "idle", "%v", err)
	})
	w.save(t, id, "scored", 1, 0.8)
	expect.That(t, !expect.Value(w.Over(t.Context(), ref, 1))(t), "over before the end")
	_, err := w.Settle(t.Context(), ref, 2)
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded), "settled by a run that is not the contest's: %v", err)
	settled := expect.Value(w.Settle(t.Context(), ref, 1))(t)
	expect.That(t, settled.Summary.Status == contest.SummaryPartialFailure && *settled.Summary.BestTeamID == "scored" &&
		len(settled.Summary.FailedTeams) == 2 && len(settled.Summary.Places) == 1, "%+v", settled.Summary)
	for i, why := range []aggregate.Reason{contest.ReasonUnfinished, contest.ReasonNeverBegan} {
		expect.Is(t, settled.Summary.FailedTeams[i].Reason, why, "team %d failed because of", i+2)
	}
	expect.That(t, expect.Value(w.Over(t.Context(), ref, 1))(t), "teams may go on")
	again := expect.Value(w.Settle(t.Context(), ref, 1))(t)
	expect.Is(t, again.Head.Rev, settled.Head.Rev, "settled twice")
	_, err = w.SaveRound(t.Context(), contest.TeamRef(contestTenant, id, "scored"), played(id, "scored", 2, 0.9))
	expect.That(t, errors.Is(err, aggregate.ErrMoved), "a round after the end: %v", err)
	late := expect.Value(w.Enter(t.Context(), settled, 3))(t)
	expect.Is(t, late.Team.Status, contest.TeamFailed, "a team that comes after the end")
	expect.Fails(t, storetest.Begin(t, w.ContestStore, order(id, "scored")), aggregate.ErrExists, "begun twice")
	none := contest.NewID()
	expect.NoError(t, storetest.Begin(t, w.ContestStore, order(none, "a", "b")))
	expect.AtOnce(4, func(int) { // of several at once one settles it, and all learn of it
		failed, err := w.Settle(t.Context(), contest.Ref(contestTenant, none), 1)
		expect.That(t, err == nil && failed.Summary.Status == contest.SummaryFailed && failed.Summary.BestTeamID == nil &&
			failed.Summary.BestScore == nil, "%+v, %v", failed, err)
	})
	s := expect.Value(w.Summary(t.Context(), contestTenant, none))(t)
	expect.That(t, s.TeamResults != nil && len(s.TeamResults) == 0, "%+v", s.TeamResults)
}

func testTurns(t *testing.T, w *contestWorld) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	kept := store.Kept{Store: w.ContestStore, Team: teams[0].Ref(), Execution: id, ChargedTo: "task"}
	_, ok, err := kept.Turn(t.Context(), "1/leader/1")
	expect.That(t, !ok && err == nil, "an answer that nobody gave: %v", err)
	use := func(id string, cost aggregate.MicroUSD) aggregate.Usage {
		return aggregate.Usage{ID: id, Calls: 1, Cost: cost}
	}
	expect.NoError(t, kept.Keep(t.Context(), "1/leader/1", []byte(`{"text":"first"}`), use("u1", 5)))
	err = kept.Keep(t.Context(), "1/leader/1", []byte(`{"text":"second"}`), use("u2", 7))
	expect.That(t, errors.Is(err, aggregate.ErrMoved), "whoever goes on from an answer that is not kept hears %v", err)
	expect.NoError(t, kept.Keep(t.Context(), "1/leader/1/failed-1", nil, use("u3", 1)))
	expect.NoError(t, kept.Keep(t.Context(), "1/leader/1", []byte(`{"text":"first"}`), use("u1", 5)))
	long := []byte(`"` + strings.Repeat("長", 40_000) + `"`)
	expect.NoError(t, kept.Keep(t.Context(), "1/leader/2", long, use("u4", 0)))
	for key := range w.bucket { // it is deleted there a day after its row
		expect.That(t, strings.HasPrefix(key, "turns/"), "it is kept for ever: %s", key)
	}
	for key, want := range map[string]string{"1/leader/1": `{"text":"first"}`, "1/leader/2": string(long)} {
		got, ok, err := kept.Turn(t.Context(), key)
		expect.That(t, string(got) == want && ok && err == nil, "%s: %d bytes, %v, %v", key, len(got), ok, err)
	}
	team := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	expect.Is(t, expect.Value(w.Spent(t.Context(), team.Ref()))(t), 13, "spent")
	expect.That(t, team.Used().Cost == 13 && len(team.Uses) == 4 && team.Uses[0].ChargedTo == "task", "%+v", team.Used())
	expect.Value(w.End(t.Context(), team.Ref(), contest.BudgetExhausted, contest.ReasonBudget))(t)
	a := expect.Value(w.Settle(t.Context(), contest.Ref(contestTenant, id), 1))(t)
	expect.That(t, a.Contest.Usage.Cost == 13 && a.Contest.Usage.Calls == 4, "%+v", a.Contest.Usage)
}

func testTenants(t *testing.T, w *contestWorld) {
	id := contest.NewID()
	w.begin(t, id, "a")
	w.save(t, id, "a", 1, 0.9)
	other := aggregate.TenantID("T2")
	for _, team := range []string{"", "a"} {
		b := expect.Value(w.Board(t.Context(), other, team, "", 0))(t)
		expect.That(t, len(b.Items) == 0, "%s: %+v", team, b.Items)
	}
	r, _, err := w.LoadRoundHistory(t.Context(), other, id, "a", 1)
	expect.That(t, r == nil && err == nil, "%v %v", r, err)
	expect.Fails(t, expect.Err(w.Load(t.Context(), contest.Ref(other, id))), aggregate.ErrNotFound)
	expect.Is(t, expect.Value(w.TeamStatistics(t.Context(), other, "a"))(t), store.Statistics{})
}

func testRetries(t *testing.T, w *contestWorld, server *storetest.Server) {
	id := contest.NewID()
	_, teams := w.begin(t, id, "a")
	var waited []time.Duration
	broken := &ringitest.FaultyTransport{Next: server.Transport}
	x := w.through(server, broken)
	x.Sleep = func(_ context.Context, d time.Duration) error { waited = append(waited, d); return nil }
	for _, tt := range []struct {
		fails int
		tries int
		waits []time.Duration
		saved bool
	}{
		{0, 1, nil, true},
		{3, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		{100, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
	} {
		waited = nil
		broken.ClearFaults()
		broken.DropCalls("TransactWriteItems", tt.fails)
		before := broken.Count("TransactWriteItems")
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), played(id, "a", 1, 0.5))
		var given *contest.DatabaseWriteError
		expect.That(t, (err == nil) == tt.saved && (tt.saved || errors.As(err, &given) && given.Attempts == 4),
			"%d failures: %v", tt.fails, err)
		tried := broken.Count("TransactWriteItems") - before
		expect.That(t, slices.Equal(waited, tt.waits) && tried == tt.tries, "%d failures: waited %v, tried %d times",
			tt.fails, waited, tried)
	}
	waited = nil
	broken.ClearFaults()
	for name, p := range map[string]float64{"a score that can't be": 2, "a round that is not next": 0.5} {
		bad := played(id, "a", 4, p)
		_, err := x.SaveRound(t.Context(), teams[0].Ref(), bad)
		expect.That(t, err != nil && !errors.As(err, new(*contest.DatabaseWriteError)), "%s: %v", name, err)
	}
	expect.That(t, len(waited) == 0, "what can't be written was tried again: %v", waited)
	_, err := x.SaveRound(t.Context(), contest.TeamRef(contestTenant, id, "b"), played(id, "b", 1, 0.5))
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a team that is not there: %v", err)
	team := expect.Value(w.Teams.Load(t.Context(), teams[0].Ref()))(t)
	expect.That(t, len(team.Rounds) == 1, "%d rounds", len(team.Rounds))
}
