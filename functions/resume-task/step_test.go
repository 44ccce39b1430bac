package main

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// step brings the task to a step for which people must be looked up. This person stamped the steps, by the rule with
// this id.
func (w *ruledWorld) step(rule, stamped string, calls ...rules.Call) {
	w.T.Helper()
	o := pipelinetest.Along([]string{pipelinetest.Requester}, 1, pipelinetest.Desk("課長", 1, stamped))
	o.Rule.ID = rule
	w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p := a.Process()
		who := circulation.Person{User: stamped}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: stamped, Team: pipelinetest.Team, Member: true}
		act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: 1, Hash: p.Asked}
		return a.Act(p.ID, act, by, pipelinetest.Policy(), w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, w.Now()) })
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGateBy(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"),
			task.Found{LookUp: &circulation.Rule{ID: "01KS000000000000000000000A", Name: "すべて"}}, calls, s, w.Now())
	})
}

// gate resumes the task, whose step must wait for people then, and returns its gate.
func (w *ruledWorld) gate() *task.StepGate {
	w.T.Helper()
	next := w.resume()
	a := w.Load()
	g := a.GateOf(a.Execution(), 1)
	expect.Must(w.T, next.State == task.StateAwaitStepApproval && g.Status == aggregate.PendingApproval &&
		a.Head.PausedUntil == nil && w.pending() == 1 && len(g.Calls) == 0, "%+v, %+v, ended %+v", next, g, a.Head.Ended)
	return g
}

const ruleOfWorld = "01KS000000000000000000000A"

func TestPeopleAreLookedUpForAStep(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"another rule asks its route from the beginning":      testStepAnother,
		"the same rule asks who stamped the steps":            testStepSame,
		"who stamped and has left is not asked":               testStepLeft,
		"who stamped and is in no organisation is not asked":  testStepOrganised,
		"the run waits for Slack":                             testStepSilence,
		"rules that were ended leave it to the rule of steps": testStepEnded,
		"a rule refuses what the step's arguments are":        testStepRefused,
		"the task may be cancelled meanwhile":                 testStepCancelled,
	} {
		t.Run(name, func(t *testing.T) { run(t, newRuled(t, server)) })
	}
}

func testStepAnother(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO"))))
	w.step("01KS000000000000000000000Z", "U0TANAKA")
	g := w.gate()
	expect.That(t, len(g.Route.Stages) == 2 && g.Route.Hands == 2 && len(g.Route.Stages[0].People) == 2 &&
		g.Terms.Rule.ID == ruleOfWorld && g.Terms.Rule.Revision == 1, "%+v", g.Route)
}

func testStepSame(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO"))))
	w.step(ruleOfWorld, "U0TANAKA")
	expect.Same(t, w.gate().Route.Stages, []circulation.Stage{{Name: "課長", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U0TANAKA", Via: task.ViaStamped}}}})
}

func testStepLeft(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.step(ruleOfWorld, "U0LEFT")
	g := w.gate()
	expect.That(t, g.Route.Stages[0].Name == "経理" && len(g.Route.Stages[0].People) == 2, "%+v", g.Route)
}

func testStepOrganised(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Kind: rules.WhoManager, Level: 1})))
	w.step(ruleOfWorld, "U0TANAKA")
	g := w.gate()
	expect.That(t, g.Route.Stages[0].People[0].User == "U0BUCHO" && g.Route.Org == "v0", "%+v", g.Route)
}

func testStepSilence(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.step("01KS000000000000000000000Z", "U0TANAKA")
	w.slack.silent = slackapi.Unknown{Cause: "timeout"}
	next := w.resume()
	a := w.Load()
	expect.Must(t, next.State == task.StatePause && a.Head.PausedUntil != nil && a.Head.Parked == nil &&
		a.Unrouted() != nil && w.pending() == 0, "%+v, %+v", next, a.Head)
	rest := a.Head.PausedUntil.Sub(w.Now())
	expect.That(t, rest <= 7*time.Second && a.Execution().Status == task.ExecutionRunning, "again in %s", rest)
	w.Later(rest)
	w.slack.silent = nil
	w.gate()
}

func testStepEnded(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.step(ruleOfWorld, "U0TANAKA")
	w.rules(nil)
	g := w.gate()
	expect.That(t, g.Route.Stages[0].People[0].User == "U0TANAKA" && g.Terms.Rule.Revision == 1, "%+v", g)
}

func testStepRefused(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	known := rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/n"}, Currency: "JPY"}
	w.step(ruleOfWorld, "U0TANAKA", rules.Call{Access: aggregate.Write, Amount: known.Of("1", aggregate.Write, `{"n":5}`)})
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{
		{ID: ruleOfWorld, Name: "小額", Outcome: rules.Outcome{Refuse: "小口現金を使ってください。"},
			When: rules.Conditions{Amount: &rules.Between{Below: "100", Currency: "JPY"}}},
	}}
	_, _, err := w.Store.SaveRules(t.Context(), w.Ref.Tenant, x, w.revs, nil, w.By, w.Now())
	expect.NoError(t, err)
	next := w.resume()
	a := w.Load()
	expect.That(t, next.State == task.StateFinish && a.Head.Ended.Reason == task.ReasonStepRefused &&
		a.Execution().Status == task.ExecutionCancelled, "%+v, %+v", next, a.Head.Ended)
}

func testStepCancelled(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.step("01KS000000000000000000000Z", "U0TANAKA")
	w.slack.then = func() { w.Cancel() }
	_, err := w.process().Handle(t.Context(), w.In())
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded) && w.pending() == 0, "%v", err)
	expect.Is(t, w.resume().State, task.StateFinish, "after the end")
}
