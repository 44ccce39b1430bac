package store

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// testBack pages through lists to the end and back again, over the rows that writeTasks wrote.
func testBack(t *testing.T, st *taskStore) {
	for _, c := range []struct {
		name        string
		filter      task.Filter
		limit, most int
	}{
		{"tasks by time", task.Filter{}, 93, 0},
		{"tasks whose last page is full", task.Filter{}, 100, 0},
		{"a sparse list", task.Filter{Requester: requester, Status: task.StatusFailed}, 40, 0},
		{"a sparse list, a few rows looked at for each page", task.Filter{Requester: requester, Status: task.StatusFailed}, 40, 70},
		{"tasks between two times", task.Filter{From: at().Add(30 * time.Second), To: at().Add(200 * time.Second)}, 30, 0},
	} {
		t.Run(c.name+" are the same on the way back", func(t *testing.T) {
			list := func(cursor string) table.Page[task.Task] {
				return expect.Value(table.Rows(t.Context(), st.t, boundedList(c.filter, c.most), cursor, c.limit, kept(c.filter)))(t)
			}
			var there [][]string
			last := list("")
			there = append(there, idsOf(last))
			for last.Next != "" {
				next := list(last.Next)
				if next.Looked == 0 { // only now the list knows that the previous page was the last
					break
				}
				last = next
				there = append(there, idsOf(last))
				if last.Prev == "" || c.most > 0 && last.Looked > c.most {
					t.Fatalf("page %d has the one before at %q, and looked at %d", len(there), last.Prev, last.Looked)
				}
			}
			expect.Must(t, len(there) >= 3, "%d pages tell nothing", len(there))
			for n := len(there) - 2; n >= 0; n-- {
				expect.Must(t, last.Prev != "", "no page before page %d", n+1)
				last = list(last.Prev)
				expect.Same(t, there[n], idsOf(last))
			}
			if last.Prev != "" && (c.most == 0 || list(last.Prev).Looked > 0) {
				t.Errorf("there is a page before the first: %q", last.Prev)
			}
			expect.Same(t, there[1], idsOf(list(last.Next)))
		})
	}
}

func boundedList(f task.Filter, most int) table.List {
	l := table.List{Name: "tasks", Tenant: tenant, Prefixes: []string{"TASK#"}, Most: most}
	l.Index, l.Partitions, l.Sparse = f.In(tenant)
	l.From, l.Until = f.Between()
	return l
}

func idsOf(p table.Page[task.Task]) (ids []string) {
	for _, x := range p.Items {
		ids = append(ids, x.ID)
	}
	return ids
}

// A list that filters out nearly all rows stops a page at its bound and returns a cursor.
func testBounded(t *testing.T, st *taskStore) {
	l := boundedList(task.Filter{}, 250)
	l.Sparse = true
	looked, pages := 0, 0
	for cursor := ""; ; pages++ {
		p := expect.Value(table.Rows(t.Context(), st.t, l, cursor, 10, func(x task.Task) bool { return x.Title == "0" }))(t)
		expect.Must(t, p.Looked <= 250 && len(p.Items) <= 1, "%d rows were looked at for %d", p.Looked, len(p.Items))
		looked += p.Looked
		if cursor = p.Next; cursor == "" {
			expect.Is(t, len(p.Items), 1, "the oldest task is not on the last page")
			break
		}
	}
	expect.That(t, looked >= manyTasks && pages == 4, "%d rows in %d pages", looked, pages+1)
}

func testRowsAt(t *testing.T, st *taskStore) {
	first, second := created(t, st, 1), created(t, st, 2)
	at := func(ref aggregate.Ref) Place { return Place{Ref: ref, Key: "REQUEST"} }
	another := first
	another.Tenant = "01OTHER"
	strange := first
	strange.ID = "#"
	got := expect.Value(RowsAt[task.Request](t.Context(), st.Store, []Place{at(first), at(another), at(strange), at(second), at(first), {first, "TASK"}}))(t)
	if len(got) != 2 || got[at(first)].Text == "" || got[at(second)].MessageTS == got[at(first)].MessageTS {
		t.Errorf("%+v", got)
	}
	if got := expect.Value(RowsAt[task.Request](t.Context(), st.Store, nil))(t); len(got) != 0 {
		t.Errorf("%+v of no places", got)
	}
	var many []Place
	for n := range mostInBatch + 1 {
		many = append(many, Place{Ref: task.RefOf(tenant, fmt.Sprint(n)), Key: "TASK"})
	}
	_, err := RowsAt[task.Request](t.Context(), st.Store, many)
	wantField(t, err, "rows")
}
