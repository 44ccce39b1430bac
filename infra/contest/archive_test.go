package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// read is an archive as DuckDB reads it.
type read struct {
	RoundHistory     duckTable `json:"round_history"`
	LeaderBoard      duckTable `json:"leader_board"`
	ExecutionSummary duckTable `json:"execution_summary"`
	Best             [][3]any
	Tokens           [][3]any
	Members          [][1]string
}

type duckTable struct {
	Columns [][2]string
	Rows    [][]*string
}

// withDuckDB returns a Python that has DuckDB; without Python the test is skipped on a laptop and fails if CI is set.
func withDuckDB(t *testing.T) (interpreter string) {
	t.Helper()
	expect.Patience(t)
	interpreter, err := process.Environment(t.Context(), expect.Value(process.Folder())(t), "duckdb", duckdbPins,
		func(m string) { t.Log(m) })
	if errors.Is(err, process.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
	return interpreter
}

// inDuckDB reads an archive.
func inDuckDB(t *testing.T, folder string) (out read) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), withDuckDB(t), "testdata/read.py", folder)
	cmd.Stderr = os.Stderr
	expect.NoError(t, json.Unmarshal(expect.Value(cmd.Output())(t), &out))
	return out
}

func scoredRound(execution, team string, number int, score float64) store.Played {
	at := time.Date(2025, 11, 5, 10, 0, number, 123456000, time.UTC)
	usage := contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	p := storetest.Round(execution, contest.Entry{TeamID: team, TeamName: "チーム " + team}, number,
		strings.Repeat("分析結果", 9000), score, at)
	p.Result.EvaluationFeedback, p.Result.Usage, p.Result.ExecutionTimeSeconds = "Relevance (0.90): 高品質です。", usage, 5.2
	p.Record.Submissions = []contest.MemberSubmission{{AgentName: "analyst", AgentType: contest.Plain, Content: "結果", Status: contest.Success, Usage: usage, Timestamp: at}}
	p.Messages = []contest.ModelMessage{{Kind: contest.KindRequest, Parts: []contest.Part{{PartKind: contest.UserPrompt, Content: contest.Says("依頼")}}}}
	return p
}

func TestDuckDBReadsAnArchive(t *testing.T) {
	tenant, other := aggregate.TenantID("T1"), aggregate.TenantID("T2")
	s := storetest.Store(t, storetest.Start(t))
	s.Values = storetest.Bucket{}
	begin := func(tenant string, teams ...string) string {
		o := storetest.Order(teams...)
		o.Tenant = tenant
		expect.NoError(t, s.Begin(t.Context(), o))
		return o.Execution
	}
	play := func(tenant, id string, place, rounds int, score float64) {
		a := expect.Value(s.Load(t.Context(), contest.Ref(tenant, id)))(t)
		w := expect.Value(s.Enter(t.Context(), a, place))(t)
		for n := range rounds {
			expect.Value(s.SaveRound(t.Context(), w.Ref(), scoredRound(id, w.Team.TeamID, n+1, score+float64(n)/100)))(t)
		}
		expect.Value(s.End(t.Context(), w.Ref(), contest.MaxRoundsReached, "", ""))(t)
	}
	first, second, open := begin(tenant, "a", "b"), begin(tenant, "a"), begin(tenant, "a", "never")
	play(tenant, first, 1, 2, 0.8)
	play(tenant, first, 2, 1, 0.9)
	play(tenant, second, 1, 0, 0) // it failed
	play(tenant, open, 1, 1, 0.5)
	expect.Value(s.Settle(t.Context(), contest.Ref(tenant, first), 1))(t)
	expect.Value(s.Settle(t.Context(), contest.Ref(tenant, second), 1))(t)
	play(other, begin(other, "a"), 1, 1, 1)

	folder := filepath.Join(t.TempDir(), "archive")
	for range 2 { // the second replaces the first
		expect.NoError(t, (&archiving{store: s, tenant: tenant}).export(t.Context(), folder))
	}
	// the earlier files stay
	if err := (&archiving{store: s, tenant: aggregate.TenantID("T3")}).export(t.Context(), folder); !errors.Is(err,
		errNoContests) {
		t.Errorf("a workspace without contests: %v", err)
	}
	expect.Is(t, len(expect.Value(os.ReadDir(folder))(t)), 3)
	got := inDuckDB(t, folder)
	checkColumns(t, got)
	if rows := got.RoundHistory.Rows; len(rows) != 4 || *rows[0][0] != "1" || *rows[3][0] != "4" || *rows[0][1] != first || *rows[3][1] != open || *rows[0][3] != "チーム a" {
		t.Errorf("round_history: %v", rows)
	}
	content := func(row []*string) string { return *row[7] }
	if rows := got.LeaderBoard.Rows; len(rows) != 4 || content(rows[0]) != strings.Repeat("分析結果", 9000) || *rows[0][8] != "structured_json" || *rows[0][6] != "Relevance (0.90): 高品質です。" {
		t.Errorf("leader_board has %d rows", len(rows))
	}
	rows := got.ExecutionSummary.Rows
	if len(rows) != 2 || *rows[0][0] != first || *rows[0][2] != "completed" || *rows[0][5] != "b" || *rows[0][6] != "0.9" || *rows[1][2] != "failed" || rows[1][5] != nil || rows[1][6] != nil || *rows[1][3] != "[]" {
		t.Errorf("execution_summary: %v", rows)
	}
	want := "[[チーム b 1 0.9] [チーム a 2 0.81] [チーム a 1 0.8] [チーム a 1 0.5]]"
	expect.That(t, fmt.Sprint(got.Best) == want, "the board: %v", got.Best)
	if fmt.Sprint(got.Tokens, got.Members) != "[[a 3 1350] [b 1 450]] [[analyst] [analyst] [analyst] [analyst]]" {
		t.Errorf("%v %v", got.Tokens, got.Members)
	}
}

