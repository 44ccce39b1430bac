package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

func TestPeopleAreLookedUpForARoute(t *testing.T) {
	server := ringitest.Start(t)
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"a user group stamps, named by its handle":               testGroup,
		"the run waits for Slack":                                testSilence,
		"a group that is gone refuses":                           testNobody,
		"rules that were ended ask as the settings say":          testEnded,
		"rules that change meanwhile are read again":             testChanged,
		"rules that change all the time are tried again":         testChanging,
		"the task may be cancelled meanwhile":                    testMeanwhile,
		"a run that dies is restarted, and another changes none": testRestart,
		"an organisation says who stands above":                  testOrganisation,
		"one's organisation that changes meanwhile counts anew":  testOrganisationThatChanges,
		"one's organisation that is removed leaves nobody out":   testOrganisationThatIsRemoved,
		"marks say what the rules know of the steps":             testMarks,
		"a mark that changes while Slack is asked counts":        testMarkThatChanges,
		"the process may die at each call":                       testDies,
	} {
		t.Run(name, func(t *testing.T) { run(t, newRuled(t, server)) })
	}
}

func testGroup(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO", "U0LEFT"))))
	w.unrouted()
	w.waits()
	p := w.opened(w.resume())
	expect.Same(t, p.Route.Stages, []circulation.Stage{
		{Name: "経理", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{
			{User: "U0TANAKA", Via: "group @keiri"}, {User: "U0ALEX", Via: "group @keiri"}}},
		{Name: "部長", Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{
			{User: "U0BUCHO", Via: "named by the rule"}}},
	})
	expect.That(t, p.Terms.Rule.Revision == 1 && p.Terms.Rule.Name == "すべて", "%+v", p.Terms.Rule)
	rev := w.Load().Head.Rev
	expect.Is(t, w.resume().State, task.StateAwaitProcessApproval, "again")
	expect.Is(t, w.Load().Head.Rev, rev, "opened twice")
}

func testSilence(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	for _, c := range []struct {
		silent error
		least  time.Duration
		most   time.Duration
	}{
		{slackapi.Unknown{Cause: "timeout"}, 5 * time.Second, 7 * time.Second}, // whatever the model took before
		{slackapi.RateLimited{RetryAfter: 10 * time.Minute}, 10 * time.Minute, 13 * time.Minute},
		{slackapi.Refused{Code: "invalid_auth", App: true}, 5 * time.Minute, 7 * time.Minute},
	} {
		w.slack.silent = c.silent
		next := w.resume()
		a := w.waits()
		rest := a.Head.PausedUntil.Sub(w.Now())
		expect.That(t, next.State == task.StatePause && rest >= c.least && rest <= c.most && !a.Stuck(w.Now().Add(rest)),
			"%v: %+v, again in %s", c.silent, next, rest)
		asked := len(w.slack.asked)
		expect.That(t, w.resume().State == task.StatePause && len(w.slack.asked) == asked, "asked before its time")
		w.Later(rest)
	}
	expect.That(t, w.Load().Stuck(w.Now().Add(aggregate.StuckAfter+time.Second)), "nobody restarts it")
	w.slack.silent = nil
	w.opened(w.resume())
}

func testNobody(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0GONE")), desk("部長", ofPeople("U0BUCHO"))))
	w.unrouted()
	next := w.resume()
	e := w.Load().Head.Ended
	expect.That(t, next.State == task.StateFinish && e != nil && e.Reason == task.ReasonNoRoute &&
		e.Detail == "経理\nvacant\n\nすべて",
		"%+v, %+v", next, e)
	expect.Is(t, w.pending(), 0, "waiting gates")
}

func testEnded(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	w.rules(nil)
	next := w.resume()
	p := w.Load().Process()
	expect.That(t, next.State == task.StateAwaitProcessApproval && p.Status == aggregate.PendingApproval && !p.Ruled() &&
		len(p.Steps) == 1 && len(w.slack.asked) == 0, "%+v, %+v", next, p.Gate)
}

