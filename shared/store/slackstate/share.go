package slackstate

import (
	"context"
	"slices"
	"time"

	"ringi/shared/store/table"
)

// Share is a part of a budget, its Budget.Share calls in any Window, that one process has for itself until a time. It
// makes them without a write. All others leave it these calls until a Window after that time, so that there are never
// more than Calls in any Window, whoever makes them.
type Share struct {
	Of    Budget
	By    string // an id that only the holder has, and only as long as it knows which calls it has made
	Until time.Time
	Spare int // calls of the budget that must remain in the row for others
}

func (b Budget) lentTo() string { return attribute(b.Prefix, "lent_to") }

// lentUntil is the attribute with the time until which calls of a share may be in the window.
func (b Budget) lentUntil() string { return attribute(b.Prefix, "lent_until") }

// TakeShare takes calls as TakeCalls does, and a share with them, or extends it. It returns false and takes nothing if
// another holder has a share, or if too few calls remain.
func (s Notes) TakeShare(ctx context.Context, now time.Time, share Share, takes ...Take) (bool, error) {
	e, b := table.NewExpression(), share.Of
	free := []string{table.AnyOf(e.Lacks(b.lentUntil()), e.Is(b.lentUntil(), "<=", now.UnixMilli()),
		e.Is(b.lentTo(), "=", share.By))}
	takes = slices.Clone(takes)
	i := slices.IndexFunc(takes, func(t Take) bool { return t.From == b })
	if i < 0 {
		i, takes = len(takes), append(takes, Take{From: b})
	}
	t := &takes[i]
	if t.Spare = max(t.Spare, share.spare()); max(1, t.N)+t.Spare > b.Calls {
		return false, nil
	}
	e.Set(b.lentTo(), share.By)
	e.Set(b.lentUntil(), share.Until.Add(b.Window).UnixMilli())
	short, err := s.take(ctx, now, e, free, takes)
	return err == nil && short.Until.IsZero(), err
}

// spare is never less than what the holder may take.
func (x Share) spare() int { return max(x.Spare, x.Of.Share) }

// free returns when the share may be taken.
func (x Share) free(it table.Item) time.Time {
	free := Take{From: x.Of, Spare: x.spare()}.free(it)
	if lent := timeOf(it, x.Of.lentUntil()); lent.After(free) && table.TextOf(it, x.Of.lentTo()) != x.By {
		free = lent
	}
	return free
}

// beside returns what is taken while somebody has a share: what must remain is more by the share, but never more than
// half of the budget, so that a share stops nobody while little is used.
func (t Take) beside() (out Take, fits bool) {
	t.Spare = max(t.Spare, min(t.Spare+t.From.Share, t.From.Calls/2))
	return t, max(1, t.N)+t.Spare <= t.From.Calls
}

// besideShare is the condition that nobody has a share, or enough calls are left beside it.
func (t Take) besideShare(e *table.Expression, now time.Time) string {
	lent := t.From.lentUntil()
	ways := []string{e.Lacks(lent), e.Is(lent, "<=", now.UnixMilli())}
	if less, fits := t.beside(); fits {
		ways = append(ways, less.left(e, now)...)
	}
	return table.AnyOf(ways...)
}

// freeBesideShare returns when nobody has a share, or enough calls are left beside it.
func (t Take) freeBesideShare(it table.Item) time.Time {
	lent := timeOf(it, t.From.lentUntil())
	if less, fits := t.beside(); fits && less.free(it).Before(lent) {
		return less.free(it)
	}
	return lent
}
