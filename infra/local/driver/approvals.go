package driver

import (
	"cmp"
	"context"
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
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// waits returns the hook by which the sandbox lists what waits for a person: what their Home tab lists.
func waits(s *stack.Stack) func(ctx context.Context, user string) ([]sandbox.Wait, error) {
	return func(ctx context.Context, user string) ([]sandbox.Wait, error) {
		all := store.New(dynamodb.NewFromConfig(s.AWS), s.TableName, store.Kinds()...)
		team := s.Sandbox.TeamID()
		tenant := aggregate.TenantID(team)
		settings, err := all.Settings(ctx, tenant)
		if err != nil {
			return nil, err
		}
		in, err := decide.InboxReader{Rows: all, Store: store.TasksOf(all), Slack: directory{s.Sandbox.Workspace()},
			Now: time.Now}.Read(ctx, tenant, team, user, settings)
		found := []sandbox.Wait{}
		for _, x := range in.Waiting {
			w := sandbox.Wait{Task: x.Of.Ref().ID, Instead: x.For}
			w.Channel, w.TS, w.Root = aggregate.MessageFor(x.Of, x.Question.Key, user, x.Stage, x.Stage > 0)
			w.Root = cmp.Or(w.Root, w.TS)
			found = append(found, w)
		}
		return found, err
	}
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
