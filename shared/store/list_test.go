package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/task"
)

// write puts items as they are.
func write(t *testing.T, s *Store, items ...item) {
	t.Helper()
	for batch := range slices.Chunk(items, 25) {
		var puts []types.WriteRequest
		for _, it := range batch {
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
		}
		if _, err := s.db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{s.table: puts}}); err != nil {
			t.Fatal(err)
		}
	}
}

// walk follows the cursors of a list to its end.
func walk[T any](t *testing.T, limit int, list func(cursor string) (Page[T], error)) []T {
	t.Helper()
	var out []T
	for cursor := ""; ; {
		p, err := list(cursor)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Items) > limit || len(p.Items) == 0 && p.Next != "" || len(p.Items) < limit && p.Next != "" {
			t.Fatalf("a page of %d of %d with next %q", len(p.Items), limit, p.Next)
		}
		if strings.ContainsAny(p.Next, "+/=&?# ") {
			t.Fatalf("cursor %q is not safe in a URL", p.Next)
		}
		out = append(out, p.Items...)
		if cursor = p.Next; cursor == "" {
			return out
		}
	}
}

// taskRows are the head and the task's row of the n-th of many tasks: every
// fifth by another requester, every third failed, several at the same moment.
func taskRows(t *testing.T, owner string, n int) ([]item, task.Task) {
	t.Helper()
	made := at().Add(time.Duration(n/4) * time.Second)
	id, err := task.ID("T0TEAM", owner, request(n).MessageTS)
	if err != nil {
		t.Fatal(err)
	}
	x := task.Task{ID: id, TenantID: owner, Title: fmt.Sprint(n), Status: task.TaskRunning, CreatedAt: made, UpdatedAt: made}
	if n%3 == 0 {
		x.Status = task.TaskFailed
	}
	h := task.Head{TenantID: owner, TaskID: id, Rev: 2, Requester: requester, CreatedAt: made, DueAt: &made}
	if n%5 == 0 {
		h.Requester = "U0ANOTHER"
	}
	x.Rev = 2
	pk := "TASK#" + owner + "#" + id
	head, err := headItem(pk, h)
	if err != nil {
		t.Fatal(err)
	}
	row, err := packRow(task.Ref{Tenant: owner, Task: id}, pk, &x, 2)
	if err != nil {
		t.Fatal(err)
	}
	return []item{head, row}, x
}

