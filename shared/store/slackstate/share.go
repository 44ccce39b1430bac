package slackstate

import (
	"context"
	"slices"
	"time"

	"ringi/shared/store/table"
)

// Share is a part of the budgets in a row, Budget.Share calls in any Window of each, that one process has for itself
// until a time. It makes them without a write. All others leave it these calls until a Window after that time, so that
// there are never more than Calls in any Window, whoever makes them.
type Share struct {
	Of    []Take // the budgets, and how many of their calls must remain in the row for others when the share is taken
	By    string // an id that only the holder has, and only as long as it knows which calls it has made
	Until time.Time
}

const (
	lentTo = "lent_to"
	// lentUntil is the attribute with the time until which calls of a share may be in a window.
	lentUntil = "lent_until"
)

// TakeShare takes calls as TakeCalls does, and a share with them, or extends it. It returns false and takes nothing if
// another holder has a share, or if too few calls remain.
func (s Notes) TakeShare(ctx context.Context, now time.Time, share Share, takes ...Take) (bool, error) {
	e := table.NewExpression()
	free := []string{table.AnyOf(e.Lacks(lentUntil), e.Is(lentUntil, "<=", now.UnixMilli()), e.Is(lentTo, "=", share.By))}
	takes = slices.Clone(takes)
	window := time.Duration(0)
	for _, of := range share.Of {
		i := slices.IndexFunc(takes, func(t Take) bool { return t.From == of.From })
		if i < 0 {
			i, takes = len(takes), append(takes, Take{From: of.From})
		}
		t := &takes[i]
		if t.Spare = max(t.Spare, of.Spare, of.From.Share); max(1, t.N)+t.Spare > of.From.Calls {
			return false, nil
		}
		window = max(window, of.From.Window)
	}
	e.Set(lentTo, share.By)
	e.Set(lentUntil, share.Until.Add(window).UnixMilli())
	short, err := s.take(ctx, now, e, free, takes)
	return err == nil && short.Until.IsZero(), err
}

// seen returns what a row says of the share: until when Slack refuses its calls, and when it may be taken.
func (x Share) seen(it table.Item) (held, free time.Time) {
	if table.TextOf(it, lentTo) != x.By {
		free = timeOf(it, lentUntil)
	}
	for _, t := range x.Of {
		held = latest(held, timeOf(it, t.From.held()))
		free = latest(free, t.free(it))
	}
	return held, free
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// beside returns what is taken while somebody has a share: what must remain is more by the share, but never more than
// half of the budget, so that a share stops nobody while little is used.
func (t Take) beside() (out Take, fits bool) {
	t.Spare = max(t.Spare, min(t.Spare+t.From.Share, t.From.Calls/2))
	return t, max(1, t.N)+t.Spare <= t.From.Calls
}

// besideShare is the condition that nobody has a share, or enough calls are left beside it.
func (t Take) besideShare(e *table.Expression, now time.Time) string {
	ways := []string{e.Lacks(lentUntil), e.Is(lentUntil, "<=", now.UnixMilli())}
	if less, fits := t.beside(); fits {
		ways = append(ways, less.left(e, now)...)
	}
	return table.AnyOf(ways...)
}

// freeBesideShare returns when nobody has a share, or enough calls are left beside it.
func (t Take) freeBesideShare(it table.Item) time.Time {
	lent := timeOf(it, lentUntil)
	if less, fits := t.beside(); fits && less.free(it).Before(lent) {
		return less.free(it)
	}
	return lent
}
