package store

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/task"
)

// Shown notes that all cards show the task as of rev. A later one stands.
func (s *Store) Shown(ctx context.Context, ref task.Ref, rev int) error {
	e := newExpression()
	e.set("shown_rev", rev)
	later := all(e.exists(), anyOf(e.lacks("shown_rev"), e.is("shown_rev", "<", rev)))
	err := s.updateHead(ctx, "note what is shown", ref, e, later)
	if errors.Is(err, errCondition) {
		return nil
	}
	return err
}

// Redraw asks for all cards to be compared with the rows again. The sweeper
// looks after it too, even when the task had ended; a task that is due sooner stays so.
func (s *Store) Redraw(ctx context.Context, ref task.Ref) error {
	e := newExpression()
	e.remove("shown_rev")
	soon := s.now().Add(dueAfterCommit)
	e.due(ref.Task, soon)
	err := s.updateHead(ctx, "redraw", ref, e, all(e.exists(), anyOf(e.lacks("due_at"), e.is("due_at", ">", soon))))
	if !errors.Is(err, errCondition) {
		return err
	}
	e = newExpression()
	e.remove("shown_rev")
	return s.updateHead(ctx, "redraw", ref, e, all(e.exists()))
}

// updateHead writes bookkeeping attributes, which carry no state of the task and give it no new rev.
func (s *Store) updateHead(ctx context.Context, what string, ref task.Ref, e *expression, condition *string) error {
	pk, err := partition(ref)
	if err != nil {
		return err
	}
	if _, err := s.update(ctx, key(pk, task.HeadKey), e, condition); err != nil {
		return fmt.Errorf("%s, task %s: %w", what, ref.Task, err)
	}
	return nil
}