func testLists(t *testing.T, s *suite) {
	st := s.store(t)
	const tasks = 1100
	var all []task.Task
	var items []item
	for n := range tasks {
		rows, x := taskRows(t, tenant, n)
		items, all = append(items, rows...), append(all, x)
	}
	for n := range 10 {
		rows, _ := taskRows(t, "01OTHER", n)
		items = append(items, rows...)
	}
	// A request that is no task yet.
	head, _ := taskRows(t, tenant, tasks)
	write(t, st, append(items, head[0])...)

	kept := func(keep func(n int) bool) []string {
		var out []string
		for n, x := range all {
			if keep(n) {
				out = append(out, x.ID)
			}
		}
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		name   string
		filter TaskFilter
		limit  int
		keep   func(n int) bool
	}{
		{"by time", TaskFilter{}, 37, func(int) bool { return true }},
		{"by time, in pages that end with the list", TaskFilter{}, 100, func(int) bool { return true }},
		{"by status", TaskFilter{Status: task.TaskFailed}, 41, func(n int) bool { return n%3 == 0 }},
		{"by requester", TaskFilter{Requester: "U0ANOTHER"}, 43, func(n int) bool { return n%5 == 0 }},
		{"by requester and status", TaskFilter{Requester: requester, Status: task.TaskFailed}, 47, func(n int) bool { return n%5 != 0 && n%3 == 0 }},
		{"by a status that none has", TaskFilter{Status: task.TaskCancelled}, 10, func(int) bool { return false }},
		{"by a requester that nobody is", TaskFilter{Requester: "U0NOBODY"}, 10, func(int) bool { return false }},
	} {
		t.Run("tasks "+c.name+" come once each, the newest first", func(t *testing.T) {
			begun := time.Now()
			found := walk(t, c.limit, func(cursor string) (Page[task.Task], error) {
				return st.Tasks(t.Context(), tenant, c.filter, cursor, c.limit)
			})
			t.Logf("%d tasks in %v", len(found), time.Since(begun).Round(time.Millisecond))
			var got []string
			for i, x := range found {
				if i > 0 && found[i-1].CreatedAt.Before(x.CreatedAt) {
					t.Fatalf("task %d is newer than the one before it", i)
				}
				got = append(got, x.ID)
			}
			slices.Sort(got)
			if diff := cmp.Diff(kept(c.keep), got); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("what comes and goes between two pages hides nothing else", func(t *testing.T) {
		first, err := st.Tasks(t.Context(), tenant, TaskFilter{}, "", 50)
		if err != nil {
			t.Fatal(err)
		}
		newer, _ := taskRows(t, tenant, tasks+100)
		write(t, st, newer...)
		// The row that the cursor stands on is gone.
		last := first.Items[len(first.Items)-1]
		k := key("TASK#"+tenant+"#"+last.ID, "TASK")
		removed := raw(t, st, "TASK#"+tenant+"#"+last.ID, "TASK")
		if _, err := st.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &st.table, Key: k}); err != nil {
			t.Fatal(err)
		}
		defer write(t, st, removed)
		seen := map[string]bool{}
		for _, x := range first.Items {
			seen[x.ID] = true
		}
		rest := walk(t, 50, func(cursor string) (Page[task.Task], error) {
			if cursor == "" {
				cursor = first.Next
			}
			return st.Tasks(t.Context(), tenant, TaskFilter{}, cursor, 50)
		})
		for _, x := range rest {
			if seen[x.ID] {
				t.Errorf("task %s came twice", x.Title)
			}
			seen[x.ID] = true
		}
		for _, x := range all {
			if !seen[x.ID] {
				t.Errorf("task %s was lost", x.Title)
			}
		}
	})

	t.Run("a cursor is good for its own list only", func(t *testing.T) {
		mine, err := st.Tasks(t.Context(), tenant, TaskFilter{}, "", 5)
		if err != nil {
			t.Fatal(err)
		}
		others, err := st.Tasks(t.Context(), "01OTHER", TaskFilter{}, "", 5)
		if err != nil {
			t.Fatal(err)
		}
		list := func(f TaskFilter) func(string) error {
			return func(cursor string) error { return second(st.Tasks(t.Context(), tenant, f, cursor, 5)) }
		}
		forged := position{
			List: listing{name: "tasks", owner: "TASK#" + tenant + "#", filter: []string{"", ""}}.fingerprint(),
			PK:   "TASK#01OTHER#" + others.Items[0].ID, SK: "TASK", GPK: tasksOf("01OTHER"), GSK: timeText(others.Items[0].CreatedAt) + "#x",
		}
		half := forged
		half.GPK = tasksOf(tenant)
		for name, c := range map[string]struct {
			cursor string
			use    func(string) error
		}{
			"another tenant's":      {others.Next, list(TaskFilter{})},
			"of another filter":     {mine.Next, list(TaskFilter{Status: task.TaskFailed})},
			"of another list":       {mine.Next, func(c string) error { return second(st.Pending(t.Context(), tenant, c, 5)) }},
			"forged":                {forged.text(), list(TaskFilter{})},
			"forged by half":        {half.text(), list(TaskFilter{})},
			"not base64":            {"%%%", list(TaskFilter{})},
			"not JSON":              {base64.RawURLEncoding.EncodeToString([]byte("nonsense")), list(TaskFilter{})},
			"empty JSON":            {base64.RawURLEncoding.EncodeToString([]byte("{}")), list(TaskFilter{})},
			"longer than any is":    {strings.Repeat("A", 3000), list(TaskFilter{})},
			"one with a bit missed": {mine.Next[:len(mine.Next)-9], list(TaskFilter{})},
		} {
			var bad task.ErrField
			if err := c.use(c.cursor); !errors.As(err, &bad) || bad.Field != "cursor" {
				t.Errorf("%s: %v, want ErrField of cursor", name, err)
			}
		}
	})

	t.Run("bounds are named", func(t *testing.T) {
		for field, err := range map[string]error{
			"limit":  second(st.Tasks(t.Context(), tenant, TaskFilter{}, "", 0)),
			"status": second(st.Tasks(t.Context(), tenant, TaskFilter{Status: "done"}, "", 10)),
		} {
			var bad task.ErrField
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%v, want ErrField of %s", err, field)
			}
		}
		if _, err := st.Tasks(t.Context(), tenant, TaskFilter{}, "", MaxPage+1); err == nil {
			t.Error("a page larger than MaxPage was given")
		}
	})

	t.Run("a status that changes moves the task to the other list", func(t *testing.T) {
		st := s.store(t)
		ref := running(t, st, 1, 1)
		has := func(status task.TaskStatus) bool {
			p, err := st.Tasks(t.Context(), tenant, TaskFilter{Status: status}, "", 1)
			if err != nil {
				t.Fatal(err)
			}
			return len(p.Items) == 1 && p.Items[0].ID == ref.Task
		}
		if !has(task.TaskRunning) || has(task.TaskCancelled) {
			t.Error("a running task is not listed as that alone")
		}
		decided(t, st, ref, cancel)
		if has(task.TaskRunning) || !has(task.TaskCancelled) {
			t.Error("a cancelled task is not listed as that alone")
		}
	})
}

