package driver

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// approvals tells the sandbox who may stamp, by the same rule that applies to a click.
type approvals struct{ stack *stack.Stack }

func (p approvals) tenant() string { return aggregate.TenantID(p.stack.Sandbox.TeamID()) }

// May reports whether a person may stamp the task or conversation with this id, and for whom they then stand in. It
// returns false for an id that does not exist.
func (p approvals) May(ctx context.Context, user, id string) (may bool, instead string, err error) {
	a, q, rows, err := p.asks(ctx, id)
	if a == nil || err != nil {
		return false, "", err
	}
	from, g := a.Origin(), gateOf(a, q)
	if g == nil {
		return false, "", nil
	}
	s, err := rows.Settings(ctx, p.tenant())
	if err != nil {
		return false, "", err
	}
	who := &people.People{Slack: directory{p.stack.Sandbox.Workspace()}, Now: time.Now}
	by, policy, err := who.Who(ctx, people.Want{User: user, Team: p.stack.Sandbox.TeamID(), Channel: from.Channel}, from,
		s)
	if err != nil || g.Owes(by.ID) > 0 || g.WaitsFor(by, policy) {
		return err == nil, "", err
	}
	standIns, err := decide.StandInsOf(ctx, rows, p.tenant(), by.ID, time.Now())
	instead, stage := standIns.Owes(g, a.Askers()...)
	return stage > 0, instead, err
}

// gateOf returns the gate of a question, nil if it has none.
func gateOf(a decide.Subject, q aggregate.Question) *aggregate.Gate {
	of, has := a.(interface {
		GateAt(key string) *aggregate.Gate
	})
	if !has {
		return nil
	}
	return of.GateAt(q.Key)
}

// Asked returns until when the task or conversation waits, and what its steps or its action would write to.
func (p approvals) Asked(ctx context.Context, id string) (sandbox.Asked, error) {
	a, q, _, err := p.asks(ctx, id)
	if a == nil || err != nil {
		return sandbox.Asked{}, err
	}
	out := sandbox.Asked{Until: q.DecideBy, Writes: map[string]string{}}
	for _, locale := range language.All {
		switch a := a.(type) {
		case *conversation.Aggregate:
			if x := a.Action(q.ID); x != nil {
				out.Writes[locale] = explain.ActionCalled(x, locale)
			}
		case *task.Aggregate:
			if a.Process() != nil && (q.Kind == task.CardProcess || q.Kind == task.CardStep) {
				other := func(s task.Step) bool { return q.Kind == task.CardStep && s.StepID != q.StepID }
				steps := slices.DeleteFunc(slices.Clone(a.Process().Steps), other)
				out.Writes[locale] = explain.SumUp(locale, steps).Short(locale)
			}
		}
	}
	return out, nil
}

// asks returns the task or conversation with this id and what it asks; nil if it doesn't exist or asks nothing.
func (p approvals) asks(ctx context.Context, id string) (decide.Subject, aggregate.Question, *store.Store, error) {
	rows := store.New(dynamodb.NewFromConfig(p.stack.AWS), p.stack.TableName, store.Kinds()...)
	x, err := rows.Load(ctx, store.RefOf(p.tenant(), id))
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, aggregate.Question{}, rows, nil
	}
	a, is := x.(decide.Subject)
	if err != nil || !is {
		return nil, aggregate.Question{}, rows, err
	}
	q, waits := a.Asks()
	if !waits {
		a = nil
	}
	return a, q, rows, nil
}

// directory answers questions about the sandbox's people as Slack would, without a call to its Web API.
type directory struct{ workspace *webapi.Workspace }

func (d directory) User(_ context.Context, id string) (slackapi.User, error) {
	u, err := d.workspace.User(id)
	return slackapi.User{ID: u.ID, Team: u.TeamID, Name: u.Name, Guest: u.Restricted}, err
}

func (d directory) Channels(_ context.Context, user string, _ ...string) iter.Seq2[slackapi.Channel, error] {
	return func(yield func(slackapi.Channel, error) bool) {
		for _, c := range d.workspace.Channels() {
			if c.IM == "" && slices.Contains(c.Members, user) && !yield(slackapi.Channel{ID: c.ID}, nil) {
				return
			}
		}
	}
}

func (d directory) Members(_ context.Context, channel string, most int) (ids []string, more bool, err error) {
	c, err := d.workspace.Channel(channel)
	return c.Members[:min(most, len(c.Members))], len(c.Members) > most, err
}

func (d directory) UsergroupMembers(_ context.Context, id string) ([]string, error) {
	for _, g := range d.workspace.Groups() {
		if g.ID == id {
			return g.Users, nil
		}
	}
	return nil, nil
}

// Circulate saves rules of circulation for a test, and ends them after it.
func Circulate(t *testing.T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	SaveRules(t, s, all...)
	t.Cleanup(func() { SaveRules(t, s) })
}

// SaveRules saves rules of circulation in the place of all that stand; none ends them.
func SaveRules(t T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	store, tenant := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName), aggregate.TenantID(s.Sandbox.TeamID())
	_, rev, err := store.Rules(context.Background(), tenant)
	expect.NoError(t, err)
	var x *rules.Rules
	if all != nil {
		x = &rules.Rules{Rules: all}
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	_, _, err = store.SaveRules(context.Background(), tenant, x, rev, nil, by, time.Now())
	expect.NoError(t, err)
}

// Rule saves a tool's constraints as an administrator does at the console, and removes them when the test ends.
func Rule(t *testing.T, s *stack.Stack, name, constraints string) error {
	t.Helper()
	ctx, rows := context.Background(), store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	spec, known := expect.Value(tool.Builtin())(t).Lookup(name)
	expect.Must(t, known, "there is no tool %s", name)
	save := func(constraints string) error {
		x, _, err := rows.ToolPermission(ctx, aggregate.TenantID(s.Sandbox.TeamID()), name)
		if err != nil {
			return err
		}
		x.Allowed, x.Constraints = true, aggregate.JSON(constraints)
		_, err = rows.SaveToolPermission(ctx, x, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}, time.Now(),
			spec.Knows()...)
		return err
	}
	t.Cleanup(func() { expect.NoError(t, save(`{}`)) })
	return save(constraints)
}
