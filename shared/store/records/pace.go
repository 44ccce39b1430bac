package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

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
// A budget may share the row of another, so that calls of both are taken with one write. It costs one unit while the
// row is below 1 KiB, with cards in up to five channels, and two in a workspace that uses more; a card's own row takes
// two. A limit of ten calls in a sixth of a minute, instead of fifty in a minute, keeps the row small.
type Budget struct {
	Workspace string
	Name      string // Slack's method
	In        string // name of the budget whose row it shares; empty: it has its own
	Prefix    string // of its attributes in that row
	Calls     int    // 1 to MaxPaceCalls
	Window    time.Duration
}

func (b Budget) key() (table.Item, error) {
	name := cmp.Or(b.In, b.Name)
	if !table.KeyPart(b.Workspace) || name == "" || len(name) > 128 || b.Calls < 1 || b.Calls > MaxPaceCalls ||
		b.Window <= 0 || (b.In == "") != (b.Prefix == "") {
		return nil, fmt.Errorf("budget %.40q of %.40q: %w", b.Name, b.Workspace, aggregate.ErrNotFound)
	}
	return table.Key("PACE#"+b.Workspace, name), nil
}

// call is the attribute with the time of the nth last call.
func (b Budget) call(n int) string { return attribute(cmp.Or(b.Prefix, "call"), strconv.Itoa(n)) }

// held is the attribute with the time until which Slack refuses calls.
func (b Budget) held() string { return attribute(b.Prefix, "held_until") }

// line is the attribute with the end of the queue of those who must leave spare calls.
func (b Budget) line(spare int) string { return attribute(b.Prefix, "line_"+strconv.Itoa(spare)) }

func attribute(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "_" + name
}

// Take is a number of calls of a budget, after which Spare calls must remain. With N 0 one more call must remain, and
// none is taken.
type Take struct {
	From     Budget
	N, Spare int
	// InTurn: not before those who joined the line of this Spare earlier. Place is what JoinLine gave; zero: none.
	InTurn bool
	Place  time.Time
}

// placeLasts is how long after a place in a line its holder may still come: the queue counts in seconds.
const placeLasts = 3 * time.Second

// served is the attribute of the place in a line whose holder took a call last.
func (b Budget) served(spare int) string { return attribute(b.Prefix, "served_"+strconv.Itoa(spare)) }

// inTurn returns the condition of a take in its turn: whoever was before it in the line has been served, or comes no
// more.
func (t Take) inTurn(e *table.Expression, now time.Time) string {
	line, served, gone := t.From.line(t.Spare), t.From.served(t.Spare), now.Add(-placeLasts)
	free := []string{e.Lacks(line), e.Is(line, "<", gone.UnixMilli()),
		fmt.Sprintf("%s <= %s", e.Name(line), e.Name(served))}
	if place := t.Place; !place.IsZero() && !now.Before(place) {
		e.Set(served, place.UnixMilli())
		free = append(free, e.Is(served, ">=", max(place.UnixMilli()-t.From.apart(t.Spare), 0)))
		if place.Before(gone) {
			free = append(free, e.Is(line, ">", 0))
		}
	}
	return table.AnyOf(free...)
}

// apart is how far apart the places in a line are, in milliseconds.
func (b Budget) apart(spare int) int64 {
	return (b.Window / time.Duration(max(1, b.Calls-spare))).Milliseconds()
}

// last is the attribute of the earliest call that must be out of the window.
func (t Take) last() string { return t.From.call(max(0, t.From.Calls-max(1, t.N)-t.Spare)) }

// Short says that a budget has too few calls left, and when to try again.
type Short struct {
	Take
	Until time.Time
}

// TakePace takes one call of a budget if spare calls remain after it. It returns the zero time if it did, else the time
// at which to try again.
func (s Notes) TakePace(ctx context.Context, b Budget, spare int, now time.Time) (time.Time, error) {
	short, err := s.TakeCalls(ctx, now, Take{From: b, N: 1, Spare: spare})
	return short.Until, err
}

