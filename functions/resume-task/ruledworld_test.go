package main

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
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
	return slackapi.User{ID: id, Team: ringitest.Team, Guest: id == "U0GUEST", Gone: id == "U0LEFT",
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

func newRuled(t *testing.T, server *ringitest.Server) *ruledWorld {
	t.Helper()
	w := &ruledWorld{World: server.World(t)}
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
	var x *rules.Rules
	if o != nil {
		x = &rules.Rules{Rules: []rules.Rule{{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: *o}}}
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
	w.stepsUnrouted()
}

// stepsUnrouted approves the policy, and brings the task to steps whose route must be looked up.
func (w *ruledWorld) stepsUnrouted() {
	w.T.Helper()
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
	o, wrong := organisation.Read([]byte("email,department,position,head\n" + mailOf("U0SHACHO") + ",HQ,社長,yes\n" +
		mailOf("U0BUCHO") + ",HQ/HR,部長,yes\n" + mailOf(ringitest.Requester) + ",HQ/HR\n"))
	expect.NoError(w.T, wrong.Err())
	expect.NoError(w.T, w.Store.SaveOrganisation(w.T.Context(), w.Ref.Tenant, over, o, w.By, w.Now()))
}

func testOrganisation(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.unrouted()
	p := w.opened(w.resume())
	expect.Same(t, p.Route.Stages[0].People,
		[]circulation.Person{{User: "U0BUCHO", Via: "manager 1 of " + ringitest.Requester}})
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
	expect.That(t, e.Reason == task.ReasonUnknownPost && e.Detail == "上長\nabove\n"+ringitest.Requester+"\nすべて",
		"%+v", e)
}

// The row that says which organisation stands is a condition of the commit: here another one is saved after it was
// read.
func testOrganisationThatChanges(t *testing.T, w *ruledWorld) {
	w.organised(0)
	w.rules(asks(desk("上長", rules.Who{Superior: 1})))
	w.unrouted()
	w.slack.then = func() {
		o, wrong := organisation.Read([]byte("email,department,head\n" + mailOf("U0NEW") + ",HQ,yes\n" +
			mailOf(ringitest.Requester) + ",HQ\n"))
		expect.NoError(t, wrong.Err())
		expect.NoError(t, w.Store.SaveOrganisation(t.Context(), w.Ref.Tenant, 1, o, w.By, w.Now()))
	}
	p := w.opened(w.resume())
	expect.Is(t, p.Route.Stages[0].People[0].User, "U0NEW")
}
