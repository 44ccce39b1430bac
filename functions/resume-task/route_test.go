package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"a user group stamps, named by its handle":               testGroup,
		"the run waits for Slack":                                testSilence,
		"a group that is gone refuses":                           testNobody,
		"rules that were ended ask as the settings say":          testEnded,
		"rules that change meanwhile are read again":             testChanged,
		"rules that change all the time are tried again":         testChanging,
		"the task may be cancelled meanwhile":                    testMeanwhile,
		"a run that dies is restarted, and another changes none": testRestart,
		"one's organisation that changes meanwhile counts anew":  testOrganisationThatChanges,
		"marks say what the rules know of the steps":             testMarks,
		"a mark that changes while Slack is asked counts":        testMarkThatChanges,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newRuled(t))
		})
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

// Nobody is asked to stamp a message to somebody of another workspace, to a bot or to whom Slack doesn't know.
func TestAMessageToAnotherWorkspaceIsRefusedBeforeAnybodyStamps(t *testing.T) {
	for to, user := range map[string]slackapi.User{
		"U0OTHER": {ID: "U0OTHER", Team: "T0ELSE"}, "x@else.example": {ID: "U0OTHER", Team: "T0ELSE"},
		"U0BOT":   {ID: "U0BOT", Team: ringitest.Team, Bot: true},
		"U0GUEST": {ID: "U0GUEST", Team: ringitest.Team, Guest: true},
	} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			w := ringitest.Start(t).World(t)
			w.Prompted(tenancy.DefaultSettings())
			w.Approve()
			s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.FinishProcess(a.Head.Run, []task.Step{ringitest.Step(1, "send_slack_dm", aggregate.Write,
					`{"recipient":"`+to+`","text":"x","details":[]}`)}, "", s, w.Now())
			})
			expect.Is(t, w.Load().Process().Status, aggregate.Generating, "nobody is asked yet")
			h := handler(w)
			h.Slack = answers{team: ringitest.Team, user: user, err: slackapi.Unknown{Cause: "timeout"}}
			expect.Is(t, expect.Value(h.Handle(t.Context(), w.In()))(t).State, task.StatePause, "Slack is silent")
			w.Later(time.Hour)
			h = handler(w)
			h.Slack = answers{team: ringitest.Team, user: user}
			next, a := expect.Value(h.Handle(t.Context(), w.In()))(t), w.Load()
			if user.Guest {
				expect.That(t, next.State == task.StateAwaitProcessApproval && a.Process().Status == aggregate.PendingApproval,
					"%+v, %+v", next, a.Head.Ended)
				return
			}
			e := a.Head.Ended
			expect.That(t, next.State == task.StateFinish && e != nil && e.Reason == task.ReasonNoRecipient && e.Detail == to &&
				a.Process().Gate.ApprovedAt == nil, "%+v, %+v", next, e)
		})
	}
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
	w.saves(rules.Rule{ID: ruleOfWorld, Name: "社内", Outcome: *asks(desk("課長", group("S0KEIRI"))),
		Conditions: rules.Conditions{Labels: map[string][]string{"宛先": []string{"U1"}}}},
		rules.Rule{ID: "01KS000000000000000000000B", Name: "社外", Outcome: rules.Outcome{Refuse: "外には送れません"}})
	p := tenancy.Unsaved(w.Ref.Tenant, "send_slack_dm")
	p.Mark = &rules.Mark{Version: "1", How: rules.HowNothing, LabelledBy: []rules.Label{{Name: "宛先", Pointer: "/user"}}}
	return expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, w.By, w.Now()))(w.T)
}

// Wherever the process dies, the next try opens one gate.
func TestOneGateOpensWhereverTheProcessDies(t *testing.T) {
	ringitest.EachDeath(t, func(d *ringitest.Death) {
		w := newRuled(t)
		w.rules(asks(desk("経理", group("S0KEIRI"))))
		w.unrouted()
		w.Over(d)
		_, _ = w.process().Handle(t.Context(), w.In())
		d.Live()
		w.opened(w.resume())
		routed := expect.Value(w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{Action: task.AuditProcessRouted,
			Resource: w.Ref.ID}, "", 10))(t).Items
		expect.That(t, len(w.Load().Processes) == 1 && len(routed) == 1, "routed %d times", len(routed))
	})
}

