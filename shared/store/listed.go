package store

import (
	"context"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/table"
)

// Listed is a request in a list, with who asked for it and how it stands. One that rests without a task has no title,
// but the beginning of its message.
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
	heads, err := RowsAt[task.Head](ctx, s.Of.Store, open)
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
	l := table.List{Name: "tasks", Filter: []string{string(f.Status), f.Requester}, Tenant: tenant, Prefixes: []string{task.Kind.Prefix}}
	l.Index, l.Partitions, l.Sparse = f.In(tenant)
	l.From, l.Until = f.Between()
	return l
}
