package main

import (
	"context"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

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
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, pipelinetest.Desk("課長", 1, "U0CHIEF"))
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	w.stamp("U0CHIEF")
}

// stamp stamps the gate under a rule that waits, at its present stage.
func (w *world) stamp(user string) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		open, _ := a.OpenGate()
		g := a.Asked(open.ID).Gate
		st := circulation.Walk(g.Circulating())
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: pipelinetest.Team, Member: true}
		who := circulation.Person{User: user}
		act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: st.Present, Hash: g.AskedSum}
		return a.Act(open.ID, act, by, pipelinetest.Policy(), w.Now())
	})
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
	server := pipelinetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"another rule takes it":             testAnotherRule,
		"the tools' marks change meanwhile": testMarksChange,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, server)) })
	}
}

func testAnotherRule(t *testing.T, w *world) {
	w.referring()
	g := w.asked()
	expect.That(t, len(g.Calls) == 2 && g.Calls[1].Amount.Known() && g.Arguments.S3Key != "", "%+v", g)
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, pipelinetest.Desk("部長", 1, "U0BUCHO"),
		pipelinetest.Desk("役員", 1, "U0YAKUIN"))
	w.opens(&o)
	w.stamp("U0BUCHO")
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	w.stamp("U0YAKUIN")
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
}

// A write whose amount came from a result is asked about wherever the steps are under a rule. Nothing else is, by that.
func TestAMarkedReferenceIsAlwaysAskedAbout(t *testing.T) {
	server := pipelinetest.Start(t)
	steps := func(w *world) []task.Step { return []task.Step{w.read(1), w.write(2)} }
	unmarked := newWorld(t, server)
	unmarked.settledBy(steps(unmarked)...)
	unruled := newWorld(t, server)
	unruled.marked()
	unruled.approved(steps(unruled)...)
	for _, w := range []*world{unmarked, unruled} {
		w.run()
		w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
		w.written(1)
	}
	marked := newWorld(t, server).referring()
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
