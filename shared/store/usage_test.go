package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/task"
)

func testUsage(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	load := func() *task.Aggregate {
		t.Helper()
		return loaded(t, st, ref)
	}
	pay := func(u aggregate.Usage, decide func(a *task.Aggregate) (aggregate.Change, error)) {
		t.Helper()
		after := expect.Value(st.Decide(t.Context(), ref, task.Charge(u, at(), decide)))(t)
		if diff := cmp.Diff(load(), after, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".DueAt" }, cmp.Ignore())); diff != "" {
			t.Error("what was loaded is not what was committed:", diff)
		}
	}
	used := func(id string) aggregate.Usage {
		return aggregate.Usage{
			ID: id, Provider: "anthropic", Model: "claude-sonnet-4-6", Prompt: "extract.ja.1", RequestID: "req_1", Calls: 1,
			Sent:  &aggregate.Blob{Bytes: 9000, S3Key: "prompts/01TENANT/01TASK/" + aggregate.HashOf(id) + ".json"},
			Input: 1 << 40, Output: 2, Cached: 3, Written: 4, MS: 5, Cost: 3_500_000, Unpriced: 1,
		}
	}
	nothing := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }

	if h := load().Head; h.Usage != nil || h.Charged != nil {
		t.Errorf("a new head has been charged: %+v", h)
	}
	pay(used("1"), nothing)
	pay(used("2"), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: "t", Description: "d", Priority: task.Low, TaskType: task.TypeStandard}, at())
	})
	pay(used("2"), nothing)
	a := load()
	want := used("2")
	expect.Same(t, &want, a.Task.Usage)
	sum := aggregate.Usage{Calls: 2, Input: 2 << 40, Output: 4, Cached: 6, MS: 10, Cost: 7_000_000, Unpriced: 2}
	if diff := cmp.Diff(&sum, a.Used()); diff != "" || a.Head.Usage != nil || len(a.Uses) != 2 || a.Uses[1].Made != "TASK" {
		t.Errorf("%s in %d rows", diff, len(a.Uses))
	}
	expect.Same(t, a.Uses, expect.Value(st.Uses(t.Context(), ref))(t))
	if none := expect.Value(st.Uses(t.Context(), task.RefOf(ref.Tenant, aggregate.NewID())))(t); len(none) != 0 {
		t.Errorf("of a task that is not there: %d", len(none))
	}
}
