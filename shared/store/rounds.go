package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/store/table"
)

// waits are the pauses between the tries of a write. After the last pause there is one more try.
var waits = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}

// tryFor is how long one try may take.
const tryFor = 5 * time.Second

// Played is a scored round to be saved.
type Played struct {
	contest.ScoredRound
	Once bool // a round that was saved by another invocation stays: that invocation has continued from it
}

// SaveRound writes a team's scored round in one transaction: history, submissions, the board's row and the team's best
// round. It retries a failed write after 1, 2 and 4 seconds; after the fourth try it returns
// *contest.DatabaseWriteError. Errors of contest.Work.ScoreRound for invalid rounds are returned at once.
func (s *ContestStore) SaveRound(ctx context.Context, team aggregate.Ref, p Played) (*contest.Work, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	var w *contest.Work
	tries := 0
	err := s.tried(ctx, func() (err error) {
		tries++
		w, err = s.saveRound(ctx, team, p)
		return err
	}, "execution_id", p.Result.ExecutionID, "team_id", p.Result.TeamID, "round_number", p.Result.RoundNumber)
	if err == nil || tries <= len(waits) || lasting(err) || ctx.Err() != nil {
		return w, err
	}
	slog.ErrorContext(ctx, "the round is not saved", "execution_id", p.Result.ExecutionID, "err", err)
	return nil, &contest.DatabaseWriteError{What: fmt.Sprintf("round %d of team %q of %s", p.Result.RoundNumber,
		p.Result.TeamID, p.Result.ExecutionID), Attempts: tries, Err: err}
}

// tried writes, and again after each of waits while that may help. about is what logs say of it.
func (s *ContestStore) tried(ctx context.Context, write func() error, about ...any) error {
	for try := 0; ; try++ {
		err := write()
		if err == nil || lasting(err) || try == len(waits) || ctx.Err() != nil {
			return err
		}
		slog.WarnContext(ctx, "a write of a contest failed", append(about, "again_in", waits[try].String(), "err", err)...)
		if s.Sleep(ctx, waits[try]) != nil {
			return err
		}
	}
}

// lasting reports whether a retry can't help.
func lasting(err error) bool {
	return errors.As(err, new(aggregate.Problem)) || errors.As(err, new(contest.ScoreError)) ||
		errors.Is(err, aggregate.ErrMoved) || errors.Is(err, aggregate.ErrNotFound)
}

func (s *ContestStore) saveRound(ctx context.Context, team aggregate.Ref, p Played) (*contest.Work, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	scored := contest.Scored{ScoredRound: p.ScoredRound}
	of := contest.Ref(team.Tenant, p.Result.ExecutionID)
	for _, part := range []struct {
		value any
		into  *aggregate.Blob
	}{{p.Result.SubmissionContent, &scored.Kept.Content}, {p.Record, &scored.Kept.Record},
		{append([]contest.ModelMessage{}, p.Messages...), &scored.Kept.Messages}} {
		text, err := encode(part.value)
		if err != nil {
			return nil, err
		}
		if *part.into, err = s.Values.KeepContest(ctx, of, text, MaxRoundInline); err != nil {
			return nil, err
		}
	}
	return s.Teams.Decide(ctx, team, func(w *contest.Work) (aggregate.Change, error) {
		if was := aggregate.Find(w.Rounds, contest.RoundKey(p.Result.RoundNumber)); p.Once && was != nil &&
			!was.CompletedAt.Equal(p.Result.CompletedAt) {
			return aggregate.Change{}, fmt.Errorf("round %d was scored by another: %w", p.Result.RoundNumber, aggregate.ErrMoved)
		}
		return w.ScoreRound(scored, s.Now())
	})
}

// encode returns v as JSON without HTML escapes.
func encode(v any) (json.RawMessage, error) {
	text, err := aggregate.Written(v)
	if err != nil {
		return nil, aggregate.Problem{Field: "the round", Code: "must be JSON: " + err.Error()}
	}
	return text, nil
}

func (s *ContestStore) open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob, into any) error {
	text, err := s.Values.Open(ctx, ref, b)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("open what %s keeps: %w", ref, err)
	}
	return nil
}

