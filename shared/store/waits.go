package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// PutWait saves the token of a run that waits at a gate. It returns ErrStale when the row is of a newer run, of a state
// entered later, or of a later retry.
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
	return table.Wrapped(err, "keep the wait of %s at %s", ref, w.Gate)
}

// DropWait deletes a token that was answered. It does nothing if the row is gone or has another token.
func (s *Store) DropWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	return table.Wrapped(s.dropIf(ctx, ref, w.Key(), "task_token", w.Token), "drop the wait of %s at %s", ref, w.Gate)
}

// dropIf deletes a row outside of commits if an attribute has the given value. It does nothing if the row is gone.
func (s *Store) dropIf(ctx context.Context, ref aggregate.Ref, key, attribute, is string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	if err = s.t.DeleteIf(ctx, table.Key(pk, key), e, e.Is(attribute, "=", is)); table.ConditionFailed(err) {
		return nil
	}
	return err
}

// putIf puts a row outside of commits on a condition.
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
