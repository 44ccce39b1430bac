package main

import (
	"context"
	"encoding/json"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestConstraintsHoldWhenAStepIsCalled(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"a value that is not listed is not called":       testNotListed,
		"a destination that nothing lists opens one":     testUnlistedDestination,
		"a constraint that comes before the claim holds": testConstraintBeforeClaim,
	})
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

// constrained checks that the execution failed for a constraint, and that its sentence says so.
func (w *world) constrained() *task.Execution {
	w.T.Helper()
	e := w.ends(task.ExecutionFailed, task.ReasonToolConstraint)
	expect.Has(w.T, e.ErrorDetail, "許可されていません")
	return e
}

func testNotListed(t *testing.T, w *world) {
	w.constrain(writing, `{"spreadsheet_ids":["another"]}`)
	w.approved(w.lone(1))
	w.run()
	e := w.constrained()
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

func (l savesMeanwhile) KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (
	aggregate.Blob, error) {
	l.save()
	return l.Results.KeepArguments(ctx, ref, v)
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
	expect.That(t, w.constrained().StartedAt != nil, "it failed without a start")
	w.written(0)
}

func TestAnExecutionUnderALimitOfCosts(t *testing.T) {
	t.Parallel()
	t.Run("no call begins once it is reached", func(t *testing.T) {
		w := newWorld(t)
		w.Settings(func(s *tenancy.Settings) { s.MaxCostUSD = 3 })
		w.approved(w.read(1), w.write(2))
		w.tools.before = func(tool.Call) { w.Spend("1", 3.5) }
		expect.Is(t, w.run().State, task.StateFail)
		expect.Is(t, w.ends(task.ExecutionFailed, task.ReasonCostLimit, task.StepCompleted).ErrorDetail, "3.50/3.00")
	})
	t.Run("work that is done needs no model to say so", func(t *testing.T) {
		w := newWorld(t)
		w.Settings(func(s *tenancy.Settings) { s.MaxCostUSD = 3 })
		w.approved(w.read(1))
		asked := 0
		w.h.Open = func(string) (model.Wire, error) { asked++; return demo.Layers{}, nil }
		w.tools.before = func(tool.Call) { w.Spend("1", 3) }
		w.run()
		if e := w.ends(task.ExecutionCompleted, "", task.StepCompleted); e.Summary == "" || e.Usage != nil || asked != 0 {
			t.Errorf("asked %d times, %+v, %q", asked, e.Usage, e.Summary)
		}
	})
	t.Run("a summary is paid for", func(t *testing.T) {
		w := newWorld(t)
		w.approved(w.read(1))
		w.run()
		e, a := w.ends(task.ExecutionCompleted, "", task.StepCompleted), w.Load()
		expect.That(t, e.Usage != nil && e.Usage.Calls == 1 && e.Usage.Input != 0 && a.Used().Input == e.Usage.Input,
			"row %+v, sum %+v", e.Usage, a.Used())
	})
	t.Run("a summary that can't be saved is paid for", func(t *testing.T) {
		w := newWorld(t)
		w.approved(w.read(1))
		g := &modeltest.Demo{Before: w.RefuseCommits}
		w.h.Open = g.Open
		_, err := w.try(functionTime)
		w.PaidAlone(err)
	})
}

// referring brings the task to steps whose write has its amount from the read before it, which is known only then. One
// person stamped them, under the rule for everything.
func (w *world) referring() *world {
	w.T.Helper()
	w.marked()
	w.settledBy(w.read(1), w.write(2))
	return w
}

// marked says where the amount of a write is.
func (w *world) marked() {
	w.T.Helper()
	w.markedAt("/rows/*/id")
}

func (w *world) markedAt(pointer string) {
	w.T.Helper()
	p, _, err := w.Store.ToolPermission(w.T.Context(), w.Ref.Tenant, writing)
	expect.NoError(w.T, err)
	spec, _ := w.h.Catalog.Lookup(writing)
	p.Mark = &rules.Mark{Version: spec.Version(), How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY"}
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, w.By, w.Now()))(w.T)
}

// settledBy has one person stamp steps under the rule for everything. They carry the mark that their tool has now.
func (w *world) settledBy(steps ...task.Step) {
	w.T.Helper()
	p, _, err := w.Store.ToolPermission(w.T.Context(), w.Ref.Tenant, writing)
	expect.NoError(w.T, err)
	for i, s := range steps {
		if s.Tool == writing {
			steps[i].Mark = p.Mark
		}
	}
	o := ringitest.Along([]string{w.Load().Head.Requester}, ringitest.Desk("課長", 1, "U0CHIEF"))
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	w.Stamp("U0CHIEF")
}

// asked runs the steps up to the write, whose people must be looked up, and returns its gate.
func (w *world) asked() *task.StepGate {
	w.T.Helper()
	for range 2 {
		next := w.run()
		a := w.Load()
		expect.Must(w.T, next.State == task.StateResumeTask && a.Unopened() == task.Gated(a.GateOf(a.Execution(), 2)),
			"%+v, ended %+v", next, a.Head.Ended)
	}
	w.written(0)
	return w.Load().GateOf(w.Load().Execution(), 2)
}

// opens opens the gate of the write; nil: under the rule of the steps.
func (w *world) opens(o *aggregate.Opening) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Open(a.Head.Run, a.Unopened().Key(), o, tenancy.DefaultSettings(), w.Now())
	})
}

func TestRulesDecideAgainAboutResolvedArguments(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"another rule takes it":             testAnotherRule,
		"the tools' marks change meanwhile": testMarksChange,
	})
}

func testAnotherRule(t *testing.T, w *world) {
	w.referring()
	g := w.asked()
	expect.That(t, len(g.Calls) == 2 && g.Calls[1].Amount.Known() && g.Arguments.S3Key != "", "%+v", g)
	o := ringitest.Along([]string{w.Load().Head.Requester}, ringitest.Desk("部長", 1, "U0BUCHO"),
		ringitest.Desk("役員", 1, "U0YAKUIN"))
	w.opens(&o)
	w.Stamp("U0BUCHO")
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	w.Stamp("U0YAKUIN")
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
}

// A write whose amount came from a result is asked about wherever the steps are under a rule. Nothing else is, by that.
func TestAMarkedReferenceIsAlwaysAskedAbout(t *testing.T) {
	t.Parallel()
	steps := func(w *world) []task.Step { return []task.Step{w.read(1), w.write(2)} }
	unmarked := newWorld(t)
	unmarked.settledBy(steps(unmarked)...)
	unruled := newWorld(t)
	unruled.marked()
	unruled.approved(steps(unruled)...)
	for _, w := range []*world{unmarked, unruled} {
		w.run()
		w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
		w.written(1)
	}
	marked := newWorld(t).referring()
	expect.That(t, marked.Load().Execution().Terms.AutoApproveTools, "every write is asked about")
	marked.asked()
}

// A mark that is saved once the permissions were read counts for the step that is about to be asked about.
func testMarksChange(t *testing.T, w *world) {
	w.referring()
	w.h.Store = &marking{w.h.Store, func() { w.markedAt("/nowhere") }}
	g := w.asked()
	expect.That(t, !g.Calls[1].Amount.Known(), "%+v", g.Calls)
}

// marking is a store in which a mark is saved after the permissions were read.
type marking struct {
	Store
	then func()
}

func (m *marking) ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error) {
	all, err := m.Store.ToolPermissions(ctx, tenant)
	if then := m.then; then != nil {
		m.then = nil
		then()
	}
	return all, err
}
