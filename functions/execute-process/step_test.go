package main

import (
	"context"
	"encoding/json"
	"testing"

	"ringi/infra/local/vendors"
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

func TestConstraintsHoldWhenAStepIsCalled(t *testing.T) {
	server := pipelinetest.Start(t)
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, w *world)
	}{
		{"a value that is not listed is not called", testNotListed},
		{"a destination that nothing lists opens one", testUnlistedDestination},
		{"a constraint that comes before the claim holds", testConstraintBeforeClaim},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // mostly waits
			tt.run(t, newWorld(t, server))
		})
	}
}

// constrain saves the constraints of a tool, as an administrator does.
func (w *world) constrain(name string, constraints aggregate.JSON) {
	w.T.Helper()
	p, _, err := w.Store.ToolPermission(w.T.Context(), w.Ref.Tenant, name)
	expect.NoError(w.T, err)
	p.Constraints = constraints
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, aggregate.System(), w.Now(),
		w.h.Catalog.Knows(name)...))(w.T)
}

// breaking is how the sentence about a constraint names what it doesn't allow.
var breaking = map[tenancy.Constraint]string{"spreadsheet_ids": "への書き込みは許可されていません", "recipients": "への送信は許可されていません",
	"departments": "の読み取りは許可されていません", tenancy.MaxRows: "行までです"}

// breaks checks that the execution failed for a constraint, and that its sentence says so.
func (w *world) breaks(name tenancy.Constraint, steps ...task.StepStatus) *task.Execution {
	w.T.Helper()
	e := w.ends(task.ExecutionFailed, task.ReasonToolConstraint, steps...)
	expect.Must(w.T, breaking[name] != "", "no sentence for %s", name)
	expect.Has(w.T, e.ErrorDetail, breaking[name])
	return e
}

func testNotListed(t *testing.T, w *world) {
	w.constrain(writing, `{"spreadsheet_ids":["another"]}`)
	w.approved(w.lone(1))
	w.run()
	e := w.breaks(tenancy.OnlySpreadsheets)
	w.written(0)

	w.constrain(writing, `{"spreadsheet_ids":["another","`+vendors.Sheet+`"]}`)
	w.retry(e)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	w.written(1)
}

// follow writes into the spreadsheet that the first step returns, which no person has seen.
func (w *world) follow(order int) task.Step {
	return w.step(order, writing, aggregate.Write,
		`{"spreadsheet_id":{"$ref":"step-1.result.spreadsheet_id"},"sheet":"写し",
			"columns":[{"key":"n","title":"氏名"}],"rows":[{"n":"a"}]}`)
}

func testUnlistedDestination(t *testing.T, w *world) {
	w.approved(w.lone(1), w.follow(2))
	next := w.run()
	expect.That(t, next.State == task.StateAwaitStepApproval && next.Gate == task.GateKey(1, 1, 2), "%+v", next)
	w.written(1)
}

// savesMeanwhile changes a permission while a step's arguments are being stored.
type savesMeanwhile struct {
	Results
	save func()
}

func (l savesMeanwhile) KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage,
	members map[string]any) (aggregate.Blob, error) {
	l.save()
	return l.Results.KeepArguments(ctx, ref, v, members)
}

func testConstraintBeforeClaim(t *testing.T, w *world) {
	w.approved(w.lone(1))
	saved := false
	w.h.Results = savesMeanwhile{w.h.Results, func() {
		if !saved {
			saved = true
			w.constrain(writing, `{"spreadsheet_ids":["another"]}`)
		}
	}}
	w.run()
	expect.That(t, w.breaks(tenancy.OnlySpreadsheets).StartedAt != nil, "it failed without a start")
	w.written(0)
}

// limited sets the tenant's cost limit for a task, in dollars.
func (w *world) limited(dollars float64) {
	s := tenancy.DefaultSettings()
	s.MaxCostUSD = dollars
	expect.Value(w.Store.SaveSettings(w.T.Context(), w.Ref.Tenant, s, pipelinetest.Approver(), w.Now()))(w.T)
}

func (w *world) spend(id string, dollars float64) {
	w.Decide(task.Charge(aggregate.Usage{ID: id, Calls: 1, Cost: aggregate.USD(dollars)}, w.Now(),
		func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
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
		expect.That(t, e.Usage != nil && e.Usage.Calls == 1 && e.Usage.Input != 0 && a.Used().Input == e.Usage.Input,
			"row %+v, sum %+v", e.Usage, a.Used())
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
