package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Create writes a task's first rows, each only if it is absent, without a read
// before. It returns ErrExists when the head is there: the same message came
// before. While the table is busy it tries again, for two seconds at most.
func (s *Store) Create(ctx context.Context, c task.Change) error {
	ref := aggregate.Ref{Tenant: c.Head.TenantID, Task: c.Head.TaskID}
	pk, err := partition(ref)
	if err != nil {
		return err
	}
	c = s.numbered(c)
	due := c.Now.Add(dueAfterCommit)
	h := c.Head
	h.Rev, h.LastChange, h.DueAt = 1, c.ID, &due
	it, err := headItem(pk, h)
	if err != nil {
		return err
	}
	head := s.put(it, 0)
	head.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	rest, err := s.actions(ref, c, h.Rev)
	if err != nil {
		return fmt.Errorf("create task %s: %w", ref.Task, err)
	}
	ctx, cancel := context.WithTimeout(ctx, retryFor)
	defer cancel()
	stop, wait := time.Now().Add(retryFor), newBackoff(20*time.Millisecond, 400*time.Millisecond)
	for {
		err = s.transact(ctx, c.ID, append([]types.TransactWriteItem{head}, rest...))
		var l *lost
		switch {
		case err == nil:
			return nil
		case errors.As(err, &l) && l.failed(0):
			if textOf(l.found(0), "last_change") == c.ID {
				return nil // an earlier try went through, its answer was lost
			}
			return fmt.Errorf("create task %s: %w", ref.Task, ErrExists)
		case errors.As(err, &l) && l.onlyInTheWay() && wait.until(ctx, stop):
			continue
		}
		return fmt.Errorf("create task %s: %w", ref.Task, err)
	}
}
