// Package tasks is the store of tasks: the table, with the lists that only tasks have.
package tasks

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/ended"
	"ringi/shared/runtime/config"
	"ringi/shared/store"
	"ringi/shared/store/table"
)

// Kind is task.Kind with what the table says for people: why an execution failed, in words.
func Kind() aggregate.Kind {
	k := task.Kind
	k.Columns = func(r aggregate.Row) map[string]string {
		if e, ok := r.(*task.Execution); ok && e.Error != "" {
			return map[string]string{"error": ended.Sentence(e.Terms.Locale, e.Error, e.ErrorDetail)}
		}
		return nil
	}
	return k
}

// Store reads and writes tasks, and what a tenant owns beside them.
type Store struct{ store.Of[*task.Aggregate] }

// Open is New for a function, by its environment.
func Open(cfg aws.Config, env config.Table) *Store {
	return New(dynamodb.NewFromConfig(cfg), env.TableName)
}

// New returns a store of the tasks in the table of that name.
func New(db *dynamodb.Client, table string) *Store {
	return Of(store.New(db, table, Kind()))
}

// Of is the store of the tasks among the kinds of s.
func Of(s *store.Store) *Store { return &Store{store.Of[*task.Aggregate]{Store: s}} }

// Create is store.Store.Create for the task that c begins.
func (s *Store) Create(ctx context.Context, c aggregate.Change) error {
	h := c.Head.(*task.Head)
	return s.Of.Create(ctx, task.RefOf(h.TenantID, h.TaskID), c)
}

// Head reads the head alone, consistently: what has to be asked often while a call is out.
// It returns aggregate.ErrNotFound when this tenant has no such task.
func (s *Store) Head(ctx context.Context, ref aggregate.Ref) (task.Head, error) {
	root, err := s.Of.Head(ctx, ref)
	if err != nil {
		return task.Head{}, err
	}
	return *root.(*task.Head), nil
}

// Tasks lists a tenant's tasks, the newest first. A request becomes a task, and
// is listed, when the first layer is done with it. Indexes may be a moment behind.
//
// It returns aggregate.ErrField for a limit outside 1 to store.MaxPage, an unknown status,
// times the wrong way round, or a cursor that is not this list's.
func (s *Store) Tasks(ctx context.Context, tenant string, f task.Filter, cursor string, limit int) (store.Page[task.Task], error) {
	if err := f.Check(); err != nil {
		return store.Page[task.Task]{}, err
	}
	return table.Rows(ctx, s.Table(), listOf(tenant, f), cursor, limit, f.Keeps)
}

// Listed is a task in a list, with who asked for it.
type Listed struct {
	task.Task
	By string `json:"GSI3PK"` // the row does not say it but by its place in an index
}

// Requester is who asked for it, a Slack user id.
func (l Listed) Requester() string { return strings.TrimPrefix(l.By, task.By(l.TenantID, "")) }

// Search is Tasks with those alone that keep says. A page looks at most tasks at the most, and may be short for it, or
// empty, and yet have a next one.
func (s *Store) Search(ctx context.Context, tenant string, f task.Filter, cursor string, limit, most int, keep func(Listed) bool) (store.Page[Listed], error) {
	if err := f.Check(); err != nil {
		return store.Page[Listed]{}, err
	}
	l := listOf(tenant, f)
	if l.Most = most; keep != nil {
		l.Sparse = true
	}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(x Listed) bool {
		return f.Keeps(x.Task) && (keep == nil || keep(x))
	})
}

// Titled are the tasks with these ids, by id, for showing; a message that is no task yet is left out. At most a
// hundred are read.
func (s *Store) Titled(ctx context.Context, tenant string, ids ...string) (map[string]Listed, error) {
	return rowsOf[Listed](ctx, s, (&task.Task{}).Key(), tenant, ids)
}

// Requests are the messages with which these tasks began, as Titled.
func (s *Store) Requests(ctx context.Context, tenant string, ids ...string) (map[string]task.Request, error) {
	return rowsOf[task.Request](ctx, s, (&task.Request{}).Key(), tenant, ids)
}

func rowsOf[T any](ctx context.Context, s *Store, key, tenant string, ids []string) (map[string]T, error) {
	places := make([]store.Place, len(ids))
	for i, id := range ids {
		places[i] = store.Place{Ref: task.RefOf(tenant, id), Key: key}
	}
	rows, err := store.RowsAt[T](ctx, s.Of.Store, places)
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for at, x := range rows {
		out[at.Ref.ID] = x
	}
	return out, nil
}

func listOf(tenant string, f task.Filter) table.List {
	l := table.List{Name: "tasks", Filter: []string{string(f.Status), f.Requester}, Tenant: tenant, Prefixes: []string{task.Kind.Prefix}}
	l.Index, l.Partitions, l.Sparse = f.In(tenant)
	l.From, l.Until = f.Between()
	return l
}

// Thread lists the newest requests that were written as replies in a thread, at most
// limit. The index may be a moment behind: load a task before deciding anything on it.
func (s *Store) Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error) {
	refs, err := s.Refs(ctx, 1, task.ThreadOf(tenant, channel, thread), limit)
	if err != nil {
		return nil, fmt.Errorf("list the requests of thread %s: %w", thread, err)
	}
	return refs, nil
}
