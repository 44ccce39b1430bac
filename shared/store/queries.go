package store

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/store/table"
)

// DefaultLimit is the page size of a board if the caller gives none.
const DefaultLimit = 10

// ContestFilter narrows a board to one contest, or to one team; empty fields narrow nothing.
type ContestFilter struct {
	Execution string
	Team      string
	Best      bool // only each team's best round of a contest
}

// Board lists a tenant's scored rounds by rank: highest score first, of equal scores the earlier first. A limit of 0
// means DefaultLimit. It returns an aggregate.Problem as table.Rows does.
func (s *ContestStore) Board(ctx context.Context, tenant string, f ContestFilter, cursor string,
	limit int) (Page[contest.Board], error) {
	if limit == 0 {
		limit = DefaultLimit
	}
	l := table.List{
		Name: "leader_board", Filter: []string{f.Execution, f.Team,
			fmt.Sprint(f.Best)}, Tenant: tenant, Prefixes: []string{contest.TeamKind.Prefix},
		Index: "GSI1", Partitions: []string{contest.RankAll(tenant)}, OldestFirst: true, Sparse: f.Best ||
			f.Execution != "" && f.Team != "",
	}
	switch {
	case f.Execution != "" && !contest.ValidID(f.Execution):
		return Page[contest.Board]{Items: []contest.Board{}}, nil
	case f.Execution != "":
		l.Index, l.Partitions = "GSI2", []string{contest.RankIn(tenant, f.Execution)}
	case f.Team != "":
		l.Index, l.Partitions = "GSI3", []string{contest.RankOf(tenant, f.Team)}
	}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(b contest.Board) bool {
		return (!f.Best || b.IsBest) && (f.Team == "" || b.TeamID == f.Team)
	})
}

// Statistics sums up a team's rounds in all contests.
type Statistics struct {
	TotalRounds       int     `json:"total_rounds"`
	AvgScore          float64 `json:"avg_score"`
	BestScore         float64 `json:"best_score"`
	TotalInputTokens  int     `json:"total_input_tokens"`
	TotalOutputTokens int     `json:"total_output_tokens"`
}

// TeamStatistics adds up a team's rows of the board, zeros for a team without rounds.
func (s *ContestStore) TeamStatistics(ctx context.Context, tenant, team string) (out Statistics, err error) {
	sum := 0 // of the scores, in millionths
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := s.Board(ctx, tenant, ContestFilter{Team: team}, cursor, MaxPage)
		if err != nil {
			return Statistics{}, err
		}
		for _, b := range page.Items {
			out.TotalRounds++
			sum += contest.Millionths(b.EvaluationScore)
			out.BestScore = max(out.BestScore, b.EvaluationScore)
			out.TotalInputTokens += int(b.UsageInfo.InputTokens)
			out.TotalOutputTokens += int(b.UsageInfo.OutputTokens)
		}
		cursor = page.Next
	}
	if out.TotalRounds > 0 {
		out.AvgScore = float64(sum) / float64(out.TotalRounds) / 1e6
	}
	return out, nil
}

// LoadRoundHistory returns what the members of a team submitted in a round, and the messages of that round. If the
// round doesn't exist it returns nil without an error.
func (s *ContestStore) LoadRoundHistory(ctx context.Context, tenant, execution, team string,
	number int) (*contest.MemberSubmissionsRecord, []contest.ModelMessage, error) {
	none := []contest.ModelMessage{}
	if !contest.ValidID(execution) || number < 1 || number > contest.MaxRounds {
		return nil, none, nil
	}
	var r contest.Round
	err := s.KindStore.RowAt(ctx, Place{Ref: contest.TeamRef(tenant, execution, team), Key: contest.RoundKey(number)}, &r)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, none, nil
	}
	if err != nil {
		return nil, none, err
	}
	ref := contest.Ref(tenant, execution)
	var record contest.MemberSubmissionsRecord
	if err := s.open(ctx, ref, r.MemberSubmissionsRecord, &record); err != nil {
		return nil, none, err
	}
	messages := none
	err = s.open(ctx, ref, r.MessageHistory, &messages)
	return &record, messages, err
}

// Summary returns a contest's execution_summary with the complete results of its teams. It returns
// aggregate.ErrNotFound before the contest has ended.
func (s *ContestStore) Summary(ctx context.Context, tenant, execution string) (out ExecutionSummary, err error) {
	ref := contest.Ref(tenant, execution)
	var x contest.Summary
	if err := s.KindStore.RowAt(ctx, Place{Ref: ref, Key: x.Key()}, &x); err != nil {
		return out, err
	}
	out.Summary = x
	err = s.open(ctx, ref, x.TeamResults, &out.TeamResults)
	return out, err
}

// Submission returns a team's best round if its text has the given hash. Otherwise it returns aggregate.ErrNotFound.
func (s *ContestStore) Submission(ctx context.Context, tenant, execution, team, hash string) (r contest.RoundResult,
	err error) {
	x, err := s.Summary(ctx, tenant, execution)
	if err != nil {
		return r, fmt.Errorf("read what a contest came to: %w", err)
	}
	for _, r := range x.TeamResults {
		if r.TeamID == team && aggregate.HashOf(r.SubmissionContent) == hash {
			return r, nil
		}
	}
	return r, fmt.Errorf("the contest has no such submission of that team: %w", aggregate.ErrNotFound)
}

// Contests lists a tenant's contests, newest first.
func (s *ContestStore) Contests(ctx context.Context, tenant, cursor string, limit int) (Page[contest.Contest], error) {
	l := table.List{Name: "contests", Tenant: tenant, Prefixes: []string{contest.Kind.Prefix}, Index: "GSI1",
		Partitions: []string{contest.All(tenant)}}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(contest.Contest) bool { return true })
}

// ExecutionSummary is a row of execution_summary with the complete results of the teams.
type ExecutionSummary struct {
	contest.Summary
	TeamResults []contest.RoundResult `json:"team_results"`
}

// spend saves a usage row of a team.
func (s *ContestStore) spend(ctx context.Context, team aggregate.Ref, use *aggregate.Use) error {
	w := &contest.Work{Head: contest.TeamHead{Head: aggregate.Head{TenantID: team.Tenant}, WorkID: team.ID}}
	_, err := s.Teams.Commit(ctx, w, aggregate.Change{Rows: []aggregate.Row{use}, Now: use.CreatedAt})
	return err
}
