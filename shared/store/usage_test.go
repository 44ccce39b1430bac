package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
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

	pay(used("1"), nothing)
	pay(used("2"), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: "t", Description: "d", Priority: task.Low, TaskType: task.TypeStandard}, at())
	})
	pay(used("2"), nothing)
	a := load()
	want := used("2")
	expect.Same(t, &want, a.Task.Usage)
	sum := aggregate.Usage{Calls: 2, Input: 2 << 40, Output: 4, Cached: 6, MS: 10, Cost: 7_000_000, Unpriced: 2}
	if diff := cmp.Diff(&sum, a.Used()); diff != "" || len(a.Uses) != 2 || a.Uses[1].Made != "TASK" {
		t.Errorf("%s in %d rows", diff, len(a.Uses))
	}
	expect.Same(t, a.Uses, expect.Value(st.Uses(t.Context(), ref))(t))
	testSpent(t, st, ref, used("2"))
	none := expect.Value(st.Uses(t.Context(), task.RefOf(ref.Tenant, aggregate.NewID())))(t)
	expect.Is(t, len(none), 0, "of a task that is not there")
}

// testSpent needs two usages of 3.50 dollars each, one of which was charged three times.
func testSpent(t *testing.T, st *taskStore, ref aggregate.Ref, u aggregate.Usage) {
	t.Helper()
	spent := func(now time.Time, day, month float64) {
		t.Helper()
		if got := expect.Value(st.Spent(t.Context(), ref.Tenant, now))(t); got != (tenancy.Sums{Day: aggregate.USD(day), Month: aggregate.USD(month)}) {
			t.Errorf("spent at %s: %+v, want %v and %v", now, got, day, month)
		}
	}
	spent(at(), 7, 7)
	spent(at().AddDate(0, 0, 1), 0, 7)
	spent(at().AddDate(0, 1, 0), 0, 0)
	// Failed calls cost as much as others and are charged once each, even if the whole run was superseded.
	superseded := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, aggregate.ErrSuperseded }
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			x := u
			x.ID = fmt.Sprintf("nothing-%d", i/2)
			_, err := st.Decide(t.Context(), ref, task.Charge(x, at().AddDate(0, 0, 2), superseded))
			expect.That(t, err == nil || errors.Is(err, aggregate.ErrSuperseded), "%v", err)
		})
	}
	wg.Wait()
	spent(at().AddDate(0, 0, 2), 5*3.5, 7+5*3.5)
	expect.Is(t, expect.Value(st.Spent(t.Context(), aggregate.NewID(), at()))(t), tenancy.Sums{}, "of another tenant")
}
