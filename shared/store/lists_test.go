package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func write(t *testing.T, s *taskStore, items ...table.Item) {
	t.Helper()
	for batch := range slices.Chunk(items, 25) {
		var puts []types.WriteRequest
		for _, it := range batch {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		expect.Value(s.t.DB.BatchWriteItem(t.Context(),
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{s.t.Name: puts}}))(t)
	}
}

// walk follows the cursors of a list to its end.
func walk[T any](t *testing.T, limit int, list func(cursor string) (table.Page[T], error)) []T {
	t.Helper()
	var out []T
	for cursor := ""; ; {
		p := expect.Value(list(cursor))(t)
		expect.Must(t, len(p.Items) <= limit && (len(p.Items) != 0 || p.Next == "") &&
			(len(p.Items) >= limit || p.Next == ""), "a page of %d of %d with next %q", len(p.Items), limit, p.Next)
		expect.Must(t, !strings.ContainsAny(p.Next, "+/=&?# "), "cursor %q is not safe in a URL", p.Next)
		out = append(out, p.Items...)
		if cursor = p.Next; cursor == "" {
			return out
		}
	}
}

// taskRows returns the head and the task's row of the n-th task: every fifth has another requester, every third failed,
// and several have the same time.
func taskRows(t *testing.T, owner string, n int) ([]table.Item, task.Task) {
	t.Helper()
	made := at().Add(time.Duration(n/4) * time.Second)
	id := expect.Value(task.ID("T0TEAM", owner, request(n).MessageTS))(t)
	x := task.Task{ID: id, TenantID: owner, Title: fmt.Sprint(n), Status: task.TaskRunning, ListedAs: task.StatusRunning,
		CreatedAt: made, UpdatedAt: made}
	if n%3 == 0 {
		x.Status, x.ListedAs = task.TaskFailed, task.StatusFailed
	}
	h := task.Head{Head: aggregate.Head{TenantID: owner, Rev: 2, Requester: requester, CreatedAt: made, DueAt: &made},
		TaskID: id, Noted: x.ListedAs}
	if n%5 == 0 {
		h.Requester = "U0ANOTHER"
	}
	x.Rev = 2
	pk := "TASK#" + owner + "#" + id
	head := expect.Value(headItem(pk, task.RefOf(owner, id), &h))(t)
	row := expect.Value(packRow(TaskKind(), &h, pk, &x, 2))(t)
	return []table.Item{head, row}, x
}

// manyTasks is several pages of each list, and a multiple of a whole page.
const manyTasks = 400

// writeTasks writes many tasks of the tenant and returns them. It also writes a few tasks of another tenant.
func writeTasks(t *testing.T, st *taskStore) (all []task.Task) {
	t.Helper()
	head, _ := taskRows(t, tenant, manyTasks)
	items := head[:1] // a request that is no task yet
	for n := range manyTasks {
		rows, x := taskRows(t, tenant, n)
		items, all = append(items, rows...), append(all, x)
	}
	for n := range 10 {
		rows, _ := taskRows(t, "01OTHER", n)
		items = append(items, rows...)
	}
	write(t, st, items...)
	return all
}

