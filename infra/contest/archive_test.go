package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	p.Record.Submissions = []contest.MemberSubmission{{AgentName: "analyst", AgentType: contest.Plain, Content: "結果",
		Status: contest.Success, Usage: usage, Timestamp: at}}
	p.Messages = []contest.ModelMessage{{Kind: contest.KindRequest,
		Parts: []contest.Part{{PartKind: contest.UserPrompt, Content: contest.Says("依頼")}}}}
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
	if rows := got.RoundHistory.Rows; len(rows) != 4 || *rows[0][0] != "1" || *rows[3][0] != "4" ||
		*rows[0][1] != first || *rows[3][1] != open || *rows[0][3] != "チーム a" {
		t.Errorf("round_history: %v", rows)
	}
	content := func(row []*string) string { return *row[7] }
	if rows := got.LeaderBoard.Rows; len(rows) != 4 || content(rows[0]) != strings.Repeat("分析結果", 9000) ||
		*rows[0][8] != "structured_json" || *rows[0][6] != "Relevance (0.90): 高品質です。" {
		t.Errorf("leader_board has %d rows", len(rows))
	}
	rows := got.ExecutionSummary.Rows
	if len(rows) != 2 || *rows[0][0] != first || *rows[0][2] != "completed" || *rows[0][5] != "b" ||
		*rows[0][6] != "0.9" || *rows[1][2] != "failed" || rows[1][5] != nil || rows[1][6] != nil || *rows[1][3] != "[]" {
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
		"round_history": {got.RoundHistory.Columns,
			"id INTEGER, execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR, round_number INTEGER, message_history " +
				"JSON, member_submissions_record JSON, created_at TIMESTAMP"},
		"leader_board": {got.LeaderBoard.Columns,
			"id INTEGER, execution_id VARCHAR, team_id VARCHAR, team_name VARCHAR, round_number INTEGER, evaluation_score " +
				"DOUBLE, evaluation_feedback VARCHAR, submission_content VARCHAR, submission_format VARCHAR, usage_info JSON, " +
				"created_at TIMESTAMP"},
		"execution_summary": {got.ExecutionSummary.Columns,
			"execution_id VARCHAR, user_prompt VARCHAR, status VARCHAR, team_results JSON, total_teams INTEGER, " +
				"best_team_id VARCHAR, best_score DOUBLE, total_execution_time_seconds DOUBLE, completed_at TIMESTAMP, " +
				"created_at TIMESTAMP"},
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
	for _, args := range [][]string{{}, {"-table", "t", "-bucket", "b"}, {"-table", "t", "-bucket", "b", "-team", "acme"},
		{"-table", "t", "-bucket", "b", "-team", "T0123", "x"}} {
		r := run(t, t.TempDir(), append([]string{"archive"}, args...)...)
		expect.That(t, r.code == 2 && strings.Contains(r.problem, "usage"), "%v: %+v", args, r)
	}
}

// archived reads the archive of this machine without DuckDB.
func archived(t *testing.T, folder string) (x records) {
	t.Helper()
	folder = filepath.Join(folder, localFolder)
	expect.NoError(t, earlier(filepath.Join(folder, "round_history.parquet"),
		func(r roundHistory) error { x.rounds = append(x.rounds, r); return nil }))
	expect.NoError(t, earlier(filepath.Join(folder, "leader_board.parquet"),
		func(r leaderBoard) error { x.board = append(x.board, r); return nil }))
	expect.NoError(t, earlier(filepath.Join(folder, "execution_summary.parquet"),
		func(r executionSummary) error { x.summaries = append(x.summaries, r); return nil }))
	return x
}

