package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/clock"
	"ringi/shared/store/table"
)

const (
	// MaxInline is the largest configuration, or results of all teams, that is stored in a row, in bytes.
	MaxInline = 64 << 10
	// MaxRoundInline is MaxInline for each of a round's three texts, so that a team's ten rounds fit in one page of a
	// query.
	MaxRoundInline = 16 << 10
)

// Values stores values that are too large for a row.
type Values interface {
	KeepContest(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// ContestStore reads and writes contests and the work of their teams.
type ContestStore struct {
	KindStore[*contest.Aggregate]
	Teams  KindStore[*contest.Work]
	Values Values
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
}

// ContestsOf is the store of the contests in s, whose kinds must include contest.Kind and contest.TeamKind.
func ContestsOf(s *Store, v Values) *ContestStore {
	return &ContestStore{
		KindStore: KindStore[*contest.Aggregate]{Store: s}, Teams: KindStore[*contest.Work]{Store: s},
		Values: v, Now: time.Now, Sleep: clock.Sleep,
	}
}

// Over reports whether the teams of a contest must not call models any more in this run. It makes one small read, so
// that it can be asked before each call.
func (s *ContestStore) Over(ctx context.Context, ref aggregate.Ref, run int) (bool, error) {
	h, err := ownHead[contest.Head](ctx, s.KindStore.Store, ref)
	return err == nil && (h.OverAt != nil || h.Run != run), err
}

// Spent returns what a team's calls have cost so far. It reads nothing else, so that it can be asked before each call.
func (s *ContestStore) Spent(ctx context.Context, team aggregate.Ref) (sum aggregate.MicroUSD, err error) {
	uses, err := s.KindStore.Uses(ctx, team)
	for _, u := range uses {
		sum += u.Cost
	}
	return sum, err
}

// Enter returns the work of the contest's team at a place, counted from 1. The team's time starts at the first call.
func (s *ContestStore) Enter(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return nil, err
	}
	ref := contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID)
	w, err := s.Teams.Load(ctx, ref)
	if !errors.Is(err, aggregate.ErrNotFound) {
		return w, err
	}
	_, begin, err := a.BeginTeam(place, s.Now())
	if err != nil {
		return nil, err
	}
	if err := s.Teams.Create(ctx, ref, begin); err != nil && !errors.Is(err, aggregate.ErrExists) {
		return nil, err
	}
	return s.Teams.Load(ctx, ref)
}

// End stops a team. Its result is its best scored round; without one it has failed. A stopped team is not changed.
func (s *ContestStore) End(ctx context.Context, team aggregate.Ref, exit contest.ExitReason, why aggregate.Reason) (
	*contest.Work, error) {
	return s.Teams.Decide(ctx, team, func(w *contest.Work) (aggregate.Change, error) {
		return w.End(exit, why, "", s.Now())
	})
}

// EndAt is End for a caller who has loaded the team as w. It returns aggregate.ErrMoved if the team has scored another
// round since.
func (s *ContestStore) EndAt(ctx context.Context, w *contest.Work, exit contest.ExitReason, why aggregate.Reason,
	detail string) (*contest.Work, error) {
	return s.Teams.Decide(ctx, w.Ref(), func(is *contest.Work) (aggregate.Change, error) {
		if len(is.Rounds) > len(w.Rounds) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return is.End(exit, why, detail, s.Now())
	})
}

// Settle closes a contest: it stops running teams, marks teams that never began as failed, and writes the summary. A
// closed contest is not changed. It returns aggregate.ErrSuperseded when the contest is in another run.
func (s *ContestStore) Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error) {
	a, err := s.KindStore.Load(ctx, ref)
	if err != nil || a.Contest == nil || a.Contest.SettledAt != nil {
		return a, err
	}
	if a.Head.Run != run {
		return nil, fmt.Errorf("settle %s: %w", ref, aggregate.ErrSuperseded)
	}
	var all []contest.TeamResult
	results := []json.RawMessage{}
	for i := range a.Contest.Teams {
		w, err := s.stopped(ctx, a, i+1)
		if err != nil {
			return nil, fmt.Errorf("settle team %d of %s: %w", i+1, ref, err)
		}
		standing, err := w.Result()
		if err != nil {
			return nil, err
		}
		all = append(all, standing)
		if standing.Best == nil {
			continue
		}
		r, err := s.Result(ctx, w, standing.Best.RoundNumber)
		if err != nil {
			return nil, err
		}
		text, err := encode(r)
		if err != nil {
			return nil, err
		}
		results = append(results, text)
	}
	text, err := encode(results)
	if err != nil {
		return nil, err
	}
	kept, err := s.Values.KeepContest(ctx, ref, text, MaxInline)
	if err != nil {
		return nil, err
	}
	after, err := s.KindStore.Decide(ctx, ref, func(a *contest.Aggregate) (aggregate.Change,
		error) {
		return a.Close(run, all, kept, s.Now())
	})
	if errors.Is(err, aggregate.ErrNotDue) { // another caller was faster
		return s.KindStore.Load(ctx, ref)
	}
	return after, err
}

// stopped stops a team and returns its work.
func (s *ContestStore) stopped(ctx context.Context, a *contest.Aggregate, place int) (*contest.Work, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return nil, err
	}
	why := contest.ReasonUnfinished
	w, err := s.Teams.Load(ctx, contest.TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID))
	if errors.Is(err, aggregate.ErrNotFound) { // it is entered only to be ended, so that a later Enter finds it ended
		why = contest.ReasonNeverBegan
		w, err = s.Enter(ctx, a, place)
	}
	if err != nil || w.Team == nil || w.Team.Status != contest.TeamRunning {
		return w, err
	}
	at := s.Now()
	if a.Contest.Status == contest.Cancelled && a.Head.OverAt != nil { // a later deadline ended nothing
		at = *a.Head.OverAt
	}
	exit := w.Next(at)
	switch {
	case exit != "":
		why = contest.ReasonOf(exit)
	case a.Contest.Status == contest.Cancelled:
		exit, why = contest.PartialFailure, contest.ReasonCancelled
	default:
		exit = contest.PartialFailure
	}
	return s.End(ctx, w.Ref(), exit, why)
}

// DefaultLimit is the page size of a board if the caller gives none.
const DefaultLimit = 10

// Board lists a tenant's scored rounds, of one team unless team is "", by rank: highest score first, of equal scores
// the earlier first. A limit of 0 means DefaultLimit. It returns an aggregate.Problem as table.Rows does.
func (s *ContestStore) Board(ctx context.Context, tenant, team, cursor string, limit int) (Page[contest.Board], error) {
	if limit == 0 {
		limit = DefaultLimit
	}
	l := table.List{
		Name: "leader_board", Filter: []string{team}, Tenant: tenant,
		Prefixes: []string{contest.TeamKind.Prefix}, Index: "GSI1", Partitions: []string{contest.RankAll(tenant)},
		OldestFirst: true,
	}
	if team != "" {
		l.Index, l.Partitions = "GSI3", []string{contest.RankOf(tenant, team)}
	}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(b contest.Board) bool {
		return team == "" || b.TeamID == team
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
		page, err := s.Board(ctx, tenant, team, cursor, MaxPage)
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