func testLists(t *testing.T, st *taskStore) {
	all := writeTasks(t, st)
	for _, c := range []struct {
		name   string
		filter task.Filter
		limit  int
		keep   func(n int) bool
	}{
		{"by time", task.Filter{}, 93, func(int) bool { return true }},
		{"by time, in pages that end with the list", task.Filter{}, 100, func(int) bool { return true }},
		{"by status", task.Filter{Status: task.StatusFailed}, 71, func(n int) bool { return n%3 == 0 }},
		{"by requester", task.Filter{Requester: "U0ANOTHER"}, 73, func(n int) bool { return n%5 == 0 }},
		{"by requester and status", task.Filter{Requester: requester, Status: task.StatusFailed}, 83,
			func(n int) bool { return n%5 != 0 && n%3 == 0 }},
		{"by a status that none has", task.Filter{Status: task.StatusCancelled}, 10, func(int) bool { return false }},
		{"by a requester that nobody is", task.Filter{Requester: "U0NOBODY"}, 10, func(int) bool { return false }},
	} {
		t.Run("tasks "+c.name+" come once each, the newest first", func(t *testing.T) {
			begun := time.Now()
			found := walk(t, c.limit, func(cursor string) (table.Page[ListedTask], error) {
				return st.Search(t.Context(), tenant, c.filter, cursor, c.limit, 0, nil)
			})
			t.Logf("%d tasks in %v", len(found), time.Since(begun).Round(time.Millisecond))
			var got, want []string
			for i, x := range found {
				expect.Must(t, i == 0 || !found[i-1].CreatedAt.Before(x.CreatedAt), "task %d is newer than the one before it", i)
				got = append(got, x.ID)
			}
			for n, x := range all {
				if c.keep(n) {
					want = append(want, x.ID)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			expect.Same(t, want, got)
		})
	}

	t.Run("what comes and goes between two pages hides nothing else",
		func(t *testing.T) { testPagesMeanwhile(t, st, all) })
	st.parts(t, []part{
		{"a cursor is good for its own list only", testCursors},
		{"bounds are named", testListBounds},
		{"bounded", testBounded},
		{"a status that changes moves the task to the other list", testStatusMoves},
	})
}

func testCursors(t *testing.T, st *taskStore) {
	mine := expect.Value(st.Search(t.Context(), tenant, task.Filter{}, "", 5, 0, nil))(t)
	another := expect.Value(st.Search(t.Context(), tenant, task.Filter{Requester: "U0ANOTHER"}, "", 5, 0, nil))(t)
	others := expect.Value(st.Search(t.Context(), "01OTHER", task.Filter{}, "", 5, 0, nil))(t)
	list := func(f task.Filter) func(string) error {
		return func(cursor string) error { return expect.Err(st.Search(t.Context(), tenant, f, cursor, 5, 0, nil)) }
	}
	forged := func(index string, back bool) string {
		var keys map[string]any
		expect.NoError(t, json.Unmarshal(expect.Value(base64.RawURLEncoding.DecodeString(mine.Next))(t), &keys))
		keys["p"], keys["s"] = "TASK#01OTHER#"+others.Items[0].ID, "TASK"
		keys["g"], keys["h"], keys["b"] = index, aggregate.TimeText(others.Items[0].CreatedAt)+"#x", back
		return base64.RawURLEncoding.EncodeToString(expect.Value(json.Marshal(keys))(t))
	}
	for name, c := range map[string]struct {
		cursor string
		use    func(string) error
	}{
		"another tenant's":  {others.Next, list(task.Filter{})},
		"of another filter": {mine.Next, list(task.Filter{Status: task.StatusFailed})},
		"of a wider filter": {another.Next, list(task.Filter{Requester: "U0ANOTHER", Status: task.StatusFailed})},
		"of another list": {mine.Next, func(cursor string) error {
			return expect.Err(st.Waiting(t.Context(), tenant, cursor, 5))
		}},
		"forged":                {forged(task.AllOf("01OTHER"), false), list(task.Filter{})},
		"forged backwards":      {forged(task.AllOf("01OTHER"), true), list(task.Filter{})},
		"forged by half":        {forged(task.AllOf(tenant), false), list(task.Filter{})},
		"not base64":            {"%%%", list(task.Filter{})},
		"not JSON":              {base64.RawURLEncoding.EncodeToString([]byte("nonsense")), list(task.Filter{})},
		"empty JSON":            {base64.RawURLEncoding.EncodeToString([]byte("{}")), list(task.Filter{})},
		"longer than any is":    {strings.Repeat("A", 3000), list(task.Filter{})},
		"one with a bit missed": {mine.Next[:len(mine.Next)-9], list(task.Filter{})},
	} {
		t.Run(name, func(t *testing.T) { wantField(t, c.use(c.cursor), "cursor") })
	}
}

func testListBounds(t *testing.T, st *taskStore) {
	for field, err := range map[string]error{
		"limit":  expect.Err(st.Search(t.Context(), tenant, task.Filter{}, "", 0, 0, nil)),
		"status": expect.Err(st.Search(t.Context(), tenant, task.Filter{Status: "extracted"}, "", 10, 0, nil)),
	} {
		wantField(t, err, field)
	}
	_, err := st.Search(t.Context(), tenant, task.Filter{}, "", table.MaxPage+1, 0, nil)
	expect.That(t, err != nil, "a page larger than MaxPage was given")
}

func testStatusMoves(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	ref := running(t, st, 1, 1)
	has := func(status task.Status) bool {
		p := expect.Value(st.Search(t.Context(), tenant, task.Filter{Status: status}, "", 1, 0, nil))(t)
		return len(p.Items) == 1 && p.Items[0].ID == ref.ID
	}
	expect.That(t, has(task.StatusRunning) && !has(task.StatusCancelled), "a running task is not listed as that alone")
	decided(t, st, ref, cancel)
	expect.That(t, !has(task.StatusRunning) && has(task.StatusCancelled), "a cancelled task is not listed as that alone")
}

func testPagesMeanwhile(t *testing.T, st *taskStore, all []task.Task) {
	first := expect.Value(st.Search(t.Context(), tenant, task.Filter{}, "", 50, 0, nil))(t)
	newer, _ := taskRows(t, tenant, manyTasks+100)
	write(t, st, newer...)
	// The row at the cursor is deleted.
	last := first.Items[len(first.Items)-1]
	k := table.Key("TASK#"+tenant+"#"+last.ID, "TASK")
	removed := raw(t, st, "TASK#"+tenant+"#"+last.ID, "TASK")
	expect.Value(st.t.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &st.t.Name, Key: k}))(t)
	defer write(t, st, removed)
	seen := map[string]bool{}
	for _, x := range first.Items {
		seen[x.ID] = true
	}
	rest := walk(t, 50, func(cursor string) (table.Page[ListedTask], error) {
		if cursor == "" {
			cursor = first.Next
		}
		return st.Search(t.Context(), tenant, task.Filter{}, cursor, 50, 0, nil)
	})
	for _, x := range rest {
		expect.That(t, !seen[x.ID], "task %s came twice", x.Title)
		seen[x.ID] = true
	}
	for _, x := range all {
		expect.That(t, seen[x.ID], "task %s was lost", x.Title)
	}
}