// checkColumns compares the columns with the published tables.
func checkColumns(t *testing.T, got read) {
	t.Helper()
	for name, c := range map[string]struct {
		got  [][2]string
		want string
	}{
		"round_history":     {got.RoundHistory.Columns, "id INTEGER, execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR, round_number INTEGER, message_history JSON, member_submissions_record JSON, created_at TIMESTAMP"},
		"leader_board":      {got.LeaderBoard.Columns, "id INTEGER, execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR, round_number INTEGER, evaluation_score DOUBLE, evaluation_feedback VARCHAR, submission_content VARCHAR, submission_format VARCHAR, usage_info JSON, created_at TIMESTAMP"},
		"execution_summary": {got.ExecutionSummary.Columns, "execution_id VARCHAR, user_prompt VARCHAR, status VARCHAR, team_results JSON, total_teams INTEGER, best_team_id VARCHAR, best_score DOUBLE, total_execution_time_seconds DOUBLE, completed_at TIMESTAMP, created_at TIMESTAMP"},
	} {
		var columns []string
		for _, column := range c.got {
			columns = append(columns, column[0]+" "+column[1])
		}
		expect.That(t, slices.Equal(columns, strings.Split(c.want, ", ")),
			"%s: %s\nwant %s", name, strings.Join(columns, ", "), c.want)
	}
}

func TestAnArchiveThatFailsLeavesTheOneBefore(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "round_history.parquet", "before")
	err := (&archiving{store: store.ContestsOf(store.New(nil, "", contest.Kind), nil), tenant: "#"}).export(t.Context(),
		folder)
	expect.Must(t, err != nil, "an export from nothing")
	half := expect.Value(create[roundHistory](folder, "round_history"))(t)
	expect.NoError(t, half.put(func(id int32) roundHistory { return roundHistory{ID: id} }))
	half.discard()
	expect.Is(t, string(expect.Value(os.ReadFile(filepath.Join(folder, "round_history.parquet")))(t)), "before")
	expect.Is(t, len(expect.Value(os.ReadDir(folder))(t)), 1)
}

func TestArchiveNeedsATableABucketAndATeam(t *testing.T) {
	for _, args := range [][]string{{}, {"-table", "t", "-bucket", "b"}, {"-table", "t", "-bucket", "b", "-team", "acme"}, {"-table", "t", "-bucket", "b", "-team", "T0123", "x"}} {
		r := run(t, t.TempDir(), append([]string{"archive"}, args...)...)
		expect.That(t, r.code == 2 && strings.Contains(r.problem, "usage"), "%v: %+v", args, r)
	}
}
