package table

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// ErrCondition means that the condition of a single write failed on an existing item.
var ErrCondition = errors.New("the condition failed")

// Wrapped prefixes an error with what was being done; nil stays nil.
func Wrapped(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// Unless returns err, or nil if it is the harmless error.
func Unless(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// Update updates one item outside of commits and returns the new item. When the condition fails it returns ErrCondition
// and the current item, or aggregate.ErrNotFound when there is none.
func (t *Table) Update(ctx context.Context, k Item, e *Expression, condition *string) (Item, error) {
	out, err := Unhindered(ctx, t.DB.UpdateItem, Filled(e, &dynamodb.UpdateItemInput{
		TableName: &t.Name, Key: k, UpdateExpression: e.Update(), ConditionExpression: condition,
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
		return failed.Item, ErrCondition
	}
	return nil, err
}

// DeleteIf deletes an item on a condition, outside of commits.
func (t *Table) DeleteIf(ctx context.Context, k Item, e *Expression, condition string) error {
	_, err := Unhindered(ctx, t.DB.DeleteItem, Filled(e, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: k, ConditionExpression: &condition,
	}))
	return err
}

// Unhindered makes a single write and repeats it for up to two seconds while a transaction holds the item, which the
// SDK does not retry. The caller makes the input once.
func Unhindered[In, Out any](
	ctx context.Context, write func(context.Context, In, ...func(*dynamodb.Options)) (Out, error), in In,
) (Out, error) {
	stop := time.Now().Add(RetryFor)
	for wait := NewBackoff(10*time.Millisecond, 200*time.Millisecond); ; {
		out, err := write(ctx, in)
		var held *types.TransactionConflictException
		if !errors.As(err, &held) || !wait.Until(ctx, stop) {
			return out, err
		}
	}
}

func ConditionFailed(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}