// A list that filters out nearly all rows stops a page at its bound and returns a cursor.
func testBounded(t *testing.T, st *taskStore) {
	const most = manyTasks / 4
	l := listOf(tenant, task.Filter{})
	l.Most, l.Sparse = most, true
	looked, pages := 0, 0
	for cursor := ""; ; pages++ {
		p := expect.Value(table.Rows(t.Context(), st.t, l, cursor, 10, func(x ListedTask) bool { return x.Title == "0" }))(t)
		expect.Must(t, p.Looked <= most && len(p.Items) <= 1, "%d rows were looked at for %d", p.Looked, len(p.Items))
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
	got := expect.Value(RowsAt[task.Request](t.Context(), st.Store,
		[]Place{at(first), at(another), at(strange), at(second), at(first), {first, "TASK"}}))(t)
	expect.That(t, len(got) == 2 && got[at(first)].Text != "" && got[at(second)].MessageTS != got[at(first)].MessageTS,
		"%+v", got)
	got = expect.Value(RowsAt[task.Request](t.Context(), st.Store, nil))(t)
	expect.That(t, len(got) == 0, "%+v of no places", got)
	var many []Place
	for n := range mostInBatch + 1 {
		many = append(many, Place{Ref: task.RefOf(tenant, fmt.Sprint(n)), Key: "TASK"})
	}
	_, err := RowsAt[task.Request](t.Context(), st.Store, many)
	wantField(t, err, "rows")
}

// testStatuses leads two requests to each status. Each status has its list, whoever asks.
func testStatuses(t *testing.T, st *taskStore) {
	plain := func(k task.ExtractKind) decision {
		return func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Kind: k, Sentence: "…"}, at())
		}
	}
	fail := func(why aggregate.Reason) decision {
		return func(a *task.Aggregate) (aggregate.Change, error) { return a.FailExecution(a.Head.Run, why, "", at()) }
	}
	planned := []decision{extract, beginPrompt, finishPrompt, approvePrompt, beginProcess, finishProcess(1),
		approveProcess}
	with := func(more ...decision) []decision { return append(planned[:len(planned):len(planned)], more...) }
	ways := map[task.Status][]decision{
		task.StatusDrafting: {extract, beginPrompt},
		task.StatusWaits:    {extract, beginPrompt, finishPrompt},
		task.StatusReturned: {extract, beginPrompt, finishPrompt, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.ApproveUnasked(a.Prompt().ID, at())
		}, beginProcess, finishProcess(1), func(a *task.Aggregate) (aggregate.Change, error) {
			return does(a, circulation.SendBack, a.Process().ID, "直して", approver(), at())
		}},
		task.StatusNotDrafted: {func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", at())
		}},
		task.StatusRunning: planned,
		task.StatusToRetry: with(fail(task.ReasonToolFailed)),
		task.StatusFailed:  with(fail(task.ReasonToolValue)),
		task.StatusDone: with(start, claim(1), finishStep(1), func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "完了", at())
		}),
		task.StatusCancelled: {extract, cancel},
		task.StatusExpired: {extract, beginPrompt, finishPrompt, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Expire(at().Add(1000 * time.Hour))
		}},
		task.StatusRefused:  {plain(task.KindUnsupported)},
		task.StatusAnswered: {plain(task.KindHelp)},
	}
	made := map[string]task.Status{}
	for n, status := range slices.Concat(task.Statuses, task.Statuses) {
		var form *task.Matter
		if status == task.StatusReturned { // only a form is given back
			form = &task.Matter{Kind: "支出", Title: "ペンの購入", Description: "在庫がないため。"}
		}
		a := decided(t, st, asked(t, st, n, requester, form), ways[status]...)
		made[a.Head.TaskID] = status
		expect.Is(t, a.Head.Noted, status)
	}
	for _, by := range []string{"", requester, "U0TWO"} {
		for _, status := range append([]task.Status{""}, task.Statuses...) {
			want := 2
			switch {
			case by == "U0TWO":
				want = 0
			case status == "" && by == "":
				want = len(made) - 4 // nobody reads through what was answered, or can't be done
			case status == "":
				want = len(made)
			}
			p := expect.Value(st.Search(t.Context(), tenant, task.Filter{Status: status, Requester: by}, "",
				table.MaxPage, 1000, nil))(t)
			expect.Is(t, len(p.Items), want, "%q of %q", status, by)
			for i, x := range p.Items {
				waits := x.Stands == task.StatusWaits
				expect.That(t, x.Stands == made[x.ID] && x.Requester() == requester, "%s is %s", made[x.ID], x.Stands)
				expect.That(t, waits == (x.WaitsFor == task.CardPrompt) && waits == (x.Glance.Need == 1) &&
					(x.Glance.Why == "") == x.Stands.Open(), "%s waits for %q: %+v", x.Stands, x.WaitsFor, x.Glance)
				expect.That(t, (x.Title != "") != (x.Text != ""), "%+v has no words, or too many", x)
				expect.That(t, i == 0 || !p.Items[i-1].CreatedAt.Before(x.CreatedAt), "they are not in order")
			}
		}
	}
}

