package main

import (
	"context"
	"testing"

	"ringi/infra/local/vendors"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// The rules by which steps are settled, and others.
const (
	everyRule = "01KS000000000000000000000A"
	knownRule = "01KS000000000000000000000B"
)

func asksPeople(users ...string) rules.Outcome {
	policy := &rules.Policy{}
	for _, user := range users {
		policy.Stages = append(policy.Stages, rules.Stage{Name: "desk " + user, Need: 1,
			Who: rules.Who{Kind: rules.WhoPeople, People: []string{user}}})
	}
	return rules.Outcome{Route: policy}
}

func asksGroup() rules.Outcome {
	return rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "経理", Need: 1,
		Who: rules.Who{Kind: rules.WhoGroup, Group: "S0KEIRI"}}}}}
}

// byKnown are rules of which the first takes what has an amount that is known.
func byKnown(known, every rules.Outcome) *rules.Rules {
	return &rules.Rules{Form: rules.Form, Rules: []rules.Rule{
		{ID: knownRule, Name: "金額が読める", Outcome: known,
			When: rules.Conditions{Amount: &rules.Between{Below: "999999999999", Currency: "JPY"}}},
		{ID: everyRule, Name: "すべて", Outcome: every},
	}}
}

// saves saves the tenant's rules over the revision that stands.
func (w *world) saves(x *rules.Rules) {
	w.T.Helper()
	_, rev, err := w.Store.Rules(w.T.Context(), w.Ref.Tenant)
	expect.NoError(w.T, err)
	_, _, err = w.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, rev, nil, w.By, w.Now())
	expect.NoError(w.T, err)
}

// referring brings the task to steps whose write has its amount from the read before it, which is known only then. One
// person stamped them, under the rule for everything.
func (w *world) referring(x *rules.Rules) *world {
	w.T.Helper()
	w.marked()
	w.saves(x)
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
		g := a.GateWith(open.ID)
		st := circulation.Walk(g.Circulating())
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: pipelinetest.Team, Member: true}
		who := g.Person(user)
		act := circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: st.Present, Hash: g.AskedSum}
		return a.Act(open.ID, act, by, pipelinetest.Policy(), w.Now())
	})
}

// asked runs the steps up to the gate of the write, and returns it.
func (w *world) asked() *task.StepGate {
	w.T.Helper()
	next := w.run()
	a := w.Load()
	g := a.GateOf(a.Execution(), 2)
	expect.Must(w.T, next.State == task.StateAwaitStepApproval && g != nil && g.Status == aggregate.PendingApproval,
		"%+v, %+v, ended %+v", next, g, a.Head.Ended)
	w.written(0)
	return g
}

func TestRulesDecideAgainAboutResolvedArguments(t *testing.T) {
	server := pipelinetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"another rule takes it":                 testAnotherRule,
		"the same rule takes it":                testSameRule,
		"another rule whose people Slack knows": testLooksUp,
		"a rule refuses it":                     testRuleRefuses,
		"there are no rules any more":           testRulesEnded,
		"the rules change meanwhile":            testRulesChange,
		"the tools' marks change meanwhile":     testMarksChange,
		"an organisation stands":                testOrganisation,
		"amounts of several steps are added":    testAmountsAreAdded,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, server)) })
	}
}

func testAnotherRule(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO", "U0YAKUIN"), asksPeople("U0CHIEF")))
	g := w.asked()
	expect.That(t, g.Terms.Rule.ID == knownRule && len(g.Route.Stages) == 2 && g.Arguments.S3Key != "", "%+v", g)
	w.stamp("U0BUCHO")
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	w.stamp("U0YAKUIN")
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
}

func testSameRule(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	w.saves(&rules.Rules{Form: rules.Form, Rules: []rules.Rule{{ID: everyRule, Name: "何でも", Outcome: asksPeople("U0KEIRI",
		"U0BUCHO")}}})
	g := w.asked()
	expect.Same(t, *g.Terms.Rule, circulation.Rule{ID: everyRule, Name: "何でも", Revision: 2})
	expect.Same(t, g.Route.Stages[0].People, []circulation.Person{{User: "U0CHIEF", Via: task.ViaStamped}})
	w.stamp("U0CHIEF")
	w.run()
	w.written(1)
}

func testLooksUp(t *testing.T, w *world) {
	w.referring(byKnown(asksGroup(), asksPeople("U0CHIEF")))
	for range 2 {
		next := w.run()
		a := w.Load()
		g := a.GateOf(a.Execution(), 2)
		expect.Must(t, next.State == task.StatePause && a.Unrouted() == task.Gated(g) && g.Terms.Rule.ID == knownRule &&
			len(g.Calls) == 2 && g.Calls[1].Amount.Known(), "%+v, %+v", next, g)
	}
	w.written(0)
}

