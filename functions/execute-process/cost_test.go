package main

import (
	"testing"

	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/model"
	"ringi/shared/pipeline/pipelinetest"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

// limited is a store whose tenant's tasks may cost so many dollars.
func (w *world) limited(dollars float64) {
	s := tenancy.DefaultSettings()
	s.MaxCostUSD = dollars
	expect.Value(w.Store.SaveSettings(w.T.Context(), w.Ref.Tenant, s, pipelinetest.Approver(), w.Now()))(w.T)
}

func (w *world) spend(id string, dollars float64) {
	w.Decide(task.Charge(aggregate.Usage{ID: id, Calls: 1, Cost: aggregate.USD(dollars)}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
}

func TestAnExecutionUnderALimitOfCosts(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("no call begins once it is reached", func(t *testing.T) {
		w := newWorld(t, server)
		w.limited(3)
		w.approved(w.read(1), w.write(2))
		w.tools.before = func(tool.Call) { w.spend("1", 3.5) }
		if next := w.run(); next.State != task.StateFail {
			t.Errorf("%+v", next)
		}
		if e := w.ends(task.ExecutionFailed, task.ReasonCostLimit, task.StepCompleted); e.ErrorDetail != "3.50/3.00" {
			t.Errorf("said %q", e.ErrorDetail)
		}
	})
	t.Run("work that is done needs no model to say so", func(t *testing.T) {
		w := newWorld(t, server)
		w.limited(3)
		w.approved(w.read(1))
		asked := 0
		w.h.Open = func(string) (model.Generator, error) { asked++; return model.Demonstration{}, nil }
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
}
