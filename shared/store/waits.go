package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutWait keeps the token of a run that waits at a gate. It returns ErrStale
// when the row is of a newer run, of a state entered later, or of a later retry.
func (s *Store) PutWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	e := table.NewExpression()
	sameRun, sameEntry := e.Is("run", "=", w.Run), e.Is("entered", "=", w.Entered)
	err := s.putIf(ctx, ref, w, e, table.AnyOf(
		e.Absent(),
		e.Is("run", "<", w.Run),
		"("+sameRun+" AND "+e.Is("entered", "<", w.Entered)+")",
		"("+sameRun+" AND "+sameEntry+" AND "+e.Is("retry", "<=", w.Retry)+")",
	))
	if table.ConditionFailed(err) {
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
	e := table.NewExpression()
	err = s.t.DeleteIf(ctx, table.Key(pk, w.Key()), e, e.Is("task_token", "=", w.Token))
	if err != nil && !table.ConditionFailed(err) {
		return fmt.Errorf("drop the wait of %s at %s: %w", ref, w.Gate, err)
	}
	return nil
}

// putIf puts a row beside the commits.
func (s *Store) putIf(ctx context.Context, ref aggregate.Ref, r aggregate.Row, e *table.Expression, condition string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return err
	}
	_, err = table.Unhindered(ctx, s.t.DB.PutItem, table.Filled(e, &dynamodb.PutItemInput{
		TableName: &s.t.Name, Item: it, ConditionExpression: &condition,
	}))
	return err
}