// TakeCalls takes calls of budgets in the same row, all or none. It returns the zero Short if it did, else the budget
// that has calls left last.
func (s Notes) TakeCalls(ctx context.Context, now time.Time, takes ...Take) (Short, error) {
	k, err := takes[0].From.key()
	if err != nil {
		return Short{}, err
	}
	e := table.NewExpression()
	var free []string
	for _, t := range takes {
		b := t.From
		for n := b.Calls - 1; n >= t.N && t.N > 0; n-- { // the times of earlier calls move on
			e.Sets = append(e.Sets, fmt.Sprintf("%s = if_not_exists(%s, %s)",
				e.Name(b.call(n)), e.Name(b.call(n-t.N)), e.Value(0)))
		}
		for n := range min(t.N, b.Calls) {
			e.Set(b.call(n), now.UnixMilli())
		}
		free = append(free, table.AnyOf(e.Lacks(b.held()), e.Is(b.held(), "<=", now.UnixMilli())),
			table.AnyOf(e.Lacks(t.last()), e.Is(t.last(), "<=", now.Add(-b.Window).UnixMilli())))
		if t.InTurn {
			free = append(free, t.inTurn(e, now))
		}
	}
	e.Row("pace", now.Add(paceRowsLast))
	it, err := s.t.Update(ctx, k, e, table.All(free...))
	switch {
	case errors.Is(err, table.ErrCondition):
		return shortest(it, takes, now), nil
	case err != nil:
		return Short{}, fmt.Errorf("take a call of %s: %w", takes[0].From.Name, err)
	}
	return Short{}, nil
}

// shortest returns which of the budgets in a row has calls left last.
func shortest(it table.Item, takes []Take, now time.Time) (out Short) {
	for _, t := range takes {
		free := time.UnixMilli(int64(table.IntOf(it, t.last()))).Add(t.From.Window)
		if held := time.UnixMilli(int64(table.IntOf(it, t.From.held()))); held.After(free) {
			free = held
		}
		if free.After(now) && free.After(out.Until) {
			out = Short{t, free}
		}
	}
	if out.Until.IsZero() { // freed between the write and its answer
		out = Short{takes[0], now}
		if takes[0].InTurn { // others wait
			out.Until = now.Add(time.Second)
		}
	}
	return out
}

// JoinLine reserves the next time, not before now, for a call that must leave spare calls of a budget. Each value of
// spare has a queue of its own. Reserved times are as far apart as the budget allows. They are hints: TakePace still
// decides.
func (s Notes) JoinLine(ctx context.Context, b Budget, spare int, now time.Time) (time.Time, error) {
	k, err := b.key()
	if err != nil {
		return time.Time{}, err
	}
	line := b.line(spare)
	apart := b.apart(spare)
	for range 5 {
		for _, long := range []bool{true, false} {
			e := table.NewExpression()
			var free string
			if long {
				e.Sets = append(e.Sets, fmt.Sprintf("%s = %s + %s", e.Name(line), e.Name(line), e.Value(apart)))
				if free = e.Is(line, ">", now.UnixMilli()); spare == 0 { // its last may still come
					free = table.AnyOf(free, table.Both(e.Is(line, ">", now.Add(-placeLasts).UnixMilli()),
						fmt.Sprintf("%s > %s", e.Name(line), e.Name(b.served(spare)))))
				}
			} else {
				e.Set(line, now.UnixMilli()+apart)
				over := e.Is(line, "<=", now.UnixMilli())
				if spare == 0 { // nobody is before it
					e.Set(b.served(spare), now.UnixMilli())
					over = table.AnyOf(e.Is(line, "<=", now.Add(-placeLasts).UnixMilli()),
						table.Both(over, fmt.Sprintf("%s <= %s", e.Name(line), e.Name(b.served(spare)))))
				}
				free = table.AnyOf(e.Lacks(line), over)
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

// HoldPace records that Slack refuses calls of a budget until a time. A later recorded time is not changed.
func (s Notes) HoldPace(ctx context.Context, b Budget, until time.Time) error {
	k, err := b.key()
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set(b.held(), until.UnixMilli())
	e.Row("pace", until.Add(paceRowsLast))
	longer := table.AnyOf(e.Lacks(b.held()), e.Is(b.held(), "<", until.UnixMilli()))
	_, err = s.t.Update(ctx, k, e, &longer)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "hold %s", b.Name)
}
