package slackstate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// MaxPaceCalls is the largest Calls of a budget.
const MaxPaceCalls = 10

// paceRowsLast is how long an unused budget's row is kept.
const paceRowsLast = 24 * time.Hour

// Budget limits calls to a method of Slack: Calls in any Window, for all functions together. Its row
// PACE#<workspace>/<name> holds the times of the last calls, and the time until which Slack refuses calls. Losing the
// row costs at most one 429.
//
// Each call costs one more write unit, because the row is below 1 KiB; a card's own row takes two. A limit of ten calls
// in a sixth of a minute, instead of fifty in a minute, keeps the row small.
type Budget struct {
	Workspace string
	Name      string // Slack's method, followed by its scope, such as a channel
	Calls     int    // 1 to MaxPaceCalls
	Window    time.Duration
}

func (b Budget) key() (table.Item, error) {
	if !table.KeyPart(b.Workspace) || b.Name == "" || len(b.Name) > 128 || b.Calls < 1 || b.Calls > MaxPaceCalls || b.Window <= 0 {
		return nil, fmt.Errorf("budget %.40q of %.40q: %w", b.Name, b.Workspace, aggregate.ErrNotFound)
	}
	return table.Key("PACE#"+b.Workspace, b.Name), nil
}

func callName(n int) string { return "call_" + strconv.Itoa(n) }

// TakePace takes one call of a budget if spare calls remain after it. It returns the zero time if it did, else the time
// at which to try again.
func (s Notes) TakePace(ctx context.Context, b Budget, spare int, now time.Time) (time.Time, error) {
	k, err := b.key()
	if err != nil {
		return time.Time{}, err
	}
	nth := max(0, b.Calls-1-spare)
	e := table.NewExpression()
	if b.Calls > 1 { // the row of a budget of one call has no earlier times
		zero := e.Value(0)
		for n := b.Calls - 1; n > 0; n-- {
			e.Sets = append(e.Sets, fmt.Sprintf("%s = if_not_exists(%s, %s)", e.Name(callName(n)), e.Name(callName(n-1)), zero))
		}
	}
	e.Set(callName(0), now.UnixMilli())
	e.Row("pace", now.Add(paceRowsLast))
	free := table.Both(
		table.AnyOf(e.Lacks("held_until"), e.Is("held_until", "<=", now.UnixMilli())),
		table.AnyOf(e.Lacks(callName(nth)), e.Is(callName(nth), "<=", now.Add(-b.Window).UnixMilli())),
	)
	it, err := s.t.Update(ctx, k, e, &free)
	switch {
	case errors.Is(err, table.ErrCondition):
		free := time.UnixMilli(int64(table.IntOf(it, callName(nth)))).Add(b.Window)
		if held := time.UnixMilli(int64(table.IntOf(it, "held_until"))); held.After(free) {
			return held, nil
		}
		return free, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("take a call of %s: %w", b.Name, err)
	}
	return time.Time{}, nil
}

// JoinLine reserves the next time, not before now, for a call that must leave spare calls of a budget. Each value of
// spare has a queue of its own. Reserved times are as far apart as the budget allows. They are hints: TakePace still
// decides.
func (s Notes) JoinLine(ctx context.Context, b Budget, spare int, now time.Time) (time.Time, error) {
	k, err := b.key()
	if err != nil {
		return time.Time{}, err
	}
	line := "line_" + strconv.Itoa(spare)
	apart := (b.Window / time.Duration(max(1, b.Calls-spare))).Milliseconds()
	for range 5 {
		for _, long := range []bool{true, false} {
			e := table.NewExpression()
			var free string
			if long {
				e.Sets = append(e.Sets, fmt.Sprintf("%s = %s + %s", e.Name(line), e.Name(line), e.Value(apart)))
				free = e.Is(line, ">", now.UnixMilli())
			} else {
				e.Set(line, now.UnixMilli()+apart)
				free = table.AnyOf(e.Lacks(line), e.Is(line, "<=", now.UnixMilli()))
			}
			e.Row("pace", now.Add(paceRowsLast))
			it, err := s.t.Update(ctx, k, e, &free)
			switch {
			case err == nil:
				return time.UnixMilli(int64(table.IntOf(it, line))).UTC(), nil
			case !errors.Is(err, table.ErrCondition) && !errors.Is(err, aggregate.ErrNotFound):
				return time.Time{}, fmt.Errorf("join the line of %s: %w", b.Name, err)
			}
		}
	}
	return time.Time{}, fmt.Errorf("join the line of %s: %w", b.Name, aggregate.ErrConflict)
}

// SparePace returns how many calls of a budget are left. The value may be slightly stale.
func (s Notes) SparePace(ctx context.Context, b Budget, now time.Time) (int, error) {
	k, err := b.key()
	if err != nil {
		return 0, err
	}
	out, err := s.t.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.t.Name, Key: k, ConsistentRead: aws.Bool(false)})
	if err != nil {
		return 0, fmt.Errorf("read the budget of %s: %w", b.Name, err)
	}
	if int64(table.IntOf(out.Item, "held_until")) > now.UnixMilli() {
		return 0, nil
	}
	left := 0
	for n := range b.Calls {
		if int64(table.IntOf(out.Item, callName(n))) <= now.Add(-b.Window).UnixMilli() {
			left++
		}
	}
	return left, nil
}

// HoldPace records that Slack refuses calls of a budget until a time. A later recorded time is not changed.
func (s Notes) HoldPace(ctx context.Context, b Budget, until time.Time) error {
	k, err := b.key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("held_until", until.UnixMilli())
	e.Row("pace", until.Add(paceRowsLast))
	longer := table.AnyOf(e.Lacks("held_until"), e.Is("held_until", "<", until.UnixMilli()))
	_, err = s.t.Update(ctx, k, e, &longer)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "hold %s", b.Name)
}