// step brings the task to a step for which people must be looked up. Tanaka stamped the steps, by the world's rule.
func (w *ruledWorld) step(calls ...rules.Call) {
	w.T.Helper()
	o := ringitest.Along([]string{ringitest.Requester}, ringitest.Desk("課長", 1, "U0TANAKA"))
	o.Rule.ID = ruleOfWorld
	w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`))
	w.Stamp("U0TANAKA")
	w.Begin()
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
	for name, run := range map[string]func(*testing.T, *ruledWorld){
		"the same rule asks who stamped the steps":            testStepSame,
		"rules that were ended leave it to the rule of steps": testStepEnded,
		"a rule refuses what the step's arguments are":        testStepRefused,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newRuled(t))
		})
	}
}

func testStepSame(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI")), desk("部長", ofPeople("U0BUCHO"))))
	w.step()
	expect.Same(t, w.gate().Route.Stages, []circulation.Stage{{Name: "課長", Mode: circulation.ModePeople, Need: 1,
		People: []circulation.Person{{User: "U0TANAKA", Via: task.ViaStamped}}}})
}

func testStepEnded(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	w.step()
	w.rules(nil)
	g := w.gate()
	expect.That(t, g.Route.Stages[0].People[0].User == "U0TANAKA" && g.Terms.Rule.Revision == 1, "%+v", g)
}

// company is a workspace in which Keiri has an asker, two full members, a guest and one who has left.
type company struct {
	answers
	mu     sync.Mutex
	silent error // in place of every answer about people and groups
	asked  []string
	left   string // has left, too
	then   func() // done at the next question
}

func (c *company) ask(about string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	c.asked = append(c.asked, about)
	return c.silent
}

func (c *company) User(_ context.Context, id string) (slackapi.User, error) {
	if id == "U0NOBODY" {
		return slackapi.User{}, slackapi.Refused{Code: slackapi.CodeUserNotFound, Permanent: true}
	}
	return slackapi.User{ID: id, Team: ringitest.Team, Guest: id == "U0GUEST", Gone: id == "U0LEFT" || id == c.left,
		Bot: id == "U0APP", Mail: mailOf(id)}, c.ask(id)
}

func mailOf(id string) string { return strings.ToLower(id) + "@example.com" }

func (c *company) UserByMail(_ context.Context, mail string) (slackapi.User, error) {
	id := strings.ToUpper(strings.TrimSuffix(mail, "@example.com"))
	return slackapi.User{ID: id, Team: ringitest.Team, Mail: mail}, c.ask(mail)
}

func (c *company) UsergroupMembers(_ context.Context, group string) ([]string, error) {
	if err := c.ask(group); err != nil {
		return nil, err
	}
	if group == "S0KEIRI" {
		return []string{ringitest.Requester, "U0TANAKA", "U0GUEST", "U0LEFT", "U0ALEX"}, nil
	}
	return nil, slackapi.Refused{Code: slackapi.CodeNoSuchGroup}
}

func (c *company) Usergroups(context.Context) ([]slackapi.Group, error) {
	return []slackapi.Group{{ID: "S0KEIRI", Handle: "keiri"}}, c.ask("groups")
}

// ruledWorld is a task under a tenant's rules.
type ruledWorld struct {
	*ringitest.World
	slack *company
	revs  int         // of the rules
	mark  *rules.Mark // that unrouted steps carry
}

func newRuled(t *testing.T) *ruledWorld {
	t.Helper()
	w := &ruledWorld{World: ringitest.Start(t).World(t)}
	w.slack = &company{answers: handler(w.World).Slack.(answers)}
	return w
}

func (w *ruledWorld) process() *Handler {
	h := handler(w.World)
	h.Slack = w.slack
	return h
}

func (w *ruledWorld) resume() aggregate.Next {
	w.T.Helper()
	return expect.Value(w.process().Handle(w.T.Context(), w.In()))(w.T)
}

// rules saves one rule without conditions, none for nil.
func (w *ruledWorld) rules(o *rules.Outcome) {
	w.T.Helper()
	if o == nil {
		w.saves()
		return
	}
	w.saves(rules.Rule{ID: ruleOfWorld, Name: "すべて", Outcome: *o})
}

// saves saves these rules.
func (w *ruledWorld) saves(all ...rules.Rule) {
	w.T.Helper()
	var x *rules.Rules
	if all != nil {
		x = &rules.Rules{Rules: all}
	}
	_, rev, err := w.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, w.revs, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	w.revs = rev
}

func asks(stages ...rules.Stage) *rules.Outcome { return &rules.Outcome{Stages: stages} }

func desk(name string, who rules.Who) rules.Stage { return rules.Stage{Name: name, Who: who, Need: 1} }

func group(id string) rules.Who { return rules.Who{Group: id} }

func ofPeople(users ...string) rules.Who { return rules.Who{People: users} }

// unrouted brings the task to steps whose route must be looked up.
func (w *ruledWorld) unrouted() {
	w.T.Helper()
	w.Prompted(tenancy.DefaultSettings())
	w.Approve()
	w.Later(3 * time.Minute)
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	steps := []task.Step{ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`)}
	steps[0].Mark = w.mark
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
}

