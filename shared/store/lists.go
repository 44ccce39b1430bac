package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/store/table"
)

// usageKeys is the key prefix of usage rows in a conversation's list. The keys of messages in the same list begin with
// a year.
const usageKeys = "USAGE#"

// Messages reads a conversation's messages, oldest first, from a key on. An empty key means all.
func (s *ConversationStore) Messages(ctx context.Context, tenant, id, from string) ([]conversation.Message, error) {
	return Listed[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, from, usageKeys,
		false, 0)
}

// Newest reads the newest messages of a conversation that are older than the key before, if it is not empty. They are
// returned oldest first.
func (s *ConversationStore) Newest(
	ctx context.Context, tenant, id, before string, limit int,
) ([]conversation.Message, error) {
	if before == "" {
		before = usageKeys
	}
	found, err := Listed[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, "", before,
		true,
		limit+1)
	found = slices.DeleteFunc(found, func(m conversation.Message) bool { return m.Key() == before })
	found = found[:min(len(found), limit)]
	slices.Reverse(found)
	return found, err
}

// Message reads one message by its key. It returns aggregate.ErrNotFound when there is none.
func (s *ConversationStore) Message(ctx context.Context, tenant, id, key string) (conversation.Message, error) {
	found, err := Listed[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, key, key,
		false, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("message %.80q: %w", key, aggregate.ErrNotFound)
	}
	if err != nil {
		return conversation.Message{}, err
	}
	return found[0], nil
}

// Uses reads the usage of a conversation's model calls.
func (s *ConversationStore) Uses(ctx context.Context, tenant, id string) ([]aggregate.Use, error) {
	return Listed[aggregate.Use](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, usageKeys, "", false, 0)
}

// Archived reads the actions that were moved out of a conversation's partition, by number.
func (s *ConversationStore) Archived(ctx context.Context, tenant, id string) ([]conversation.Action, error) {
	return Listed[conversation.Action](ctx, s.KindStore.Store, tenant, conversation.ActionsList, id, "", "", false, 0)
}

// Log reads the newest lines of an action's output, returned oldest first. A limit of 0 means all lines.
func (s *ConversationStore) Log(
	ctx context.Context, tenant, action string, limit int,
) ([]conversation.LogEntry, error) {
	found, err := Listed[conversation.LogEntry](ctx, s.KindStore.Store, tenant, conversation.LogList, action, "", "",
		true, limit)
	slices.Reverse(found)
	return found, err
}

// AppendLog adds lines to an action's output, the newest conversation.MostLines of them, and deletes those with the
// indexes gone. Only the holder of the action's claim may write. Writing the same lines again changes nothing. If
// the conversation is being forgotten, the lines are deleted again, and it returns aggregate.ErrNotFound.
func (s *ConversationStore) AppendLog(ctx context.Context, ref aggregate.Ref, action string,
	lines []conversation.LogEntry,
	gone []int) error {
	lines = lines[max(0, len(lines)-conversation.MostLines):]
	rows, drop := make([]aggregate.Row, len(lines)), make([]string, len(gone))
	for i, l := range lines {
		rows[i] = &l
	}
	for i, at := range gone {
		drop[i] = conversation.LogKey(at)
	}
	if err := s.PutListed(ctx, ref.Tenant, conversation.LogList, action, rows, drop); err != nil {
		return err
	}
	late := s.Living(ctx, ref)
	if !errors.Is(late, aggregate.ErrNotFound) {
		return nil
	}
	var own []string
	for _, r := range rows {
		own = append(own, r.Key())
	}
	return errors.Join(late, s.PutListed(ctx, ref.Tenant, conversation.LogList, action, nil, own))
}