func testChanged(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	w.slack.then = func() { w.rules(asks(desk("部長", ofPeople("U0BUCHO")))) }
	p := w.opened(w.resume())
	expect.That(t, p.Terms.Rule.Revision == 2 && p.Route.Stages[0].Name == "部長", "%+v, %+v", p.Terms.Rule, p.Route)
}

func testChanging(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	var again func()
	again = func() { w.rules(asks(desk("経理", group(fmt.Sprint("S0", w.revs))))); w.slack.then = again }
	again()
	expect.Fails(t, expect.Err(w.process().Handle(t.Context(), w.In())), aggregate.ErrConflict)
	w.slack.then = nil
	w.waits()
}

func testMeanwhile(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	w.slack.then = func() { w.Cancel() }
	_, err := w.process().Handle(t.Context(), w.In())
	e := w.Load().Head.Ended
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded) && e.As == task.TaskCancelled && e.By == w.By.ID &&
		w.pending() == 0, "%v, %+v", err, e)
	expect.Is(t, w.resume().State, task.StateFinish, "after the end")
}

func testRestart(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.unrouted()
	old := w.In()
	a := w.Load()
	late := w.Now().Add(aggregate.StuckAfter + time.Second)
	expect.That(t, a.Effects(w.Now()).Run != nil && !a.Stuck(w.Now()) && a.Stuck(late), "the sweeper starts no run")
	w.Restart()
	_, err := w.process().Handle(t.Context(), old)
	expect.That(t, errors.Is(err, aggregate.ErrSuperseded) && w.Load().Process().Status == aggregate.Generating, "%v", err)
	w.slack.then = w.Restart
	expect.Fails(t, expect.Err(w.process().Handle(t.Context(), w.In())), aggregate.ErrSuperseded)
	w.opened(w.resume())
}

// A tenant's marks are read when its people are looked up: they say what a call moves.
func testMarks(t *testing.T, w *ruledWorld) {
	w.withinMark()
	expect.Is(t, w.opened(w.resume()).Terms.Rule.Name, "社内", "rule")
}

func testMarkThatChanges(t *testing.T, w *ruledWorld) {
	p := w.withinMark()
	w.slack.then = func() {
		p.Mark.LabelledBy = []rules.Label{{Name: "宛先", Pointer: "/text"}}
		expect.Value(w.Store.SaveToolPermission(t.Context(), p, w.By, w.Now()))(t)
	}
	w.resume()
	e := w.Load().Head.Ended
	expect.That(t, e != nil && e.Reason == task.ReasonRuleRefuses, "%+v, %+v", e, w.Load().Process().Gate)
}

// withinMark has steps wait for their route whose label is a listed one, as the returned row's mark says.
func (w *ruledWorld) withinMark() tenancy.ToolPermission {
	w.T.Helper()
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.mark = &rules.Mark{Version: "1", How: rules.HowNothing, LabelledBy: []rules.Label{{Name: "宛先", Pointer: "/user"}}}
	w.unrouted()
	x := &rules.Rules{Rules: []rules.Rule{
		{ID: "01KS000000000000000000000A", Name: "社内", Outcome: *asks(desk("課長", group("S0KEIRI"))),
			Conditions: rules.Conditions{Labels: map[string][]string{"宛先": []string{"U1"}}}},
		{ID: "01KS000000000000000000000B", Name: "社外", Outcome: rules.Outcome{Refuse: "外には送れません"}},
	}}
	_, rev, err := w.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, w.revs, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	w.revs = rev
	p := tenancy.Unsaved(w.Ref.Tenant, "send_slack_dm")
	p.Mark = &rules.Mark{Version: "1", How: rules.HowNothing, LabelledBy: []rules.Label{{Name: "宛先", Pointer: "/user"}}}
	return expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, w.By, w.Now()))(w.T)
}