func (w *ruledWorld) pending() int {
	w.T.Helper()
	return len(expect.Value(w.Store.Waiting(w.T.Context(), w.Ref.Tenant, "", 10))(w.T).Items)
}

// opened asserts that the steps wait along a route, and returns their gate.
func (w *ruledWorld) opened(next aggregate.Next) *task.Process {
	w.T.Helper()
	a := w.Load()
	p := a.Process()
	expect.Must(w.T, next.State == task.StateAwaitProcessApproval && p.Status == aggregate.PendingApproval &&
		p.Route != nil && p.Terms.DecideBy != nil && a.Head.PausedUntil == nil && w.pending() == 1,
		"%+v, %s, ended %+v", next, p.Status, a.Head.Ended)
	return p
}

// waits asserts that nobody is asked yet.
func (w *ruledWorld) waits() *task.Aggregate {
	w.T.Helper()
	a := w.Load()
	p := a.Process()
	expect.Must(w.T, p.Status == aggregate.Generating && p.Terms.DecideBy == nil && p.Route == nil && w.pending() == 0 &&
		a.Unopened() != nil && a.Head.Parked == nil && a.Head.Restarts == 0 && a.Head.Ended == nil && len(a.Copies) == 0,
		"%+v, %+v", p.Gate, a.Head)
	return a
}

// organised has an organisation stand in place of a revision of another: the requester of HR, below U0BUCHO, below
// U0SHACHO.
func (w *ruledWorld) organised(over int) {
	w.T.Helper()
	o, wrong := rules.ReadOrganisation([]byte("email,department,position,head\n" + mailOf("U0SHACHO") + ",HQ,社長,yes\n" +
		mailOf("U0BUCHO") + ",HQ/HR,部長,yes\n" + mailOf(ringitest.Requester) + ",HQ/HR\n"))
	expect.NoError(w.T, wrong.Err())
	expect.NoError(w.T, w.Store.SaveOrganisation(w.T.Context(), w.Ref.Tenant, over, o, w.By, w.Now()))
}

// The row that says which organisation stands is a condition of the commit: here another one is saved after it was
// read.
func testOrganisationThatChanges(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.unrouted()
	w.slack.then = func() {
		o, wrong := rules.ReadOrganisation([]byte("email,department,head\n" + mailOf("U0NEW") + ",HQ,yes\n" +
			mailOf(ringitest.Requester) + ",HQ\n"))
		expect.NoError(t, wrong.Err())
		expect.NoError(t, w.Store.SaveOrganisation(t.Context(), w.Ref.Tenant, 1, o, w.By, w.Now()))
	}
	p := w.opened(w.resume())
	expect.Is(t, p.Route.Stages[0].People[0].User, "U0NEW")
}

func testStepRefused(t *testing.T, w *ruledWorld) {
	w.rules(asks(desk("経理", group("S0KEIRI"))))
	known := rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/n"}, Currency: "JPY"}
	w.step(rules.Call{Access: aggregate.Write, Amount: known.AmountOf("1", aggregate.Write, `{"n":5}`)})
	w.saves(rules.Rule{ID: ruleOfWorld, Name: "小額", Outcome: rules.Outcome{Refuse: "小口現金を使ってください。"},
		Conditions: rules.Conditions{Below: "100", Currency: "JPY"}})
	next := w.resume()
	a := w.Load()
	expect.That(t, next.State == task.StateFinish && a.Head.Ended.Reason == task.ReasonStepRefused &&
		a.Execution().Status == task.ExecutionCancelled, "%+v, %+v", next, a.Head.Ended)
}

