package contest

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// BeginTeam creates a team's rows, which must all be absent, and starts its time limit. It returns ErrNotFound for a
// place that the contest does not have.
func (a *Aggregate) BeginTeam(place int, now time.Time) (aggregate.Ref, aggregate.Change, error) {
	entry, err := a.Entrant(place)
	if err != nil {
		return aggregate.Ref{}, aggregate.Change{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	k, ref := a.Contest, TeamRef(a.Head.TenantID, a.Head.ExecutionID, entry.TeamID)
	deadline := now.Add(time.Duration(k.TeamTimeoutSeconds) * time.Second)
	if k.DeadlineAt.Before(deadline) && k.DeadlineAt.Sub(k.CreatedAt) < time.Duration(k.TeamTimeoutSeconds)*time.Second {
		deadline = k.DeadlineAt // the whole contest has less time than a team
	}
	t := &Team{
		ExecutionID: k.ExecutionID, TeamID: entry.TeamID, TeamName: entry.TeamName, Status: TeamRunning,
		Budget: k.Share, MaxRounds: k.MaxRounds, CreatedAt: now, DeadlineAt: deadline,
	}
	head := TeamHead{Head: aggregate.Head{TenantID: k.TenantID, Run: 1, CreatedAt: now, ChangedAt: now},
		WorkID: ref.ID}
	return ref, aggregate.Change{Head: &head, Rows: []aggregate.Row{t}, Now: now}, nil
}

// Scored is a scored round whose records are stored.
type Scored struct {
	ScoredRound
	Kept struct {
		Content  aggregate.Blob // SubmissionContent of Result, as a JSON text
		Record   aggregate.Blob // MemberSubmissionsRecord
		Messages aggregate.Blob // []ModelMessage
	}
}

// ScoreRound writes a scored round: its row of the history, its row of the board, and which round is now the team's
// best. If the round exists, it is replaced but keeps its id, its team's name and its created_at. It returns ErrMoved
// if the team has ended or the round is not the next, and Check's error for an invalid result.
func (w *Work) ScoreRound(s Scored, now time.Time) (aggregate.Change, error) {
	if err := w.fits(s); err != nil {
		return aggregate.Change{}, err
	}
	c, err := w.begin(now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if w.Team.Status != TeamRunning {
		return aggregate.Change{}, fmt.Errorf("round %d: the team %s: %w", s.Result.RoundNumber, w.Team.Status,
			aggregate.ErrMoved)
	}
	number := s.Result.RoundNumber
	if number < 1 || number > w.Team.Rounds+1 || number > w.Team.MaxRounds {
		return aggregate.Change{}, fmt.Errorf("round %d after %d of %d: %w", number, w.Team.Rounds, w.Team.MaxRounds,
			aggregate.ErrMoved)
	}
	r := w.round(s, c.Now)
	row := r.onBoard(w.Head.TenantID, s.Result.SubmissionContent, aggregate.Find(w.Board, BoardKey(number)))
	c.Put(r)
	c.crown(w.Board, row)
	c.Team.Rounds = max(c.Team.Rounds, number)
	return c.done(), nil
}

// fits checks the result against its limits and the team.
func (w *Work) fits(s Scored) error {
	if err := s.Result.Check(); err != nil {
		return err
	}
	if w.Team == nil {
		return fmt.Errorf("the team's row is not there: %w", aggregate.ErrConflict)
	}
	if s.Result.ExecutionID != w.Team.ExecutionID || s.Result.TeamID != w.Team.TeamID {
		return fmt.Errorf("a round of team %.50q of %.50q: %w", s.Result.TeamID, s.Result.ExecutionID, aggregate.ErrNotFound)
	}
	return nil
}

// round returns the row for a scored round, on the basis of an existing row.
func (w *Work) round(s Scored, now time.Time) *Round {
	x := s.Result
	r := Round{ID: aggregate.Derive(now, "round", x.ExecutionID, x.TeamID, fmt.Sprint(x.RoundNumber)),
		TeamName: w.Team.TeamName, CreatedAt: now}
	if was := aggregate.Find(w.Rounds, RoundKey(x.RoundNumber)); was != nil {
		r = *was
	}
	r.ExecutionID, r.TeamID, r.RoundNumber = x.ExecutionID, x.TeamID, x.RoundNumber
	r.MessageHistory, r.MemberSubmissionsRecord, r.SubmissionContent = s.Kept.Messages, s.Kept.Record, s.Kept.Content
	r.EvaluationScore, r.EvaluationFeedback = x.EvaluationScore, shortened(x.EvaluationFeedback, maxFeedback)
	r.Metrics = make([]MetricScore, len(s.Metrics))
	for i, m := range s.Metrics {
		m.EvaluatorComment = shortened(m.EvaluatorComment, maxFeedback)
		r.Metrics[i] = m
	}
	r.Usage, r.ExecutionTimeSeconds, r.CompletedAt = x.Usage, x.ExecutionTimeSeconds, x.CompletedAt
	if r.Usage.Details == nil {
		r.Usage.Details = map[string]int64{} // so that the JSON has an object
	}
	return &r
}

type teamChange struct {
	aggregate.Change
	Head TeamHead
	Team Team // written by done
}

func (w *Work) begin(now time.Time) (*teamChange, error) {
	if w.Team == nil {
		return nil, fmt.Errorf("the team's row is not there: %w", aggregate.ErrConflict)
	}
	if len(w.Board) != w.Team.Rounds || len(w.Rounds) != w.Team.Rounds {
		return nil, fmt.Errorf("%d rounds and %d rows of the board of %d: %w", len(w.Rounds), len(w.Board), w.Team.Rounds,
			aggregate.ErrConflict)
	}
	c := &teamChange{Head: w.Head, Team: *w.Team}
	c.Now = w.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	return c, nil
}

func (c *teamChange) done() aggregate.Change {
	head, team := c.Head, c.Team
	out := c.Change
	out.Put(&team)
	out.Head = &head
	return out
}

// crown writes a row of the board and moves is_best to the team's best round.
func (c *teamChange) crown(board []*Board, row *Board) {
	all := aggregate.Insert(append([]*Board{}, board...), row)
	number := best(all)
	for _, b := range all {
		is := b.RoundNumber == number
		if is {
			c.Team.BestRound, c.Team.BestScore = number, &b.EvaluationScore
		}
		if b != row && b.IsBest == is {
			continue
		}
		n := *b
		n.IsBest = is
		c.Put(&n)
	}
}

// Next returns why the team must stop at now according to its rows, or "" if it goes on.
func (w *Work) Next(now time.Time) ExitReason {
	t := w.Team
	switch {
	case t == nil || t.Status != TeamRunning:
		return ""
	case t.Rounds >= t.MaxRounds:
		return MaxRoundsReached
	case !now.Before(t.DeadlineAt):
		return TeamTimeout
	case w.Used().Cost >= t.Budget:
		return BudgetExhausted
	}
	return ""
}

// End stops the team. Its status becomes TeamEnded if it has a scored round, else TeamFailed. why and detail describe a
// failure. A team that has already stopped is unchanged.
func (w *Work) End(exit ExitReason, why aggregate.Reason, detail string, now time.Time) (aggregate.Change, error) {
	c, err := w.begin(now)
	if err != nil {
		return aggregate.Change{}, err
	}
	if w.Team.Status != TeamRunning {
		return aggregate.Change{}, nil
	}
	to := TeamFailed
	if w.Best() != nil {
		to = TeamEnded
	}
	c.Team.Status, c.Team.ExitReason, c.Team.Reason, c.Team.Detail, c.Team.EndedAt = to, exit, why,
		shortened(detail, maxDetail), &c.Now
	return c.done(), nil
}
