package store

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	Steps    []task.Step    // that the gate is about
	Executed Executed       // how a request was carried out; empty unless all of it was
	Files    task.Aggregate // of a request with files: the rows that say which

	Call *call.Call // of an outside agent, with its id alone once it is erased; nil: the decision is a request's
}

// Executed is the part of an execution's row that the register shows. Results that are large are not in it.
type Executed struct {
	CompletedAt *time.Time         `json:"completed_at"`
	Results     []task.ResultEntry `json:"results"`
}

// Objects implements aggregate.Objects, as an execution's row does.
func (*Executed) Objects() (list, member string, blob bool) { return (*task.Execution)(nil).Objects() }

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
	if err := l.requests(ctx, func(x *RegisteredTask) string { return x.Decision.GateKey }); err != nil {
		return nil, err
	}
	return l.all, l.calls(ctx)
}

// requests reads the rows of the lines that are requests'; gate says which gate's, "" for none.
func (l *lines) requests(ctx context.Context, gate func(x *RegisteredTask) string) error {
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
		err = fillListed(ctx, l, gate, func(x *RegisteredTask, is gateRow) { x.Gate, x.Steps = is.Gate, is.Steps })
	}
	if err == nil {
		executed := func(x *RegisteredTask) string { return x.Head.Executed }
		err = fillListed(ctx, l, executed, func(x *RegisteredTask, is Executed) { x.Executed = is })
	}
	filed := func(key string) func(*RegisteredTask) string {
		return func(x *RegisteredTask) string {
			if x.Head.Files == 0 {
				return ""
			}
			return key
		}
	}
	if err == nil {
		err = fillListed(ctx, l, filed((&task.Request{}).Key()), func(x *RegisteredTask, is task.Request) {
			x.Files.Request = &is
		})
	}
	if err == nil {
		err = fillListed(ctx, l, filed(task.FilesKey), func(x *RegisteredTask, is task.Files) { x.Files.Files = &is })
	}
	if err == nil { // a form that was filled in again has its own
		newest := func(x *RegisteredTask) string { return filed(x.Head.Newest.Key("PROMPT"))(x) }
		err = fillListed(ctx, l, newest, func(x *RegisteredTask, is task.Prompt) { x.Files.Add(&is) })
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

// gateRow is the part of any gate's row that the register shows.
type gateRow struct {
	aggregate.Gate
	Steps []task.Step `json:"steps"`
}

// Objects implements aggregate.Objects, as the row of the steps does.
func (*gateRow) Objects() (list, member string, blob bool) { return (*task.Process)(nil).Objects() }
