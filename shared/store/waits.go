package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
)

// PutWait keeps the token of a run that waits at a gate. It returns ErrStale
// when the row is of a newer run, of a state entered later, or of a later retry.
func (s *Store) PutWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	e := newExpression()
	sameRun, sameEntry := e.is("run", "=", w.Run), e.is("entered", "=", w.Entered)
	err := s.putIf(ctx, ref, w, e, anyOf(
		e.absent(),
		e.is("run", "<", w.Run),
		"("+sameRun+" AND "+e.is("entered", "<", w.Entered)+")",
		"("+sameRun+" AND "+sameEntry+" AND "+e.is("retry", "<=", w.Retry)+")",
	))
	if conditionFailed(err) {
		err = ErrStale
	}
	if err != nil {
		return fmt.Errorf("keep the wait of %s at %s: %w", ref, w.Gate, err)
	}
	return nil
}

// DropWait forgets a token that was answered. A row that is gone or holds
// another token is left as it is.
func (s *Store) DropWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := newExpression()
	err = s.deleteIf(ctx, key(pk, w.Key()), e, e.is("task_token", "=", w.Token))
	if err != nil && !conditionFailed(err) {
		return fmt.Errorf("drop the wait of %s at %s: %w", ref, w.Gate, err)
	}
	return nil
}
