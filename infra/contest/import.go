package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ringi/infra/local/process"
	"ringi/shared/domain/contest"
)

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
		x.board = append(x.board, leaderBoard{0, r.ExecutionID, r.TeamID, r.TeamName, r.RoundNumber, score, feedback, r.Content,
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
