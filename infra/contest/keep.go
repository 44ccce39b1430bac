package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"

	"ringi/infra/local/process"
	"ringi/shared/domain/contest"
)

// localFolder has the contests that this machine played or imported. An export of a deployment replaces the files of
// archiveFolder, so it needs a folder of its own.
const localFolder = archiveFolder + "/local"

// records are the rows of contests.
type records struct {
	rounds    []roundHistory
	board     []leaderBoard
	summaries []executionSummary
}

// recordsOf returns the rows of a contest that this machine played.
func recordsOf(s summary, scored []contest.ScoredRound) (x records, err error) {
	for _, r := range scored {
		of := r.Result
		messages, err := contest.WriteMessages(r.Messages)
		if err != nil {
			return x, fmt.Errorf("write message_history: %w", err)
		}
		record, err := json.Marshal(r.Record)
		if err != nil {
			return x, fmt.Errorf("write member_submissions_record: %w", err)
		}
		usage, err := json.Marshal(of.Usage.Info())
		if err != nil {
			return x, fmt.Errorf("write usage_info: %w", err)
		}
		at, number := of.CompletedAt.UnixMicro(), int32(of.RoundNumber)
		x.rounds = append(x.rounds, roundHistory{0, of.ExecutionID, of.TeamID, of.TeamName, number, string(messages),
			string(record), at})
		x.board = append(x.board, leaderBoard{0, of.ExecutionID, of.TeamID, of.TeamName, number, of.EvaluationScore,
			of.EvaluationFeedback, of.SubmissionContent, contest.Format, string(usage), at})
	}
	results, err := json.Marshal(s.TeamResults)
	if err != nil {
		return x, fmt.Errorf("write team_results: %w", err)
	}
	x.summaries = []executionSummary{{s.ExecutionID, s.UserPrompt, string(s.Status), string(results), int32(s.TotalTeams),
		s.BestTeamID, s.BestScore, s.TotalExecutionTimeSeconds, s.CompletedAt.UnixMicro(), s.CreatedAt.UnixMicro()}}
	return x, nil
}

