package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ringi/shared/runtime/expect"
)

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
		`{"table":"round_history","execution_id":""}`:                             "execution_id must not be empty",
		`{"table":"round_history","execution_id":"e","message_history":"{"}`:      `round_history, contest "e", team "", round 0: message_history must be JSON`,
		`{"table":"round_history","execution_id":"e"}` + "\n" + `{"table":7}`:     "row 2: ",
		`{"table":"round_history","execution_id":"e","round_number":99999999999}`: "row 1: ",
	} {
		err := x.read(strings.NewReader(line))
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", line, err)
	}
}