// asked makes the n-th request as a person, with a form or without.
func asked(t *testing.T, st *taskStore, n int, user string, form *task.Matter) aggregate.Ref {
	t.Helper()
	r := request(n)
	r.User, r.Matter = user, form
	c, ref, err := task.Receive(tenant, r, at().Add(time.Duration(n)*time.Second))
	expect.NoError(t, err)
	expect.NoError(t, st.Create(t.Context(), c))
	return ref
}

// testKeptOfLists: a list says who asked, and has what is wanted.
func testKeptOfLists(t *testing.T, st *taskStore) {
	titled := func(n int, user, title string) aggregate.Ref {
		ref := asked(t, st, n, user, nil)
		decided(t, st, ref, accept(tenancy.DefaultSettings()), func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Title: title, Description: title, Priority: task.Medium,
				TaskType: task.TypeStandard}, at())
		})
		return ref
	}
	first := titled(1, "U0ONE", "first")
	titled(2, "U0TWO", "second")
	third := titled(3, "U0ONE", "third")
	isFirst := func(x ListedTask) bool { return x.Title == "first" }
	for _, c := range []struct {
		filter task.Filter
		most   int
		keep   func(ListedTask) bool
		want   string
		more   bool
	}{
		{task.Filter{}, 0, nil, "U0ONE third, U0TWO second, U0ONE first", false},
		{task.Filter{Requester: "U0TWO"}, 0, nil, "U0TWO second", false},
		{task.Filter{}, 0, isFirst, "U0ONE first", false},
		{task.Filter{Requester: "U0TWO"}, 0, isFirst, "", false},
		{task.Filter{Requester: "U0#"}, 0, nil, "", false},
		{task.Filter{}, 2, isFirst, "", true}, // of the two newest
	} {
		p := expect.Value(st.Search(t.Context(), tenant, c.filter, "", 10, c.most, c.keep))(t)
		var got []string
		for _, x := range p.Items {
			got = append(got, x.Requester()+" "+x.Title)
		}
		expect.Is(t, strings.Join(got, ", "), c.want)
		expect.Is(t, p.Next != "", c.more, "there is a next page")
	}
	titles := expect.Value(st.Titled(t.Context(), tenant, first.ID, third.ID, "01NONE", "#"))(t)
	expect.That(t, len(titles) == 2 && titles[third.ID].Title == "third" && titles[third.ID].Requester() == "U0ONE",
		"%+v", titles)
	expect.Is(t, len(expect.Value(st.Titled(t.Context(), "01OTHER", first.ID))(t)), 0, "another tenant's are read")
}
