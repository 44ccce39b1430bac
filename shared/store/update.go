package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// errCondition is a single write whose condition failed on an item that is there.
var errCondition = errors.New("the condition failed")

// update writes attributes of one item beside the commits, and returns the item
// as it became. When the condition fails it returns errCondition and the item as
// it is, or aggregate.ErrNotFound when there is none.
func (s *Store) update(ctx context.Context, k item, e *expression, condition *string) (item, error) {
	out, err := unhindered(ctx, s.db.UpdateItem, filled(e, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: k, UpdateExpression: e.update(), ConditionExpression: condition,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}))
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return out.Attributes, nil
	case errors.As(err, &failed) && failed.Item == nil:
		return nil, aggregate.ErrNotFound
	case errors.As(err, &failed):
		return failed.Item, errCondition
	}
	return nil, err
}

// putIf puts a row beside the commits.
func (s *Store) putIf(ctx context.Context, ref aggregate.Ref, r aggregate.Row, e *expression, condition string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	it, err := pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return err
	}
	_, err = unhindered(ctx, s.db.PutItem, filled(e, &dynamodb.PutItemInput{
		TableName: &s.table, Item: it, ConditionExpression: &condition,
	}))
	return err
}

// deleteIf deletes an item beside the commits.
func (s *Store) deleteIf(ctx context.Context, k item, e *expression, condition string) error {
	_, err := unhindered(ctx, s.db.DeleteItem, filled(e, &dynamodb.DeleteItemInput{
		TableName: &s.table, Key: k, ConditionExpression: &condition,
	}))
	return err
}

// unhindered does a single write, and again for up to two seconds while a transaction holds the item: the SDK does not
// take that for a reason to repeat a call. What is written is made once, by the caller.
func unhindered[In, Out any](
	ctx context.Context, write func(context.Context, In, ...func(*dynamodb.Options)) (Out, error), in In,
) (Out, error) {
	stop := time.Now().Add(retryFor)
	for wait := newBackoff(10*time.Millisecond, 200*time.Millisecond); ; {
		out, err := write(ctx, in)
		var held *types.TransactionConflictException
		if !errors.As(err, &held) || !wait.until(ctx, stop) {
			return out, err
		}
	}
}

func conditionFailed(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}
