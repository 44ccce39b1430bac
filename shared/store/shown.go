package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
)

// asRead is the condition that nobody asked for a redraw since the head was read.
func (e *expression) asRead(h aggregate.Head) string {
	if h.Redraws == 0 {
		return e.lacks("redraws")
	}
	return e.is("redraws", "=", h.Redraws)
}

// allShown notes on a card's row what Shown notes on the head, unless h is nil.
func (e *expression) allShown(h *aggregate.Head) {
	if h != nil {
		e.set("shown_rev", h.Rev)
		e.set("shown_redraws", h.Redraws)
	}
}

// Shown notes that all cards show the aggregate as of the head as it was read. A later rev
// stands; and so does a redraw that was asked for meanwhile: it may be about what the
// rows don't say, such as the settings.
func (s *Store) Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error {
	e := newExpression()
	e.set("shown_rev", h.Rev)
	e.remove("draw_at")
	later := all(e.exists(), e.asRead(h), anyOf(e.lacks("shown_rev"), e.is("shown_rev", "<=", h.Rev)))
	err := s.updateHead(ctx, "note what is shown", ref, e, later)
	if errors.Is(err, errCondition) {
		return nil
	}
	return err
}

// Redraw has all cards of an aggregate compared with its rows again. The sweeper checks an ended one too; an earlier
// due time is kept.
func (s *Store) Redraw(ctx context.Context, ref aggregate.Ref) error {
	return s.dueBy(ctx, "redraw", ref, s.now().Add(dueAfterCommit), time.Time{}, func(e *expression) {
		e.remove("shown_rev")
		e.add("redraws", 1)
	})
}

// DrawAt keeps an aggregate's place in line for Slack's pace. With due the sweeper asks for its cards then.
func (s *Store) DrawAt(ctx context.Context, ref aggregate.Ref, at time.Time, due bool) error {
	write := func(e *expression) { e.set("draw_at", at) }
	if due {
		return s.dueBy(ctx, "keep a place in line", ref, at, time.Time{}, write)
	}
	e := newExpression()
	write(e)
	return s.updateHead(ctx, "keep a place in line", ref, e, all(e.exists()))
}

// dueBy writes bookkeeping of a head and makes it due at a time, unless it is due sooner and that is after passed.
func (s *Store) dueBy(ctx context.Context, what string, ref aggregate.Ref, at, passed time.Time, write func(*expression)) error {
	e := newExpression()
	write(e)
	e.due(ref.ID, at)
	err := s.updateHead(ctx, what, ref, e, all(e.exists(), anyOf(e.lacks("due_at"), e.is("due_at", "<=", passed), e.is("due_at", ">", at))))
	if !errors.Is(err, errCondition) {
		return err
	}
	e = newExpression()
	write(e)
	return s.updateHead(ctx, what, ref, e, all(e.exists()))
}

// updateHead writes bookkeeping attributes, which carry no state of the aggregate and give it no new rev.
func (s *Store) updateHead(ctx context.Context, what string, ref aggregate.Ref, e *expression, condition *string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	if _, err := s.update(ctx, key(pk, aggregate.HeadKey), e, condition); err != nil {
		return fmt.Errorf("%s, %s: %w", what, ref, err)
	}
	return nil
}