// ListedTask is a request in a list, with who asked for it and how it stands. One that rests without a task has no
// title, but the beginning of its message.
type ListedTask struct {
	task.Task
	Type     string             `json:"type"`
	Text     string             `json:"text"`
	By       string             `json:"GSI3PK"` // the row does not say it but by its place in an index
	Stands   task.Status        `json:"-"`      // set by Search alone
	WaitsFor aggregate.CardType `json:"-"`      // the kind of decision, if it waits
	Routed   bool               `json:"-"`      // that is under a rule
}

// Requester returns the Slack user id of the requester.
func (l ListedTask) Requester() string { return strings.TrimPrefix(l.By, task.By(l.TenantID, "")) }

// Search lists the requests that keep accepts, newest first; nil accepts all. A request is listed once the first layer
// has made a task of it, or it rests without one. A page reads at most most rows, 0 for no bound, so it may be short or
// empty and still have a next one. Indexes may be slightly stale.
//
// It returns aggregate.ErrField for a limit outside 1 to store.MaxPage, an unknown status, a From after the Until, or a
// cursor of another list.
func (s *TaskStore) Search(ctx context.Context, tenant string, f task.Filter, cursor string, limit, most int,
	keep func(ListedTask) bool) (Page[ListedTask], error) {
	l := listOf(tenant, f)
	if l.Most = most; keep != nil {
		l.Sparse = true
	}
	page, err := s.rows(ctx, l, f, cursor, limit, func(x ListedTask) bool {
		return (x.Type == taskType || x.Type == listingType) && (keep == nil || keep(x))
	})
	if err == nil {
		err = s.standing(ctx, tenant, f, &page)
	}
	return page, err
}

// The types of rows that lists show. Others are a later release's.
var taskType, listingType = (&task.Task{}).Type(), (&task.Listing{}).Type()

func (s *TaskStore) rows(ctx context.Context, l table.List, f task.Filter, cursor string, limit int,
	keep func(ListedTask) bool) (Page[ListedTask], error) {
	if err := f.Check(); err != nil {
		return Page[ListedTask]{}, err
	}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(x ListedTask) bool {
		return (f.Requester == "" || x.Requester() == f.Requester) && f.MayKeep(x.ListedAs) && keep(x)
	})
}

// standing sets how the page's requests stand, and leaves out those that the filter doesn't want.
func (s *TaskStore) standing(ctx context.Context, tenant string, f task.Filter, page *Page[ListedTask]) error {
	if err := s.stand(ctx, tenant, page.Items); err != nil {
		return err
	}
	page.Items = slices.DeleteFunc(page.Items, func(x ListedTask) bool { return f.Status != "" && x.Stands != f.Status })
	slices.SortStableFunc(page.Items, func(a, b ListedTask) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return nil
}

// stand sets how requests stand. A row of one that is over says it, the head whether an open one waits.
func (s *TaskStore) stand(ctx context.Context, tenant string, items []ListedTask) error {
	var open []Place
	for i := range items {
		items[i].Stands = items[i].ListedAs
		if items[i].ListedAs.Open() {
			open = append(open, Place{Ref: task.RefOf(tenant, items[i].ID), Key: aggregate.HeadKey})
		}
	}
	if len(open) == 0 {
		return nil
	}
	heads, err := RowsAt[task.Head](ctx, s.KindStore.Store, open)
	if err != nil {
		return err
	}
	for i := range items {
		x := &items[i]
		head, read := heads[Place{Ref: task.RefOf(tenant, x.ID), Key: aggregate.HeadKey}]
		if read { // else it was not answered
			x.Stands, x.WaitsFor, x.Routed = head.Noted, head.WaitsFor, head.WaitsOnRoute()
		}
	}
	return nil
}

func listOf(tenant string, f task.Filter) table.List {
	l := table.List{Name: "tasks", Filter: []string{string(f.Status), f.Requester}, Tenant: tenant,
		Prefixes: []string{task.Kind.Prefix}}
	l.Index, l.Partitions, l.Sparse = f.In(tenant)
	l.From, l.Until = f.Between()
	return l
}
