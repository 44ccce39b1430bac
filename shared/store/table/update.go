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

// ErrCondition is a single write whose condition failed on an item that is there.
var ErrCondition = errors.New("the condition failed")

// Wrapped is an error with what was being done before it; nil stays nil.
func Wrapped(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

// Unless is err, but nil where it is an error that does no harm.
func Unless(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// Update writes attributes of one item beside the commits, and returns the item
// as it became. When the condition fails it returns ErrCondition and the item as
// it is, or aggregate.ErrNotFound when there is none.
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

// DeleteIf deletes an item beside the commits.
func (t *Table) DeleteIf(ctx context.Context, k Item, e *Expression, condition string) error {
	_, err := Unhindered(ctx, t.DB.DeleteItem, Filled(e, &dynamodb.DeleteItemInput{
		TableName: &t.Name, Key: k, ConditionExpression: &condition,
	}))
	return err
}

// Unhindered does a single write, and again for up to two seconds while a transaction holds the item: the SDK does not
// take that for a reason to repeat a call. The caller makes the input once.
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