func testPending(t *testing.T, s *suite) {
	st := s.store(t)
	list := func(t *testing.T) []PendingItem {
		t.Helper()
		return walk(t, 2, func(cursor string) (Page[PendingItem], error) { return st.Pending(t.Context(), tenant, cursor, 2) })
	}
	var refs []task.Ref
	for n := range 5 {
		refs = append(refs, waitingPrompt(t, st, n))
	}

	t.Run("prompts that wait are listed, the oldest first", func(t *testing.T) {
		var got []string
		for _, x := range list(t) {
			got = append(got, x.TaskID)
			if x.Kind != task.CardPrompt || x.Key != "PROMPT#0001" || x.Version != 1 || x.ID == "" || x.DecideBy == nil || x.CreatedAt.IsZero() {
				t.Errorf("%+v", x)
			}
		}
		var want []string
		for _, r := range refs {
			want = append(want, r.Task)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("what is decided, cancelled or asks nobody is not", func(t *testing.T) {
		decided(t, st, refs[0], approvePrompt)
		decided(t, st, refs[1], rejectPrompt)
		decided(t, st, refs[2], cancel)
		unasked := created(t, st, 10)
		decided(t, st, unasked, extract, beginPrompt, func(a *task.Aggregate) (task.Change, error) {
			settings := task.DefaultSettings()
			settings.PromptApprovalRequired = false
			return a.FinishPrompt(a.Head.Run, "方針", settings, at())
		})
		var got []string
		for _, x := range list(t) {
			got = append(got, x.TaskID)
		}
		if diff := cmp.Diff([]string{refs[3].Task, refs[4].Task}, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("processes and step gates are listed as what they are", func(t *testing.T) {
		decided(t, st, refs[0], beginProcess, finishProcess(2))
		decided(t, st, refs[3], approvePrompt, beginProcess, finishProcess(1), approveProcess, start, func(a *task.Aggregate) (task.Change, error) {
			return a.OpenStepGate(a.Head.Run, 1, task.Blob{JSON: "{}"}, task.HashOf("{}"), at())
		})
		kinds := map[string]PendingItem{}
		for _, x := range list(t) {
			kinds[x.TaskID] = x
		}
		if got := kinds[refs[0].Task]; got.Kind != task.CardProcess || got.Version != 1 {
			t.Errorf("%+v, want a process", got)
		}
		if got := kinds[refs[3].Task]; got.Kind != task.CardStep || got.StepID != "step-1" {
			t.Errorf("%+v, want a step", got)
		}
	})

	t.Run("another tenant has none of them", func(t *testing.T) {
		p, err := st.Pending(context.Background(), "01OTHER", "", 10)
		if err != nil || len(p.Items) != 0 {
			t.Errorf("%d items, %v", len(p.Items), err)
		}
	})
}

// FuzzCursor: whatever text comes as a cursor, it is refused by name or leads into its own list.
func FuzzCursor(f *testing.F) {
	lists := []listing{
		{name: "tasks", owner: "TASK#t#", index: "GSI1", partitions: []string{tasksOf("t")}},
		{name: "audit", owner: "AUDIT#t#", partitions: []string{"AUDIT#t#2026-04", "AUDIT#t#2026-03"}},
	}
	f.Add("")
	f.Add(lists[0].behind(item{"PK": text("TASK#t#1"), "SK": text("TASK"), "GSI1PK": text(tasksOf("t")), "GSI1SK": text("x")}).text())
	f.Add(lists[1].behind(item{"PK": text("AUDIT#t#2026-03"), "SK": text("x")}).text())
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, l := range lists {
			p, err := l.readCursor(cursor)
			var bad task.ErrField
			if err != nil {
				if !errors.As(err, &bad) || bad.Field != "cursor" {
					t.Errorf("%v, want ErrField of cursor", err)
				}
				continue
			}
			at, start := l.resume(p)
			if at < 0 || at >= len(l.partitions) || !strings.HasPrefix(textOf(start, "PK"), l.owner) {
				t.Errorf("it leads to partition %d and key %v", at, start)
			}
		}
	})
}
