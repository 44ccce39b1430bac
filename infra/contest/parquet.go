package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// roundHistory is a row of round_history. Times are UTC without a zone.
type roundHistory struct {
	ID                      int32  `parquet:"id"`
	ExecutionID             string `parquet:"execution_id"`
	TeamID                  string `parquet:"team_id"`
	TeamName                string `parquet:"team_name"`
	RoundNumber             int32  `parquet:"round_number"`
	MessageHistory          string `parquet:"message_history,json"`
	MemberSubmissionsRecord string `parquet:"member_submissions_record,json"`
	CreatedAt               int64  `parquet:"created_at,timestamp(microsecond:local)"`
}

// leaderBoard is a row of leader_board, with the complete submission.
type leaderBoard struct {
	ID                 int32   `parquet:"id"`
	ExecutionID        string  `parquet:"execution_id"`
	TeamID             string  `parquet:"team_id"`
	TeamName           string  `parquet:"team_name"`
	RoundNumber        int32   `parquet:"round_number"`
	EvaluationScore    float64 `parquet:"evaluation_score"`
	EvaluationFeedback string  `parquet:"evaluation_feedback"`
	SubmissionContent  string  `parquet:"submission_content"`
	SubmissionFormat   string  `parquet:"submission_format"`
	UsageInfo          string  `parquet:"usage_info,json"`
	CreatedAt          int64   `parquet:"created_at,timestamp(microsecond:local)"`
}

type executionSummary struct {
	ExecutionID               string   `parquet:"execution_id"`
	UserPrompt                string   `parquet:"user_prompt"`
	Status                    string   `parquet:"status"`
	TeamResults               string   `parquet:"team_results,json"`
	TotalTeams                int32    `parquet:"total_teams"`
	BestTeamID                *string  `parquet:"best_team_id"`
	BestScore                 *float64 `parquet:"best_score"`
	TotalExecutionTimeSeconds float64  `parquet:"total_execution_time_seconds"`
	CompletedAt               int64    `parquet:"completed_at,timestamp(microsecond:local)"`
	CreatedAt                 int64    `parquet:"created_at,timestamp(microsecond:local)"`
}

// perGroup is how many rows are buffered in memory before they are written: a row may have megabytes.
const perGroup = 100

// table is a Parquet file being written. It gets its name when it is complete.
type table[R any] struct {
	file   *os.File
	name   string
	writer *parquet.GenericWriter[R]
	rows   int32
}

func create[R any](folder, name string) (*table[R], error) {
	f, err := os.CreateTemp(folder, name+"-*.tmp")
	if err != nil {
		return nil, err
	}
	w := parquet.NewGenericWriter[R](f, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(perGroup))
	return &table[R]{file: f, name: filepath.Join(folder, name+".parquet"), writer: w}, nil
}

// put writes a row. Rows are numbered from 1.
func (t *table[R]) put(row func(id int32) R) error {
	t.rows++
	if _, err := t.writer.Write([]R{row(t.rows)}); err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	return nil
}

// keep completes the file and gives it its name.
func (t *table[R]) keep() error {
	err := errors.Join(t.writer.Close(), t.file.Chmod(0o644), t.file.Close())
	if err == nil {
		err = os.Rename(t.file.Name(), t.name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", t.name, err)
	}
	return nil
}

// discard removes a file that was not completed.
func (t *table[R]) discard() {
	t.file.Close()
	os.Remove(t.file.Name()) // a completed file has another name
}
