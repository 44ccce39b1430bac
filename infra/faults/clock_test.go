package faults

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// clock lets time pass for a task by writing into its rows what would be so later.
type clock struct {
	mu    sync.Mutex // one sweep at a time
	swept time.Time  // when the newest one began
}

// past is when everything became due.
func past() *types.AttributeValueMemberS {
	return &types.AttributeValueMemberS{Value: time.Now().Add(-2 * time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")}
}

// set changes one row behind the system's back; a row that is not so any more stays as it is.
func (c *clock) set(d *desk, sk, update, condition string, more map[string]types.AttributeValue) {
	values := map[string]types.AttributeValue{":past": past()}
	for name, v := range more {
		values[name] = v
	}
	_, err := d.db.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &d.TableName, UpdateExpression: &update, ConditionExpression: aws.String(condition), ExpressionAttributeValues: values,
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "TASK#" + d.ref.Tenant + "#" + d.ref.Task}, "SK": &types.AttributeValueMemberS{Value: sk},
		},
	})
	var moved *types.ConditionalCheckFailedException
	if err != nil && !errors.As(err, &moved) {
		failf("let time pass: %w", err)
	}
}

// expire ends the leases, or the claims on cards, of a task.
func (c *clock) expire(d *desk, leases bool) {
	a, err := d.store.Load(context.Background(), d.ref)
	if err != nil {
		return // there is no task yet
	}
	if leases {
		for _, s := range a.Steps {
			if s.Status == task.StepRunning {
				by := map[string]types.AttributeValue{":by": &types.AttributeValueMemberS{Value: s.Claim.Invocation}}
				c.set(d, s.Key(), "SET claim.lease_until = :past", "claim.invocation = :by", by)
			}
		}
		return
	}
	for _, x := range a.Cards {
		if x.State == aggregate.CardPosting {
			by := map[string]types.AttributeValue{":by": &types.AttributeValueMemberS{Value: x.ClaimedBy}}
			c.set(d, x.Key(), "SET claimed_at = :past", "claimed_by = :by", by)
		}
	}
}

// sweep makes a task due and lets the sweeper's minute pass; calls that come
// together share a sweep.
func (c *clock) sweep(d *desk) {
	if _, err := d.store.Head(context.Background(), d.ref); err != nil {
		return
	}
	c.due(d)
	asked := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swept.After(asked) {
		return
	}
	c.swept = time.Now()
	if _, err := d.Fire(context.Background(), sweeper); err != nil {
		failf("sweep: %w", err)
	}
}

// sweepFor is a sweep of a task's own, whose every call counts as its story's.
func (c *clock) sweepFor(d *desk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due(d)
	event, err := json.Marshal(map[string]any{"source": "aws.events", "detail": map[string]string{"story": d.mark}})
	if err != nil {
		failf("sweep: %w", err)
	}
	// A sweep that dies is followed by another.
	if _, err := d.Lambda.Invoke(context.Background(), sweeper, event); err != nil {
		failf("sweep: %w", err)
	}
}

// due makes a task due, unless it never will be.
func (c *clock) due(d *desk) {
	c.set(d, aggregate.HeadKey, "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)", nil)
}
