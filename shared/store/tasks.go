package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/task"
)

// TaskFilter narrows a list of tasks; what is empty doesn't.
type TaskFilter struct {
	Status    task.TaskStatus
	Requester string // Slack user id
}

// Tasks lists a tenant's tasks, the newest first. A request becomes a task, and
// is listed, when the first layer is done with it. Indexes may be a moment behind.
//
// It returns task.ErrField for a limit outside 1 to MaxPage, an unknown status,
// or a cursor that is not this list's.
func (s *Store) Tasks(ctx context.Context, tenant string, f TaskFilter, cursor string, limit int) (Page[task.Task], error) {
	if !keyPart(tenant) {
		return Page[task.Task]{}, fmt.Errorf("tenant %.40q: %w", tenant, task.ErrNotFound)
	}
	if _, ok := task.TaskMoves[f.Status]; f.Status != "" && !ok {
		return Page[task.Task]{}, task.ErrField{Field: "status", Limit: "must be extracted, running, completed, failed or cancelled"}
	}
	l := listing{name: "tasks", owner: "TASK#" + tenant + "#", filter: []string{string(f.Status), f.Requester}}
	switch {
	case f.Requester != "":
		l.index, l.partitions, l.sparse = "GSI2", []string{tasksBy(tenant, f.Requester)}, f.Status != ""
		return page(ctx, s, l, cursor, limit, func(ctx context.Context, heads []item) ([]*task.Task, error) {
			return s.tasksOfHeads(ctx, heads, f.Status)
		})
	case f.Status != "":
		l.index, l.partitions = "GSI2", []string{tasksWith(tenant, f.Status)}
	default:
		l.index, l.partitions = "GSI1", []string{tasksOf(tenant)}
	}
	return page(ctx, s, l, cursor, limit, each(func(it item) (*task.Task, error) {
		x := &task.Task{}
		return x, unpack(it, x)
	}))
}

// tasksOfHeads reads the tasks' rows of some heads; nil for a head without one, or of another status.
func (s *Store) tasksOfHeads(ctx context.Context, heads []item, status task.TaskStatus) ([]*task.Task, error) {
	at := make(map[string]int, len(heads))
	out := make([]*task.Task, len(heads))
	var keys []map[string]types.AttributeValue
	for i, h := range heads {
		pk := textOf(h, "PK")
		at[pk], keys = i, append(keys, key(pk, "TASK"))
	}
	stop, wait := time.Now().Add(retryFor), newBackoff(20*time.Millisecond, 400*time.Millisecond)
	for len(keys) > 0 {
		n := min(len(keys), 100) // DynamoDB's limit on one call
		res, err := s.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			s.table: {Keys: keys[:n], ConsistentRead: aws.Bool(true)},
		}})
		if err != nil {
			return nil, err
		}
		for _, it := range res.Responses[s.table] {
			x := &task.Task{}
			if err := unpack(it, x); err != nil {
				return nil, err
			}
			if status == "" || x.Status == status {
				out[at[textOf(it, "PK")]] = x
			}
		}
		left := res.UnprocessedKeys[s.table].Keys
		if len(left) > 0 && !wait.until(ctx, stop) {
			return nil, fmt.Errorf("the table is busy: %d rows were not read", len(left))
		}
		keys = append(keys[n:], left...)
	}
	return out, nil
}