func TestExecAddsToTheArchiveOfThisMachine(t *testing.T) {
	folder := sampled(t)
	_, r := held(t, folder, "--no-save", "経費の方針を書いて")
	_, err := os.Stat(filepath.Join(folder, localFolder))
	expect.That(t, r.code == 0 && os.IsNotExist(err), "--no-save: %v %+v", err, r)
	got, _ := held(t, folder, "経費の方針を書いて")
	_, r = held(t, folder, "demo: refuse solo\ndemo: refuse swift\ndemo: refuse careful\n方針を書いて")
	expect.Is(t, r.code, 2)
	x := archived(t, folder)
	rounds := 0
	for _, team := range got.Teams {
		rounds += team.Played
	}
	expect.Must(t, len(x.rounds) == rounds && len(x.board) == rounds && len(x.summaries) == 2,
		"%d rounds of %d, %d contests", len(x.rounds), rounds, len(x.summaries))
	first, failed := x.summaries[0], x.summaries[1]
	expect.That(t, first.Status == "completed" && first.UserPrompt == "経費の方針を書いて" &&
		*first.BestTeamID == *got.BestTeamID && first.TotalTeams == 3 &&
		failed.Status == "failed" && failed.BestTeamID == nil, "%+v", x.summaries)
	for i, r := range x.rounds {
		b := x.board[i]
		expect.That(t, int(r.ID) == i+1 && b.ID == r.ID && r.ExecutionID == first.ExecutionID &&
			strings.Contains(r.MessageHistory, "経費") &&
			json.Valid([]byte(r.MemberSubmissionsRecord)) && b.EvaluationScore > 0 && b.SubmissionContent != "" &&
			b.CreatedAt == r.CreatedAt, "%+v", b)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	p := program{func(string) string { return folder }, io.Discard, io.Discard}
	expect.Is(t, p.run(ctx, []string{"exec", "-model", "demo", "方針を書いて"}), exitFailedTeams)
	all := archived(t, folder).summaries
	expect.That(t, len(all) == 3 && all[2].Status == "failed", "an interrupted contest: %+v", all)
	duck := inDuckDB(t, filepath.Join(folder, localFolder))
	checkColumns(t, duck)
	expect.Is(t, len(duck.LeaderBoard.Rows), rounds)
}

func TestAnArchiveThatCantBeWrittenEndsAContestBeforeItBegins(t *testing.T) {
	folder := sampled(t)
	archive := filepath.Join(folder, localFolder)
	expect.NoError(t, os.MkdirAll(archive, 0o755))
	for name, text := range map[string]string{"no Parquet": "text", "other columns": ""} {
		file := "leader_board.parquet"
		if text == "" {
			other := expect.Value(create[roundHistory](archive, "leader_board"))(t)
			expect.NoError(t, other.keep())
		} else {
			write(t, archive, file, text)
		}
		before := string(expect.Value(os.ReadFile(filepath.Join(archive, file)))(t))
		r := run(t, folder, "exec", "-model", "demo", "方針を書いて")
		expect.That(t, r.code == 2 && strings.Contains(r.problem, "leader_board.parquet is no file of an archive") &&
			!strings.Contains(r.out, "LEADER"), "%s: %+v", name, r)
		expect.Is(t, string(expect.Value(os.ReadFile(filepath.Join(archive, file)))(t)), before)
	}
	r := run(t, folder, "exec", "-model", "demo", "--no-save", "方針を書いて")
	expect.That(t, r.code == 0, "--no-save: %+v", r)
	p := program{out: os.Stdout, problem: new(strings.Builder)}
	expect.That(t, !p.save(summary{ExecutionID: "x"}, nil, archive), "a contest that isn't in the archive")
	expect.Is(t, ended(t.Context(), summary{}, true, false), exitPartial,
		"the contest's result was written, the archive wasn't")
}

func TestContestsThatEndAtOnceAreAllInTheArchive(t *testing.T) {
	folder := t.TempDir()
	archive := filepath.Join(folder, localFolder)
	expect.NoError(t, os.MkdirAll(archive, 0o755))
	write(t, archive, "round_history-1.tmp", "of a process that died")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			id := fmt.Sprintf("e%d", i)
			x := records{[]roundHistory{{ExecutionID: id}}, []leaderBoard{{ExecutionID: id}},
				[]executionSummary{{ExecutionID: id}}}
			for range 2 { // the second replaces the first
				if err := x.keep(archive); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	x := archived(t, folder)
	expect.That(t, len(x.executions()) == 8 && len(x.rounds) == 8 && len(x.board) == 8 && len(x.summaries) == 8, "%+v", x)
	expect.Is(t, len(expect.Value(os.ReadDir(archive))(t)), 4, "three files and their lock")
}

// databases makes a folder with old databases, one of so many rounds.
func databases(t *testing.T, rounds int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	cmd := exec.CommandContext(t.Context(), withDuckDB(t), "testdata/old.py", folder, fmt.Sprint(rounds))
	cmd.Stderr = os.Stderr
	expect.NoError(t, cmd.Run())
	return folder
}

func TestAMixseekDatabaseIsAddedToTheArchive(t *testing.T) {
	const rounds = 1200
	old, folder := databases(t, rounds), sampled(t)
	held(t, folder, "方針を書いて")
	played := len(archived(t, folder).rounds)
	for range 2 { // imported again, the rows are the same
		r := run(t, folder, "archive", "-import", filepath.Join(old, "mixseek.db"))
		expect.That(t, r.code == 0 && strings.Contains(r.out, "1200 rounds and 2 contests of "), "%+v", r)
	}
	r := run(t, folder, "archive", "-import", filepath.Join(old, "before.db"))
	expect.That(t, r.code == 0 && strings.Contains(r.out, "0 rounds and 1 contests"), "%+v", r)
	x := archived(t, folder)
	expect.Must(t, len(x.rounds) == played+rounds && len(x.board) == played+rounds+1 && len(x.summaries) == 3,
		"%d, %d, %d", len(x.rounds), len(x.board), len(x.summaries))
	b, h, before := x.board[played], x.rounds[len(x.rounds)-1], x.board[len(x.board)-1]
	expect.That(t, b.ExecutionID == "e1" && b.EvaluationScore == 0.875 &&
		b.EvaluationFeedback == "Coverage (0.88): 十分です" && b.SubmissionContent == "案" &&
		b.SubmissionFormat == "md" && b.UsageInfo == "{}" && b.CreatedAt == 1762336800123456, "%+v", b)
	expect.That(t, h.RoundNumber == rounds && h.TeamName == "チーム A" && strings.Contains(h.MemberSubmissionsRecord,
		`"agent_name"`), "%+v", h)
	expect.That(t, before.EvaluationScore == 0.5 && before.EvaluationFeedback == "Coverage (0.50): x" &&
		before.UsageInfo == `{"input_tokens": 3}`, "%+v", before)
	s := x.summaries[1]
	expect.That(t, s.ExecutionID == "e1" && *s.BestScore == 0.875 && s.CompletedAt == s.CreatedAt &&
		x.summaries[2].BestScore == nil, "%+v", s)
	checkColumns(t, inDuckDB(t, filepath.Join(folder, localFolder)))
}

func TestADatabaseThatCantBeImportedIsSaid(t *testing.T) {
	old, folder := databases(t, 1), t.TempDir()
	write(t, old, "text.db", strings.Repeat("no database ", 1000))
	for file, want := range map[string]string{
		"text.db": "can't be read as a DuckDB database", "other.db": "is no database of mixseek: it has none of the tables " +
			"round_history, ",
		"empty.db": "has no contests", "narrow.db": "the table round_history has no column created_at",
		"none.db": "no such file",
	} {
		r := run(t, folder, "archive", "-import", filepath.Join(old, file))
		expect.That(t, r.code == 1 && r.out == "" && strings.Contains(r.problem, want), "%s: %+v", file, r)
		_, err := os.Stat(filepath.Join(folder, localFolder))
		expect.That(t, os.IsNotExist(err), "%s: %v", file, err)
	}
	for _, args := range [][]string{{"-import", "a.db", "b.db"}, {"-import", "a.db", "-team", "T0123"}} {
		r := run(t, folder, append([]string{"archive"}, args...)...)
		expect.That(t, r.code == 2 && strings.Contains(r.problem, "usage"), "%v: %+v", args, r)
	}
	var x records
	for line, want := range map[string]string{
		`{"table":"round_history","execution_id":""}`: "execution_id must not be empty",
		`{"table":"round_history","execution_id":"e",` +
			`"message_history":"{"}`: `round_history, contest "e", team "", round 0: message_history must be JSON`,
		`{"table":"round_history","execution_id":"e"}` + "\n" + `{"table":7}`:     "row 2: ",
		`{"table":"round_history","execution_id":"e","round_number":99999999999}`: "row 1: ",
	} {
		err := x.read(strings.NewReader(line))
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", line, err)
	}
}