// Result returns the complete scored round of a team. It returns aggregate.ErrNotFound for a round that was not scored.
func (s *ContestStore) Result(ctx context.Context, w *contest.Work, number int) (contest.RoundResult, error) {
	r := aggregate.Find(w.Rounds, contest.RoundKey(number))
	if r == nil {
		return contest.RoundResult{}, fmt.Errorf("round %d of %s: %w", number, w.Ref(), aggregate.ErrNotFound)
	}
	var content string
	err := s.open(ctx, contest.Ref(w.Head.TenantID, r.ExecutionID), r.SubmissionContent, &content)
	return contest.RoundResult{
		ExecutionID: r.ExecutionID, TeamID: r.TeamID, TeamName: r.TeamName, RoundNumber: r.RoundNumber,
		SubmissionContent: content,
		EvaluationScore:   r.EvaluationScore, EvaluationFeedback: r.EvaluationFeedback, Usage: r.Usage,
		ExecutionTimeSeconds: r.ExecutionTimeSeconds, CompletedAt: r.CompletedAt,
	}, err
}

// History returns all scored rounds of a team in order.
func (s *ContestStore) History(ctx context.Context, w *contest.Work) ([]contest.RoundResult, error) {
	out := []contest.RoundResult{}
	for _, r := range w.Rounds {
		x, err := s.Result(ctx, w, r.RoundNumber)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// turnsLast is how long a model's answer is kept so that an interrupted round can continue. The bucket keeps an answer
// that is too large for a row one day longer.
const turnsLast = 7 * 24 * time.Hour

// Kept saves the answers that models gave a team; it implements round.Kept.
type Kept struct {
	Store     *ContestStore
	Team      aggregate.Ref
	Execution string
	ChargedTo string // id of the aggregate that the contest is for and whose usage includes the contest's; empty: none
}

// Turn returns the answer that was saved under a key.
func (k Kept) Turn(ctx context.Context, key string) (answer []byte, ok bool, err error) {
	t, err := listedAt[contest.Turn](ctx, k.Store.KindStore.Store, k.Team.Tenant, contest.TurnsList, k.Team.ID, key)
	if err != nil {
		return nil, false, table.Unless(err, aggregate.ErrNotFound)
	}
	answer, err = k.Store.Values.Open(ctx, contest.Ref(k.Team.Tenant, k.Execution), t.Answer)
	return answer, err == nil, err
}

// Keep saves an answer's cost, and then the answer unless one exists under its key. It retries failed writes as
// SaveRound does until ctx ends: the cost is never lost, but an answer that is not saved must be paid for again. If
// answer is nil it saves only the cost. It returns aggregate.ErrMoved if another invocation has saved its answer: the
// round must continue from that one.
func (k Kept) Keep(ctx context.Context, key string, answer []byte, spent aggregate.Usage) error {
	return k.Store.tried(ctx, func() error { return k.keep(ctx, key, answer, spent) },
		"execution_id", k.Execution, "key", key)
}

func (k Kept) keep(ctx context.Context, key string, answer []byte, spent aggregate.Usage) error {
	now := k.Store.Now().UTC().Truncate(time.Millisecond)
	if spent.ID != "" {
		use := &aggregate.Use{Usage: spent, Made: contest.TurnsList + key, ChargedTo: k.ChargedTo, CreatedAt: now}
		if err := k.Store.spend(ctx, k.Team, use); err != nil {
			return err
		}
	}
	if answer == nil {
		return nil
	}
	kept, err := k.Store.Values.KeepTurn(ctx, contest.Ref(k.Team.Tenant, k.Execution), answer, MaxInline)
	if err != nil {
		return err
	}
	t := &contest.Turn{Name: key, Answer: kept, CreatedAt: now, DeleteAfter: now.Add(turnsLast).Unix()}
	added, err := k.Store.addTurn(ctx, k.Team, t)
	if err != nil || added {
		return err
	}
	was, _, err := k.Turn(ctx, key)
	if err == nil && !bytes.Equal(was, answer) {
		err = fmt.Errorf("another answer is kept as %s: %w", key, aggregate.ErrMoved)
	}
	return err
}

// addTurn puts a turn into a team's list unless one with its key exists, and reports whether it did.
func (s *ContestStore) addTurn(ctx context.Context, team aggregate.Ref, t *contest.Turn) (added bool, err error) {
	pk, err := listPartition(contest.TurnsList, team.Tenant, team.ID)
	if err != nil {
		return false, err
	}
	e := table.NewExpression()
	err = s.putAt(ctx, pk, t, e, e.Absent())
	if table.ConditionFailed(err) {
		return false, nil
	}
	return err == nil, table.Wrapped(err, "add to %s%s", contest.TurnsList, team.ID)
}