// The process may die at each of its calls, before or after it is made. The next try opens one gate.
func testDies(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	for _, action := range []string{"Query", "GetItem", "TransactWriteItems"} {
		for name, lose := range map[string]func(string, int){
			"call": w.Transport.DropCalls, "answer": w.Transport.DropAnswers,
		} {
			x := &ruledWorld{World: w.Another(), slack: w.slack}
			x.unrouted()
			in := x.In()
			lose(action, 99)
			_, err := x.process().Handle(t.Context(), in)
			w.Transport.ClearFaults()
			next := x.resume()
			a := x.Load()
			routed := len(expect.Value(x.Store.Audit(t.Context(), x.Ref.Tenant, store.AuditFilter{
				Action: task.AuditProcessRouted, Resource: x.Ref.ID}, "", 10))(t).Items)
			expect.That(t, next.State == task.StateAwaitProcessApproval && len(a.Processes) == 1 && routed == 1 &&
				a.Process().Status == aggregate.PendingApproval,
				"%s's %s lost: %v, then %+v, routed %d times", action, name, err, next, routed)
		}
	}
}

// step brings the task to a step for which people must be looked up. This person stamped the steps, by the rule with
// this id.
func (w *ruledWorld) step(rule, stamped string, calls ...rules.Call) {
	w.T.Helper()
	o := ringitest.Along([]string{ringitest.Requester}, ringitest.Desk("課長", 1, stamped))
	o.Rule.ID = rule
	w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p := a.Process()
		who := circulation.Person{User: stamped}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: stamped, Team: ringitest.Team, Member: true}
		act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: 1, Hash: p.AskedSum}
		return a.Act(p.ID, act, by, ringitest.Policy(), w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.StartExecution(a.Head.Run, task.Series{}, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"), calls, w.Now())
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
	server := ringitest.Start(t)
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"another rule asks its route from the beginning":      testStepAnother,
		"the same rule asks who stamped the steps":            testStepSame,
		"who stamped and is in no organisation is not asked":  testStepOrganised,
		"rules that were ended leave it to the rule of steps": testStepEnded,
		"a rule refuses what the step's arguments are":        testStepRefused,
	} {
		t.Run(name, func(t *testing.T) { run(t, newRuled(t, server)) })
	}
}

func testStepAnother(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO"))))
	w.step("01KS000000000000000000000Z", "U0TANAKA")
	g := w.gate()
	expect.That(t, len(g.Route.Stages) == 2 && len(g.Route.Stages[0].People) == 2 &&
		g.Terms.Rule.ID == ruleOfWorld && g.Terms.Rule.Revision == 1, "%+v", g.Route)
}

func testStepSame(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO"))))
	w.step(ruleOfWorld, "U0TANAKA")
	expect.Same(t, w.gate().Route.Stages, []circulation.Stage{{Name: "課長", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U0TANAKA", Via: task.ViaStamped}}}})
}

func testStepOrganised(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.step(ruleOfWorld, "U0TANAKA")
	g := w.gate()
	expect.That(t, g.Route.Stages[0].People[0].User == "U0BUCHO", "%+v", g.Route)
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
	w.step(ruleOfWorld, "U0TANAKA", rules.Call{Access: aggregate.Write,
		Amount: known.AmountOf("1", aggregate.Write, `{"n":5}`)})
	x := &rules.Rules{Rules: []rules.Rule{
		{ID: ruleOfWorld, Name: "小額", Outcome: rules.Outcome{Refuse: "小口現金を使ってください。"},
			Conditions: rules.Conditions{Below: "100", Currency: "JPY"}},
	}}
	_, _, err := w.Store.SaveRules(t.Context(), w.Ref.Tenant, x, w.revs, nil, w.By, w.Now())
	expect.NoError(t, err)
	next := w.resume()
	a := w.Load()
	expect.That(t, next.State == task.StateFinish && a.Head.Ended.Reason == task.ReasonStepRefused &&
		a.Execution().Status == task.ExecutionCancelled, "%+v, %+v", next, a.Head.Ended)
}
