package store

import (
	"context"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
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

// MostRegistered is how many lines are read at once.
const MostRegistered = 50

// lines are lines that are being filled.
type lines struct {
	*TaskStore
	tenant string
	all    []RegisteredTask
}

// DecisionLines reads what the register shows of at most MostRegistered decisions, for display only.
func (s *TaskStore) DecisionLines(ctx context.Context, tenant string, of []task.Numbered) ([]RegisteredTask, error) {
	l := &lines{s, tenant, make([]RegisteredTask, len(of))}
	for i, x := range of {
		l.all[i].Decision = x
	}
	if err := l.requests(ctx); err != nil {
		return nil, err
	}
	return l.all, l.calls(ctx)
}

// requests reads the rows of the lines that are requests'.
func (l *lines) requests(ctx context.Context) error {
	fixed := func(key string) func(*RegisteredTask) string { return func(*RegisteredTask) string { return key } }
	err := fillListed(ctx, l, fixed(aggregate.HeadKey), func(x *RegisteredTask, is task.Head) { x.Head = is })
	if err == nil {
		err = fillListed(ctx, l, fixed((&task.Task{}).Key()), func(x *RegisteredTask, is ListedTask) { x.Task = is })
	}
	if err == nil {
		untitled := func(x *RegisteredTask) string {
			if x.Task.ID != "" {
				return ""
			}
			return (&task.Request{}).Key()
		}
		err = fillListed(ctx, l, untitled, func(x *RegisteredTask, is task.Request) { x.Task.Text = is.Words("") })
	}
	if err == nil {
		gate := func(x *RegisteredTask) string { return x.Decision.GateKey }
		err = fillListed(ctx, l, gate, func(x *RegisteredTask, is aggregate.Gate) { x.Gate = is })
	}
	return err
}

// fillListed reads a row of each line's request, and has take keep it; key returns "" for a line that needs none.
func fillListed[T any](ctx context.Context, l *lines, key func(x *RegisteredTask) string,
	take func(x *RegisteredTask, is T)) error {
	places := make([]Place, len(l.all))
	var wanted []Place
	for i := range l.all {
		x := &l.all[i]
		if x.Decision.TaskID == "" || key(x) == "" {
			continue
		}
		places[i] = Place{Ref: task.RefOf(l.tenant, x.Decision.TaskID), Key: key(x)}
		wanted = append(wanted, places[i])
	}
	rows, err := RowsAt[T](ctx, l.KindStore.Store, wanted)
	for i, p := range places {
		if is, there := rows[p]; there {
			take(&l.all[i], is)
		}
	}
	return err
}

// calls reads the rows of the lines that are calls of outside agents.
func (l *lines) calls(ctx context.Context) error {
	var places []Place
	at := func(x *RegisteredTask) Place {
		return Place{Ref: call.RefOf(l.tenant, x.Decision.CallID), Key: x.Decision.GateKey}
	}
	for i := range l.all {
		if l.all[i].Decision.CallID != "" {
			places = append(places, at(&l.all[i]))
		}
	}
	if len(places) == 0 {
		return nil
	}
	rows, err := RowsAt[call.Call](ctx, l.KindStore.Store, places)
	for i := range l.all {
		if x := &l.all[i]; x.Decision.CallID != "" {
			is := rows[at(x)]
			is.CallID = x.Decision.CallID
			x.Call, x.Gate = &is, is.Gate
		}
	}
	return err
}