// keep adds the rows to the archive in a folder. Rows of the same contests are replaced, so the same rows can be added
// twice. Other processes wait. Each file is replaced when it is complete, the summaries' last.
func (x records) keep(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	unlock, err := process.Lock(filepath.Join(folder, "archive.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if err := sweep(folder); err != nil {
		return err
	}
	history, err := merged(folder, "round_history", x.rounds, x.executions(),
		func(r roundHistory) string { return r.ExecutionID },
		func(r roundHistory, id int32) roundHistory { r.ID = id; return r })
	if err != nil {
		return err
	}
	defer history.discard()
	board, err := merged(folder, "leader_board", x.board, x.executions(),
		func(r leaderBoard) string { return r.ExecutionID },
		func(r leaderBoard, id int32) leaderBoard { r.ID = id; return r })
	if err != nil {
		return err
	}
	defer board.discard()
	summaries, err := merged(folder, "execution_summary", x.summaries, x.executions(),
		func(r executionSummary) string { return r.ExecutionID },
		func(r executionSummary, _ int32) executionSummary { return r })
	if err != nil {
		return err
	}
	defer summaries.discard()
	return errors.Join(history.keep(), board.keep(), summaries.keep())
}

// sweep removes what a process left that died while it wrote.
func sweep(folder string) error {
	left, err := filepath.Glob(filepath.Join(folder, "*.tmp"))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// executions returns the ids of the contests.
func (x records) executions() map[string]bool {
	ids := map[string]bool{}
	for _, r := range x.rounds {
		ids[r.ExecutionID] = true
	}
	for _, r := range x.board {
		ids[r.ExecutionID] = true
	}
	for _, r := range x.summaries {
		ids[r.ExecutionID] = true
	}
	return ids
}

// merged begins a file with the rows of the earlier one, but for those of the replaced contests, and then the added.
func merged[R any](folder, name string, added []R, replaced map[string]bool, execution func(R) string,
	numbered func(R, int32) R) (t *table[R], err error) {
	t, err = create[R](folder, name)
	if err != nil {
		return nil, err
	}
	put := func(r R) error { return t.put(func(id int32) R { return numbered(r, id) }) }
	err = earlier(t.name, func(r R) error {
		if replaced[execution(r)] {
			return nil
		}
		return put(r)
	})
	for _, r := range added {
		if err == nil {
			err = put(r)
		}
	}
	if err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// earlier calls row with each row of a file. A file that does not exist has none.
func earlier[R any](name string, row func(R) error) (err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s is no file of an archive: %w", name, err)
	}
	if own := parquet.SchemaOf(*new(R)); !parquet.EqualNodes(own, file.Schema()) {
		return fmt.Errorf("%s is no file of an archive: it has other columns", name)
	}
	rows := parquet.NewGenericReader[R](file)
	defer rows.Close()
	for {
		var one [1]R
		n, err := rows.Read(one[:])
		if n == 1 {
			if err := row(one[0]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}

// No package for Go reads DuckDB's files without its C library, so Python's package reads them.
var (
	//go:embed mixseek.py
	mixseekReader string
	//go:embed duckdb.txt
	duckdbPins []byte
)

// imports adds the contests of a mixseek database to the archive. It only reads the database.
func (p program) imports(ctx context.Context, file, folder string) int {
	x, err := p.mixseek(ctx, file)
	if err == nil && len(x.executions()) == 0 {
		err = errors.New("it has no contests. Nothing was written")
	}
	if err == nil {
		err = x.keep(folder)
	}
	if err != nil {
		fmt.Fprintf(p.problem, "%s: %s\n", still(file), still(err.Error()))
		return exitFailed
	}
	fmt.Fprintf(p.out, "%d rounds and %d contests of %s are in %s\n", len(x.rounds), len(x.executions()), still(file),
		folder)
	return exitDone
}

// mixseek reads the rows of a mixseek database.
func (p program) mixseek(ctx context.Context, file string) (x records, err error) {
	if _, err := os.Stat(file); err != nil {
		return x, err
	}
	kept, err := process.Folder()
	if err != nil {
		return x, err
	}
	interpreter, err := process.Environment(ctx, kept, "DuckDB's files", duckdbPins,
		func(m string) { fmt.Fprintln(p.problem, m) })
	if err != nil {
		return x, err
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return x, err
	}
	var problem bytes.Buffer
	cmd := exec.CommandContext(ctx, interpreter, "-c", mixseekReader, absolute)
	cmd.Stderr = &problem
	lines, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return x, err
	}
	unread := x.read(lines)
	io.Copy(io.Discard, lines) // else the program could not end
	if err := cmd.Wait(); err != nil {
		if said := strings.TrimSpace(problem.String()); said != "" {
			err = errors.New(said)
		}
		return x, err
	}
	return x, unread
}

// mixseekRow is a row of any of mixseek's tables.
type mixseekRow struct {
	Table   string
	Percent bool // scores are out of 100

	ExecutionID string  `json:"execution_id"`
	TeamID      string  `json:"team_id"`
	TeamName    string  `json:"team_name"`
	RoundNumber int32   `json:"round_number"`
	CreatedAt   *int64  `json:"created_at"`
	Messages    *string `json:"message_history"`
	Record      *string `json:"member_submissions_record"`

	Content  string   `json:"submission_content"`
	Format   string   `json:"submission_format"`
	Score    *float64 `json:"score"`
	Details  *string  `json:"score_details"`
	Scaled   *float64 `json:"evaluation_score"`
	Feedback *string  `json:"evaluation_feedback"`
	Usage    *string  `json:"usage_info"`

	UserPrompt  string   `json:"user_prompt"`
	Status      string   `json:"status"`
	TeamResults *string  `json:"team_results"`
	TotalTeams  int32    `json:"total_teams"`
	BestTeamID  *string  `json:"best_team_id"`
	BestScore   *float64 `json:"best_score"`
	Seconds     float64  `json:"total_execution_time_seconds"`
	CompletedAt *int64   `json:"completed_at"`
}

// read adds rows in JSON Lines.
func (x *records) read(lines io.Reader) error {
	all := json.NewDecoder(lines)
	for n := 1; ; n++ {
		var r mixseekRow
		if err := all.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if err := x.add(r); err != nil {
			return fmt.Errorf("%s, contest %q, team %q, round %d: %w", r.Table, r.ExecutionID, r.TeamID, r.RoundNumber, err)
		}
	}
}

func (x *records) add(r mixseekRow) error {
	if r.ExecutionID == "" {
		return errors.New("execution_id must not be empty")
	}
	for name, value := range map[string]*string{"message_history": r.Messages, "member_submissions_record": r.Record,
		"score_details": r.Details, "usage_info": r.Usage, "team_results": r.TeamResults} {
		if value != nil && !json.Valid([]byte(*value)) {
			return fmt.Errorf("%s must be JSON", name)
		}
	}
	at := or(r.CreatedAt, 0)
	switch r.Table {
	case "round_history":
		x.rounds = append(x.rounds, roundHistory{0, r.ExecutionID, r.TeamID, r.TeamName, r.RoundNumber, or(r.Messages, "[]"),
			or(r.Record, "{}"), at})
	case "leader_board":
		score, feedback := or(r.Scaled, 0), or(r.Feedback, "")
		if r.Percent {
			score, feedback = contest.Scaled(or(r.Score, 0)), feedbackOf(or(r.Details, "{}"))
		}
		x.board = append(x.board, leaderBoard{0, r.ExecutionID, r.TeamID, r.TeamName, r.RoundNumber, score, feedback,
			r.Content,
			r.Format, or(r.Usage, "{}"), at})
	case "execution_summary":
		if r.Percent && r.BestScore != nil {
			r.BestScore = new(contest.Scaled(*r.BestScore))
		}
		x.summaries = append(x.summaries, executionSummary{r.ExecutionID, r.UserPrompt, r.Status, or(r.TeamResults, "[]"),
			r.TotalTeams, r.BestTeamID, r.BestScore, r.Seconds, or(r.CompletedAt, at), at})
	}
	return nil
}

// feedbackOf returns an evaluator's comments. Details of another form are kept as they are.
func feedbackOf(details string) string {
	var d struct {
		Metrics []contest.MetricScore `json:"metrics"`
	}
	if err := json.Unmarshal([]byte(details), &d); err != nil || len(d.Metrics) == 0 {
		return details
	}
	return contest.Feedback(d.Metrics)
}

// or returns a value, or other for none.
func or[T any](value *T, other T) T {
	if value == nil {
		return other
	}
	return *value
}
