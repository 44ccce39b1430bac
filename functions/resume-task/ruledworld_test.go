package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// company is a workspace in which Keiri has an asker, two full members, a guest and one who has left.
type company struct {
	answers
	mu     sync.Mutex
	silent error // in place of every answer about people and groups
	asked  []string
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
	return slackapi.User{ID: id, Team: pipelinetest.Team, Guest: id == "U0GUEST", Gone: id == "U0LEFT",
		Bot: id == "U0APP"}, c.ask(id)
}

func (c *company) UsergroupMembers(_ context.Context, group string) ([]string, error) {
	if err := c.ask(group); err != nil {
		return nil, err
	}
	if group == "S0KEIRI" {
		return []string{pipelinetest.Requester, "U0TANAKA", "U0GUEST", "U0LEFT", "U0ALEX"}, nil
	}
	return nil, slackapi.Refused{Code: slackapi.CodeNoSuchGroup}
}

func (c *company) Usergroups(context.Context) ([]slackapi.Group, error) {
	return []slackapi.Group{{ID: "S0KEIRI", Handle: "keiri"}}, c.ask("groups")
}

// ruledWorld is a task under a tenant's rules.
type ruledWorld struct {
	*pipelinetest.World
	slack *company
	store func(Store) Store
	org   func(context.Context, string) (decide.StandingOrganisation, error)
	revs  int         // of the rules
	mark  *rules.Mark // that unrouted steps carry
}

func newRuled(t *testing.T, server *pipelinetest.Server) *ruledWorld {
	t.Helper()
	w := &ruledWorld{World: server.World(t)}
	w.slack = &company{answers: handler(w.World).Slack.(answers)}
	return w
}

func (w *ruledWorld) process() *Handler {
	h := handler(w.World)
	h.Slack, h.Organisation = w.slack, w.org
	if w.store != nil {
		h.Store = w.store(h.Store)
	}
	return h
}

func (w *ruledWorld) resume() aggregate.Next {
	w.T.Helper()
	return expect.Value(w.process().Handle(w.T.Context(), w.In()))(w.T)
}

// rules saves one rule without conditions, none for nil.
func (w *ruledWorld) rules(o *rules.Outcome) {
	w.T.Helper()
	var x *rules.Rules
	if o != nil {
		x = &rules.Rules{Rules: []rules.Rule{{
			ID: "01KS000000000000000000000A", Name: "すべて", Outcome: *o}}}
	}
	_, rev, err := w.Store.SaveRules(w.T.Context(), w.Ref.Tenant, x, w.revs, nil, w.By, w.Now())
	expect.NoError(w.T, err)
	w.revs = rev
}

func asks(stages ...rules.Stage) *rules.Outcome {
	return &rules.Outcome{Stages: stages}
}

func desk(name string, who rules.Who) rules.Stage {
	return rules.Stage{Name: name, Who: who, Need: 1}
}

func group(id string) rules.Who { return rules.Who{Group: id} }

func ofPeople(users ...string) rules.Who { return rules.Who{People: users} }

// unrouted brings the task to steps whose route must be looked up.
func (w *ruledWorld) unrouted() {
	w.T.Helper()
	w.Prompted(tenancy.DefaultSettings())
	w.stepsUnrouted()
}

// stepsUnrouted approves the policy, and brings the task to steps whose route must be looked up.
func (w *ruledWorld) stepsUnrouted() {
	w.T.Helper()
	w.Approve()
	w.Later(3 * time.Minute)
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	steps := []task.Step{pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"user":"U1","text":"x"}`)}
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

const staff = `employee_number,name,email,department_code,parent_department,position,rank,employment
1,President,a@example.com,HQ,,社長,1,employee
2,Head,b@example.com,HR,HQ,部長,2,employee
3,Requester,r@example.com,HR,HQ,,,employee
`

// organised lets an organisation stand, in the version that the row with this revision names.
func (w *ruledWorld) organised(rev int) {
	w.T.Helper()
	o := expect.Value(organisation.Read([]byte(staff)))(w.T)
	accounts := o.Match([]organisation.Account{{ID: "U0SHACHO", Mail: "a@example.com"},
		{ID: "U0BUCHO", Mail: "b@example.com"}, {ID: pipelinetest.Requester, Mail: "r@example.com"}}).Kept()
	w.org = func(context.Context, string) (decide.StandingOrganisation, error) {
		return decide.StandingOrganisation{
			Organisation: &decide.Organisation{Version: fmt.Sprint("v", rev), People: o, Accounts: accounts},
			On:           []aggregate.Owned{{Key: "ORG", Rev: rev, Err: aggregate.ErrSettings}},
		}, nil
	}
}

func testOrganisation(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.unrouted()
	p := w.opened(w.resume())
	expect.Same(t, p.Route.Stages[0].People,
		[]circulation.Person{{User: "U0BUCHO", Via: "manager 1 of " + pipelinetest.Requester}})
}

// Somebody removes the organisation: nobody knows who the manager is, so their stage isn't left out as a vacant one.
func testOrganisationThatIsRemoved(t *testing.T, w *ruledWorld) {
	boss := desk("上長", rules.Who{Superior: 1})
	o := asks(desk("経理", ofPeople("U0BUCHO")), boss)
	w.rules(o)
	w.unrouted()
	w.resume()
	e := w.Load().Head.Ended
	expect.Must(t, e != nil, "the steps are asked without the manager")
	expect.That(t, e.Reason == task.ReasonUnknownPost && e.Detail == "上長\nabove\n"+pipelinetest.Requester+"\nすべて",
		"%+v", e)
}

// The row that says which version stands is a condition of the commit; here it has another revision than was read.
func testOrganisationThatChanges(t *testing.T, w *ruledWorld) {
	w.organised(4)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.unrouted()
	w.store = func(s Store) Store { return &moving{s, func() { w.organised(0) }} }
	h := w.process()
	h.Organisation = func(ctx context.Context, tenant string) (decide.StandingOrganisation, error) {
		return w.org(ctx, tenant)
	}
	w.opened(expect.Value(h.Handle(t.Context(), w.In()))(t))
}

// moving is a table in which something moves once a decision was refused.
type moving struct {
	Store
	then func()
}

func (m *moving) DecideOn(ctx context.Context, a *task.Aggregate, d task.Decision) (*task.Aggregate, error) {
	after, err := m.Store.DecideOn(ctx, a, d)
	if errors.Is(err, aggregate.ErrSettings) {
		m.then()
	}
	return after, err
}
