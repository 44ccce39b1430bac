package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
