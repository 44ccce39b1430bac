package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/task"
)

// errCondition is a single write whose condition failed on an item that is there.
var errCondition = errors.New("the condition failed")

// update writes attributes of one item beside the commits, and returns the item
// as it became. When the condition fails it returns errCondition and the item as
// it is, or task.ErrNotFound when there is none.
func (s *Store) update(ctx context.Context, k item, e *expression, condition *string) (item, error) {
	out, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &s.table, Key: k, UpdateExpression: e.update(), ConditionExpression: condition,
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		ReturnValues:                        types.ReturnValueAllNew,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var failed *types.ConditionalCheckFailedException
	switch {
	case err == nil:
		return out.Attributes, nil
	case errors.As(err, &failed) && failed.Item == nil:
		return nil, task.ErrNotFound
	case errors.As(err, &failed):
		return failed.Item, errCondition
	}
	return nil, err
}

func conditionFailed(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}
