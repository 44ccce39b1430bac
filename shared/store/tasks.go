package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/table"
)

// TaskKind is task.Kind with texts that explain why an execution failed.
func TaskKind() aggregate.Kind {
	k := task.Kind
	k.Columns = func(r aggregate.Row) map[string]string {
		if e, ok := r.(*task.Execution); ok && e.Error != "" {
			return map[string]string{"error": explain.Ended(e.Terms.Locale, e.Error, e.ErrorDetail, explain.RetryRun)}
		}
		return nil
	}
	return k
}

// TaskStore reads and writes tasks.
type TaskStore struct{ KindStore[*task.Aggregate] }

// OpenTasks returns a function's store by its environment.
func OpenTasks(cfg aws.Config, env boot.Table) *TaskStore {
	return NewTasks(dynamodb.NewFromConfig(cfg), env.TableName)
}

// NewTasks returns a store of the tasks in the table of that name.
func NewTasks(db *dynamodb.Client, table string) *TaskStore {
	return TasksOf(New(db, table, TaskKind()))
}

// TasksOf returns the store of the tasks in s.
func TasksOf(s *Store) *TaskStore { return &TaskStore{KindStore[*task.Aggregate]{Store: s}} }

// Create is store.Store.Create for the task that c begins.
func (s *TaskStore) Create(ctx context.Context, c aggregate.Change) error {
	h := c.Head.(*task.Head)
	return s.KindStore.Create(ctx, task.RefOf(h.TenantID, h.TaskID), c)
}

// Head reads the head alone, consistently. It serves frequent checks during a long call. It returns
// aggregate.ErrNotFound when this tenant has no such task.
func (s *TaskStore) Head(ctx context.Context, ref aggregate.Ref) (task.Head, error) {
	return ownHead[task.Head](ctx, s.KindStore.Store, ref)
}

// Tasks lists a person's tasks, or all of a tenant's, newest first, without requests that have no task. Indexes may be
// slightly stale. Search lists by status.
//
// It returns an aggregate.Problem for a limit outside 1 to store.MaxPage, or a cursor of another list.
func (s *TaskStore) Tasks(ctx context.Context, tenant string, f task.Filter, cursor string,
	limit int) (Page[task.Task], error) {
	f.Status = ""
	isTask := func(t task.Task) bool { return t.Status != "" }
	return table.Rows(ctx, s.Table(), listOf(tenant, f), cursor, limit, isTask)
}

// Titled returns the tasks with these ids, by id, for display only. It reads at most a hundred and leaves out requests
// that are not tasks yet.
func (s *TaskStore) Titled(ctx context.Context, tenant string, ids ...string) (map[string]ListedTask, error) {
	all, err := titled[ListedTask](ctx, s.KindStore.Store, task.RefOf, task.TaskKey, tenant, ids)
	maps.DeleteFunc(all, func(_ string, x ListedTask) bool { return x.Status == "" })
	return all, err
}

// titled reads the row with this key of each aggregate, by id, with the limits of RowsAt.
func titled[T any](ctx context.Context, s *Store, ref func(tenant, id string) aggregate.Ref, key, tenant string,
	ids []string) (map[string]T, error) {
	places := make([]Place, len(ids))
	for i, id := range ids {
		places[i] = Place{Ref: ref(tenant, id), Key: key}
	}
	rows, err := RowsAt[T](ctx, s, places)
	out := map[string]T{}
	for at, x := range rows {
		out[at.Ref.ID] = x
	}
	return out, err
}

// Thread lists the newest requests that were written as replies in a thread, at most limit. The index may be slightly
// stale: load a task before deciding on it.
func (s *TaskStore) Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error) {
	in := s.t.Find(table.NewExpression(), "GSI1", task.ThreadOf(tenant, channel, thread))
	in.Limit, in.ScanIndexForward = aws.Int32(int32(limit)), aws.Bool(false)
	out, err := s.t.DB.Query(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("list the requests of thread %s: %w", thread, err)
	}
	var refs []aggregate.Ref
	for _, it := range out.Items {
		if ref, known := s.kinds.Ref(table.TextOf(it, "PK")); known {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// ListedTask is a request in a list, with who asked for it and how it stands.
type ListedTask struct {
	task.Task
	Type     string             `json:"type"`
	By       string             `json:"GSI3PK"` // the row does not say it but by its place in an index
	Stands   task.Status        `json:"-"`      // set by Search alone
	WaitsFor aggregate.CardType `json:"-"`      // the kind of decision, if it waits
	Routed   bool               `json:"-"`      // that is under a rule
}

// Requester returns the Slack user id of the requester.
func (l ListedTask) Requester() string { return strings.TrimPrefix(l.By, task.By(l.TenantID, "")) }

// Search lists the requests that keep accepts, newest first; nil accepts all. A request is listed once the first layer
// has made a task of it, or it rests without one; what Ringi only replied to is found by status or requester. A page
// reads at most most rows, 0 for no bound, so it may be short or empty and still have a next one. Indexes may be
// slightly stale.
//
// It returns aggregate.Problem for a limit outside 1 to store.MaxPage, an unknown status, or a cursor of another list.
func (s *TaskStore) Search(ctx context.Context, tenant string, f task.Filter, cursor string, limit, most int,
	keep func(ListedTask) bool) (Page[ListedTask], error) {
	if err := f.Check(); err != nil {
		return Page[ListedTask]{}, err
	}
	l := listOf(tenant, f)
	l.Most, l.Sparse = most, l.Sparse || keep != nil
	page, err := table.Rows(ctx, s.Table(), l, cursor, limit, func(x ListedTask) bool {
		return x.Type == taskType && (f.Requester == "" || x.Requester() == f.Requester) && f.MayKeep(x.ListedAs) &&
			(keep == nil || keep(x))
	})
	if err == nil {
		err = s.stand(ctx, tenant, page.Items)
	}
	page.Items = slices.DeleteFunc(page.Items, func(x ListedTask) bool { return f.Status != "" && x.Stands != f.Status })
	slices.SortStableFunc(page.Items, func(a, b ListedTask) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return page, err
}

// taskType is the type of rows that lists show. Others are a later release's.
var taskType = (&task.Task{}).Type()

// stand sets how requests stand. A row of one that is over says it, the head whether an open one waits.
func (s *TaskStore) stand(ctx context.Context, tenant string, items []ListedTask) error {
	var open []Place
	for i := range items {
		items[i].Stands = items[i].ListedAs
		if items[i].ListedAs.Open() {
			open = append(open, Place{Ref: task.RefOf(tenant, items[i].ID), Key: aggregate.HeadKey})
		}
	}
	heads, err := RowsAt[task.Head](ctx, s.KindStore.Store, open)
	if err != nil {
		return err
	}
	for i := range items {
		x := &items[i]
		head, read := heads[Place{Ref: task.RefOf(tenant, x.ID), Key: aggregate.HeadKey}]
		if read { // else it was not answered
			x.Stands, x.WaitsFor, x.Routed, x.Glance = head.Noted, head.WaitsFor, head.Routed, head.Glance
		}
	}
	return nil
}

func listOf(tenant string, f task.Filter) table.List {
	l := table.List{Name: "tasks", Filter: []string{string(f.Status), f.Requester}, Tenant: tenant,
		Prefixes: []string{task.Kind.Prefix}}
	l.Index, l.Partitions, l.Sparse = f.In(tenant)
	return l
}

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
