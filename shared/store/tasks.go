package store

import (
	"context"
	"fmt"

	"ringi/shared/aggregate"
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
		return Page[task.Task]{}, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	if _, ok := task.TaskMoves[f.Status]; f.Status != "" && !ok {
		return Page[task.Task]{}, aggregate.ErrField{Field: "status", Limit: "must be extracted, running, completed, failed or cancelled"}
	}
	l := listing{name: "tasks", owner: "TASK#" + tenant + "#", filter: []string{string(f.Status), f.Requester}}
	switch {
	case f.Requester != "":
		l.index, l.partitions, l.sparse = "GSI3", []string{tasksBy(tenant, f.Requester)}, f.Status != ""
	case f.Status != "":
		l.index, l.partitions = "GSI2", []string{tasksWith(tenant, f.Status)}
	default:
		l.index, l.partitions = "GSI1", []string{tasksOf(tenant)}
	}
	return page(ctx, s, l, cursor, limit, func(it item) (*task.Task, error) {
		x := &task.Task{}
		if err := unpack(it, x); err != nil || f.Status != "" && x.Status != f.Status {
			return nil, err
		}
		return x, nil
	})
}
