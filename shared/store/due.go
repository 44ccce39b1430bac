package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/task"
)

// Due returns at most limit tasks of a shard (0 to Shards-1) that are due at
// now, the longest due first. It reads an index, which may be a moment behind:
// load before deciding.
func (s *Store) Due(ctx context.Context, shard int, now time.Time, limit int) ([]task.Ref, error) {
	if shard < 0 || shard >= Shards {
		return nil, task.ErrField{Field: "shard", Limit: fmt.Sprintf("must be between 0 and %d", Shards-1)}
	}
	if limit < 1 || limit > 1000 {
		return nil, task.ErrField{Field: "limit", Limit: "must be between 1 and 1000"}
	}
	e := newExpression()
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{
		TableName: &s.table, IndexName: aws.String("GSI1"), Limit: aws.Int32(int32(limit)),
		KeyConditionExpression:   all(e.is("GSI1PK", "=", duePartition(shard)), e.is("GSI1SK", "<=", timeText(now))),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	if err != nil {
		return nil, fmt.Errorf("find what is due in shard %d: %w", shard, err)
	}
	refs := make([]task.Ref, len(out.Items))
	for i, it := range out.Items {
		refs[i] = task.Ref{Tenant: textOf(it, "tenant_id"), Task: textOf(it, "task_id")}
	}
	return refs, nil
}

// Postpone sets when the task is due next, nil for never, after every effect of
// rev was done. It returns task.ErrConflict when the task moved on: then it is due as it is.
func (s *Store) Postpone(ctx context.Context, ref task.Ref, rev int, due *time.Time) error {
	e := newExpression()
	e.remove("sweep_failures")
	if due != nil {
		e.due(ref.Task, *due)
	} else {
		e.remove("due_at", "GSI1PK", "GSI1SK")
	}
	err := s.updateHead(ctx, "postpone", ref, e, all(e.is("rev", "=", rev)))
	if errors.Is(err, errCondition) {
		return fmt.Errorf("postpone, task %s: %w", ref.Task, task.ErrConflict)
	}
	return err
}

// SweepFailed keeps how often in a row the task could not be handled, and when to try again.
func (s *Store) SweepFailed(ctx context.Context, ref task.Ref, failures int, due time.Time) error {
	e := newExpression()
	e.set("sweep_failures", failures)
	e.due(ref.Task, due)
	return s.updateHead(ctx, "note a failed sweep", ref, e, all(e.exists()))
}