// looks has people looked up again for what waits, and resumes the task.
func (w *ruledWorld) looks() aggregate.Next {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.LookAgain(w.Now()) })
	return w.resume()
}

func TestPeopleAreLookedUpAgain(t *testing.T) {
	list := func(w *ruledWorld, users ...string) {
		s := w.Settings(func(s *tenancy.Settings) {
			s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: users, Usergroups: []string{}}
		})
		w.Prompted(s)
	}
	waits := func(w *ruledWorld, next aggregate.Next, state string) *task.Aggregate {
		w.T.Helper()
		a := w.Load()
		expect.Must(w.T, next.State == state && a.Head.Ended == nil && !a.Head.LookAgain && w.pending() == 1, "%+v, %+v",
			next, a.Head)
		return a
	}
	ends := func(w *ruledWorld, next aggregate.Next, why aggregate.Reason) {
		w.T.Helper()
		e := w.Load().Head.Ended
		expect.That(w.T, next.State == task.StateFinish && e != nil && e.As == task.TaskRefused && e.Reason == why &&
			w.pending() == 0, "%+v, %+v", next, e)
	}
	for name, run := range map[string]func(t *testing.T, w *ruledWorld){
		"whoever asked has left": func(_ *testing.T, w *ruledWorld) {
			list(w, "U0TANAKA")
			w.slack.left = ringitest.Requester
			ends(w, w.looks(), task.ReasonAskerLeft)
		},
		"what Slack said before isn't trusted": func(t *testing.T, w *ruledWorld) {
			list(w, "U0TANAKA")
			h := w.process()
			_, err := h.people.Standing(t.Context(), w.slack, ringitest.Team, "U0TANAKA", w.Now())
			expect.NoError(t, err)
			_, err = h.people.Requester(t.Context(), w.slack, ringitest.Team, "U0TANAKA", w.Now())
			expect.NoError(t, err)
			w.slack.left = "U0TANAKA"
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.LookAgain(w.Now()) })
			ends(w, expect.Value(h.Handle(t.Context(), w.In()))(t), task.ReasonNobodyLeft)
		},
		"Slack is silent": func(t *testing.T, w *ruledWorld) {
			list(w, "U0TANAKA")
			w.Later(5 * time.Hour)
			w.slack.silent = slackapi.Unknown{Cause: "timeout"}
			next, a := w.looks(), w.Load()
			rest := a.Head.PausedUntil.Sub(w.Now())
			expect.That(t, next.State == task.StatePause && rest < 10*time.Second && a.Head.LookAgain, "%+v, %s", next, rest)
			w.slack.silent = nil
			w.Later(rest)
			waits(w, w.resume(), task.StateAwaitPromptApproval)
		},
		"settings that change meanwhile count": func(_ *testing.T, w *ruledWorld) {
			list(w, "U0LEFT")
			w.slack.then = func() {
				w.Settings(func(s *tenancy.Settings) { s.Approvers.Users = []string{"U0TANAKA"} })
			}
			waits(w, w.looks(), task.StateAwaitPromptApproval)
		},
		"a rule's stage waits for who stands in for those who have left": func(t *testing.T, w *ruledWorld) {
			w.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{ringitest.Requester},
				ringitest.Desk("課長", 2, "U0TANAKA", "U0LEFT", "U0ALEX")),
				ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`))
			expect.Same(t, []string{"U0LEFT"}, waits(w, w.looks(), task.StateAwaitProcessApproval).Head.Left)
		},
		"a channel in which nobody else is left": func(_ *testing.T, w *ruledWorld) {
			w.Receive(task.Request{User: ringitest.Requester, Channel: "C0ALONE", ChannelType: "channel",
				MessageTS: "1775034000.000200", ThreadTS: "1775034000.000200"})
			w.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{ringitest.Requester},
				circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}),
				ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`))
			ends(w, w.looks(), task.ReasonNobodyLeft)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newRuled(t))
		})
	}
}
