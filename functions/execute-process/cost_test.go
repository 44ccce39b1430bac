package main

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// limited sets the tenant's cost limit for a task, in dollars.
func (w *world) limited(dollars float64) {
	s := tenancy.DefaultSettings()
	s.MaxCostUSD = dollars
	expect.Value(w.Store.SaveSettings(w.T.Context(), w.Ref.Tenant, s, pipelinetest.Approver(), w.Now()))(w.T)
}

func (w *world) spend(id string, dollars float64) {
	w.Decide(task.Charge(aggregate.Usage{ID: id, Calls: 1, Cost: aggregate.USD(dollars)}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
}

// reads counts a store's reads of tasks and usages, and the rows of these.
type reads struct{ tasks, usages, rows int }

type countedReads struct {
	Store
	reads
}

func (s *countedReads) Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error) {
	s.tasks++
	return s.Store.Load(ctx, ref)
}

func (s *countedReads) Uses(ctx context.Context, ref aggregate.Ref) ([]*aggregate.Use, error) {
	uses, err := s.Store.Uses(ctx, ref)
	s.usages++
	s.rows += len(uses)
	return uses, err
}

func TestAnExecutionUnderALimitOfCosts(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("no call begins once it is reached", func(t *testing.T) {
		w := newWorld(t, server)
		w.limited(3)
		w.approved(w.read(1), w.write(2))
		w.tools.before = func(tool.Call) { w.spend("1", 3.5) }
		expect.Is(t, w.run().State, task.StateFail)
		expect.Is(t, w.ends(task.ExecutionFailed, task.ReasonCostLimit, task.StepCompleted).ErrorDetail, "3.50/3.00")
	})
	t.Run("work that is done needs no model to say so", func(t *testing.T) {
		w := newWorld(t, server)
		w.limited(3)
		w.approved(w.read(1))
		asked := 0
		w.h.Open = func(string) (model.Wire, error) { asked++; return demo.Layers{}, nil }
		w.tools.before = func(tool.Call) { w.spend("1", 3) }
		w.run()
		if e := w.ends(task.ExecutionCompleted, "", task.StepCompleted); e.Summary == "" || e.Usage != nil || asked != 0 {
			t.Errorf("asked %d times, %+v, %q", asked, e.Usage, e.Summary)
		}
	})
	t.Run("a summary is paid for", func(t *testing.T) {
		w := newWorld(t, server)
		w.approved(w.read(1))
		w.run()
		e, a := w.ends(task.ExecutionCompleted, "", task.StepCompleted), w.Load()
		if e.Usage == nil || e.Usage.Calls != 1 || e.Usage.Input == 0 || a.Used().Input != e.Usage.Input {
			t.Errorf("row %+v, sum %+v", e.Usage, a.Used())
		}
	})
	t.Run("a summary that can't be saved is paid for", func(t *testing.T) {
		w := newWorld(t, server)
		w.approved(w.read(1))
		g := &modeltest.Demo{Before: w.RefuseCommits}
		w.h.Open = g.Open
		_, err := w.try(functionTime)
		w.PaidAlone(err)
	})
}

func TestWhatIsReadUnderALimitOfCosts(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("only what was paid is read before each step", func(t *testing.T) {
		// before two steps and at the end, two usages each
		for limit, want := range map[float64]reads{0: {}, 100: {usages: 3, rows: 6}} {
			w := newWorld(t, server)
			w.limited(limit)
			w.approved(w.read(1), w.read(2))
			w.spend("1", 1)
			w.spend("2", 1)
			counted := &countedReads{Store: w.h.Store}
			w.h.Store = counted
			w.run()
			w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
			expect.Same(t, want, counted.reads, cmp.AllowUnexported(reads{}))
			t.Logf("limit %v: a whole load is %d rows", limit, len(w.Load().Rows()))
		}
	})
}
