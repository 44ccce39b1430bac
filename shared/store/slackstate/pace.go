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

// MaxPaceCalls is the most calls that a budget's row remembers.
const MaxPaceCalls = 10

// paceRowsLast is how long a budget's row that nobody uses is kept.
const paceRowsLast = 24 * time.Hour

// Budget is what may be called of a method of Slack's: Calls in any Window, by all functions together. Its row is
// PACE#<workspace>/<name> and holds the times of the last calls and until when Slack said no. Nothing depends on it:
// losing it costs at most a 429.
//
// A call costs one write unit more for it, of a row below 1 KiB, beside the two that
// a card's own row takes. The times of ten calls in a sixth of a minute say the same as
// those of fifty in a minute, and keep the row small.
type Budget struct {
	Workspace string
	Name      string // Slack's method, with what it is limited by behind it, such as a channel
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

// TakePace takes one call of a budget if spare others are left after it. It returns
// the zero time once it is taken, else when there may be one.
func (s Notes) TakePace(ctx context.Context, b Budget, spare int, now time.Time) (time.Time, error) {
	k, err := b.key()
	if err != nil {
		return time.Time{}, err
	}
	nth := max(0, b.Calls-1-spare)
	e := table.NewExpression()
	if b.Calls > 1 { // a budget of one call moves none along
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

// JoinLine reserves the next time, not before now, for a call of a budget that must leave spare others; each value of
// spare has a line of its own. Reserved times are as far apart as such calls may be. Like the budget they are only
// hints.
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

// SparePace is how many calls of a budget are left, as a moment ago.
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

// HoldPace notes that Slack wants no call of a budget before until. A later time stands.
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