func testRuleRefuses(t *testing.T, w *world) {
	w.referring(byKnown(rules.Outcome{Refuse: "購買部に依頼してください。"}, asksPeople("U0CHIEF")))
	expect.Is(t, w.run().State, task.StateFinish)
	w.ends(task.ExecutionCancelled, "", task.StepCompleted)
	e := w.Load().Head.Ended
	expect.That(t, e.Reason == task.ReasonStepRefused && e.Detail == "金額が読める\n購買部に依頼してください。", "%+v", e)
	w.written(0)
}

func testRulesEnded(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	w.saves(nil)
	g := w.asked()
	expect.That(t, g.Terms.Rule.Revision == 1 && g.Route.Stages[0].People[0].User == "U0CHIEF", "%+v", g)
}

// changing is a store in which the rules change after they were read.
type changing struct {
	Store
	then func()
}

func (c *changing) Rules(ctx context.Context, tenant string) (*rules.Rules, int, error) {
	x, rev, err := c.Store.Rules(ctx, tenant)
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return x, rev, err
}

func testRulesChange(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	w.h.Store = &changing{w.h.Store, func() { w.saves(byKnown(asksPeople("U0YAKUIN"), asksPeople("U0CHIEF"))) }}
	g := w.asked()
	expect.That(t, g.Terms.Rule.Revision == 2 && g.Route.Stages[0].People[0].User == "U0YAKUIN", "%+v", g)
}

// organised is a store in which an organisation stands.
type organised struct{ Store }

func (o organised) OrganisationRow(ctx context.Context, tenant string) (tenancy.OrganisationRow, error) {
	row, err := o.Store.OrganisationRow(ctx, tenant)
	row.Version = "v1"
	return row, err
}

// Accounts don't say who somebody is: whoever stamped may be no employee any more.
func testOrganisation(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	w.h.Store = organised{w.h.Store}
	expect.Is(t, w.run().State, task.StatePause)
	expect.That(t, w.Load().Unrouted() != nil, "nobody is looked up")
}

// rowsOf writes one row with this amount.
func (w *world) rowsOf(order int, amount string) task.Step {
	return w.step(order, writing, aggregate.Write, `{"spreadsheet_id":"`+vendors.Sheet+`","sheet":"名簿",`+
		`"columns":[{"key":"id","title":"金額"}],"rows":[{"id":`+amount+`}]}`)
}

// Two writes that are below what a rule asks from are above it together, also where one is asked about.
func testAmountsAreAdded(t *testing.T, w *world) {
	large := rules.Rule{ID: everyRule, Name: "10万円以上", Outcome: asksPeople("U0CHIEF"),
		When: rules.Conditions{Amount: &rules.Between{AtLeast: "100000", Currency: "JPY"}}}
	w.marked()
	w.saves(&rules.Rules{Form: rules.Form, Rules: []rules.Rule{large,
		{ID: knownRule, Name: "そのほか", Outcome: asksPeople("U0BUCHO")}}})
	second := w.rowsOf(2, "60000")
	second.RequiresHumanCheck = true
	w.settledBy(w.rowsOf(1, "60000"), second)
	expect.Is(t, w.run().State, task.StateAwaitStepApproval)
	expect.Is(t, w.Load().Gates[0].Terms.Rule.ID, everyRule)
}

// A write whose amount came from a result is asked about wherever the steps are under a rule. Nothing else is, by that.
func TestAMarkedReferenceIsAlwaysAskedAbout(t *testing.T) {
	server := pipelinetest.Start(t)
	steps := func(w *world) []task.Step { return []task.Step{w.read(1), w.write(2)} }
	unmarked := newWorld(t, server)
	unmarked.saves(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	unmarked.settledBy(steps(unmarked)...)
	unruled := newWorld(t, server)
	unruled.marked()
	unruled.approved(steps(unruled)...)
	for _, w := range []*world{unmarked, unruled} {
		w.run()
		w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
		w.written(1)
	}
	marked := newWorld(t, server).referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	expect.That(t, marked.Load().Execution().Terms.AutoApproveTools, "every write is asked about")
	marked.asked()
}

// A mark that is saved once the permissions were read counts for the step that is about to be asked about.
func testMarksChange(t *testing.T, w *world) {
	w.referring(byKnown(asksPeople("U0BUCHO"), asksPeople("U0CHIEF")))
	w.h.Store = &marking{w.h.Store, func() { w.markedAt("/nowhere") }}
	expect.Is(t, w.asked().Terms.Rule.ID, everyRule)
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
