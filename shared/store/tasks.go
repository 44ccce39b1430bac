package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/table"
)

// TaskKind is task.Kind with texts that explain why an execution failed.
func TaskKind() aggregate.Kind {
	k := task.Kind
	k.Columns = func(r aggregate.Row) map[string]string {
		if e, ok := r.(*task.Execution); ok && e.Error != "" {
			return map[string]string{"error": explain.Ended(e.Terms.Locale, e.Error, e.ErrorDetail)}
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
	root, err := s.KindStore.Head(ctx, ref)
	if err != nil {
		return task.Head{}, err
	}
	return *root.(*task.Head), nil
}

// Tasks lists a person's tasks, or all of a tenant's, newest first, without requests that have no task. Indexes may be
// slightly stale. Search lists by status.
//
// It returns aggregate.ErrField for a limit outside 1 to store.MaxPage, or a cursor of another list.
func (s *TaskStore) Tasks(ctx context.Context, tenant string, f task.Filter, cursor string,
	limit int) (Page[task.Task], error) {
	f.Status = ""
	isTask := func(t task.Task) bool { return t.Status != "" } // a listing has no such column
	return table.Rows(ctx, s.Table(), listOf(tenant, f), cursor, limit, isTask)
}

// Titled returns the tasks with these ids, by id, for display only. It reads at most a hundred and leaves out requests
// that are not tasks yet.
func (s *TaskStore) Titled(ctx context.Context, tenant string, ids ...string) (map[string]ListedTask, error) {
	return rowsOf[ListedTask](ctx, s, (&task.Task{}).Key(), tenant, ids)
}

// Requests returns the messages with which these tasks began, with the limits of Titled.
func (s *TaskStore) Requests(ctx context.Context, tenant string, ids ...string) (map[string]task.Request, error) {
	return rowsOf[task.Request](ctx, s, (&task.Request{}).Key(), tenant, ids)
}

func rowsOf[T any](ctx context.Context, s *TaskStore, key, tenant string, ids []string) (map[string]T, error) {
	places := make([]Place, len(ids))
	for i, id := range ids {
		places[i] = Place{Ref: task.RefOf(tenant, id), Key: key}
	}
	rows, err := RowsAt[T](ctx, s.KindStore.Store, places)
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for at, x := range rows {
		out[at.Ref.ID] = x
	}
	return out, nil
}

// Thread lists the newest requests that were written as replies in a thread, at most limit. The index may be slightly
// stale: load a task before deciding on it.
func (s *TaskStore) Thread(ctx context.Context, tenant, channel, thread string, limit int) ([]aggregate.Ref, error) {
	refs, err := s.Refs(ctx, 1, task.ThreadOf(tenant, channel, thread), limit)
	if err != nil {
		return nil, fmt.Errorf("list the requests of thread %s: %w", thread, err)
	}
	return refs, nil
}

// The row of the channels that got other ids: CHANNELS#<tenant>, with an attribute for each former id, whose value is
// Slack's timestamp of the change and the new id.
const (
	channels    = "CHANNELS#"
	channelsKey = "MOVED"
	movedPrefix = "was_"
)

// Channels returns which of a tenant's channels got other ids.
func (s *Store) Channels(ctx context.Context, tenant string) (tenancy.Channels, error) {
	pk, err := table.TenantPartition(channels, tenant)
	if err != nil {
		return nil, err
	}
	out, err := s.t.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.t.Name, Key: table.Key(pk, channelsKey), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("read which channels got other ids: %w", err)
	}
	all := tenancy.Channels{}
	for name, value := range out.Item {
		was, ok := strings.CutPrefix(name, movedPrefix)
		text, is := value.(*types.AttributeValueMemberS)
		if !ok || !is {
			continue
		}
		at, to, _ := strings.Cut(text.Value, " ")
		all[was] = tenancy.Moved{To: to, At: at}
	}
	return all, nil
}

// MoveChannel records that Slack gave a channel another id at this timestamp. It may be told repeatedly and in any
// order: a former id keeps the latest of its changes.
func (s *Store) MoveChannel(ctx context.Context, tenant, was string, m tenancy.Moved) error {
	pk, err := table.TenantPartition(channels, tenant)
	if err != nil {
		return err
	}
	e, value := table.NewExpression(), m.At+" "+m.To
	e.Set(movedPrefix+was, value)
	e.Row("channels", time.Time{})
	condition := table.AnyOf(e.Lacks(movedPrefix+was), e.Is(movedPrefix+was, "<", value))
	_, err = s.t.Update(ctx, table.Key(pk, channelsKey), e, &condition)
	return table.Wrapped(table.Unless(err, table.ErrCondition), "record that a channel got another id")
}
