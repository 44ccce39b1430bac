package store

import (
	"context"
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// asRead is the condition that nobody requested a redraw since the head was read.
func asRead(e *table.Expression, h aggregate.Head) string {
	if h.Redraws == 0 {
		return e.Lacks("redraws")
	}
	return e.Is("redraws", "=", h.Redraws)
}

// allShown records on a card's row what Shown records on the head, unless h is nil.
func allShown(e *table.Expression, h *aggregate.Head) {
	if h != nil {
		e.Set("shown_rev", h.Rev)
		e.Set("shown_redraws", h.Redraws)
	}
}

// Shown records that all cards show the aggregate as of the given head. It does nothing if a later revision was
// recorded, or if a redraw was requested since the head was read: a redraw may be due to something outside the rows,
// such as the settings.
func (s *Store) Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error {
	e := table.NewExpression()
	e.Set("shown_rev", h.Rev)
	e.Remove("draw_at")
	later := table.All(e.Exists(), asRead(e, h), table.AnyOf(e.Lacks("shown_rev"), e.Is("shown_rev", "<=", h.Rev)))
	err := s.updateHead(ctx, "note what is shown", ref, e, later)
	if errors.Is(err, table.ErrCondition) {
		return nil
	}
	return err
}

// Redraw requests that all cards of an aggregate are compared with its rows again. The sweeper also does this for ended
// aggregates. An earlier due time is not changed.
func (s *Store) Redraw(ctx context.Context, ref aggregate.Ref) error {
	return s.dueBy(ctx, "redraw", ref, s.t.Now().Add(dueAfterCommit), time.Time{}, func(e *table.Expression) {
		e.Remove("shown_rev")
		e.Add("redraws", 1)
	})
}

// DrawAt saves when Slack's rate limit lets an aggregate's cards be drawn. With due the sweeper redraws them at that
// time.
func (s *Store) DrawAt(ctx context.Context, ref aggregate.Ref, at time.Time, due bool) error {
	write := func(e *table.Expression) { e.Set("draw_at", at) }
	if due {
		return s.dueBy(ctx, "keep a place in line", ref, at, time.Time{}, write)
	}
	e := table.NewExpression()
	write(e)
	return s.updateHead(ctx, "keep a place in line", ref, e, table.All(e.Exists()))
}

// dueBy writes bookkeeping of a head and makes it due at a time. An existing due time between passed and at is not
// changed.
func (s *Store) dueBy(ctx context.Context, what string, ref aggregate.Ref, at, passed time.Time, write func(*table.Expression)) error {
	e := table.NewExpression()
	write(e)
	setDue(e, ref.ID, at)
	err := s.updateHead(ctx, what, ref, e, table.All(e.Exists(), table.AnyOf(e.Lacks("due_at"), e.Is("due_at", "<=", passed), e.Is("due_at", ">", at))))
	if !errors.Is(err, table.ErrCondition) {
		return err
	}
	e = table.NewExpression()
	write(e)
	return s.updateHead(ctx, what, ref, e, table.All(e.Exists()))
}

// updateHead writes bookkeeping attributes, which are not part of the aggregate's state and don't change its revision.
func (s *Store) updateHead(ctx context.Context, what string, ref aggregate.Ref, e *table.Expression, condition *string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	_, err = s.t.Update(ctx, table.Key(pk, aggregate.HeadKey), e, condition)
	return table.Wrapped(err, "%s, %s", what, ref)
}
