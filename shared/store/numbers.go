package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
	"ringi/shared/store/table"
)

// Series reads the highest number that a fiscal year has given.
func (s *Store) Series(ctx context.Context, tenant string, year int) (task.Series, error) {
	of := task.Series{Year: year}
	newest, err := s.Numbers(ctx, tenant, year, "", 1)
	if len(newest) > 0 {
		of.Last = newest[0].N
	}
	return of, err
}

// Numbers lists the numbers of a fiscal year's decisions, the highest first, from one key down, or from the highest if
// that is "". It returns at most limit, or all if limit is 0.
func (s *Store) Numbers(ctx context.Context, tenant string, year int, from string, limit int) ([]task.Numbered, error) {
	of := task.Series{Year: year}
	all, err := Listed[task.Numbered](ctx, s, tenant, task.NumbersList, of.Of(), "", from, true, limit)
	if err != nil {
		return nil, fmt.Errorf("read the numbers of %d: %w", year, err)
	}
	return all, nil
}

// Numbered returns what has the number x: one, or none.
func (s *Store) Numbered(ctx context.Context, tenant string, x task.Numbered) ([]task.Numbered, error) {
	all, err := s.Numbers(ctx, tenant, x.Year, x.Key(), 1)
	return slices.DeleteFunc(all, func(is task.Numbered) bool { return is.String() != x.String() }), err
}

// RegisteredTask is a line of the register: a decision that has a number.
type RegisteredTask struct {
	Decision task.Numbered
	Task     ListedTask     // of a request; without a title until there is a task
	Head     task.Head      // of a request
	Gate     aggregate.Gate // of a decision that which was settled, else the newest about the steps

	Call *call.Call // of an outside agent, with its id alone once it is erased; nil: the decision is a request's
}

// MostRegistered is how many lines are read at once: of each there are up to four rows.
const MostRegistered = mostInBatch / 4

// DecisionLines reads what the register shows of at most MostRegistered decisions, for display only.
func (s *TaskStore) DecisionLines(ctx context.Context, tenant string, of []task.Numbered) ([]RegisteredTask, error) {
	out, requests, rows := make([]RegisteredTask, len(of)), make([]task.Request, len(of)), map[Place][]any{}
	for i, decision := range of {
		x := &out[i]
		x.Decision = decision
		if decision.CallID != "" {
			x.Call = &call.Call{}
			at := Place{Ref: call.RefOf(tenant, decision.CallID), Key: decision.GateKey}
			rows[at] = append(rows[at], x.Call)
			continue
		}
		for key, row := range map[string]any{aggregate.HeadKey: &x.Head, task.TaskKey: &x.Task,
			requests[i].Key(): &requests[i], decision.GateKey: &x.Gate} {
			if at := (Place{Ref: task.RefOf(tenant, decision.TaskID), Key: key}); key != "" {
				rows[at] = append(rows[at], row)
			}
		}
	}
	err := s.rowsAt(ctx, slices.Collect(maps.Keys(rows)), func(at Place, it table.Item) (err error) {
		for _, row := range rows[at] {
			err = errors.Join(err, table.Unpack(it, row))
		}
		return err
	})
	for i := range out {
		switch x := &out[i]; {
		case x.Call != nil:
			x.Call.CallID, x.Gate = x.Decision.CallID, x.Call.Gate
		case x.Task.ID == "":
			x.Task.Text = requests[i].Words("")
		}
	}
	return out, err
}
