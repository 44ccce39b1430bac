package admin

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/conversations"
)

// approvals says who may stamp, by the rule that a click meets.
type approvals struct{ stack *stack.Stack }

func (p approvals) tenant() string { return aggregate.TenantID(p.stack.Sandbox.TeamID()) }

// May reports whether a person may stamp what a task or a conversation asks for; one that is not there waits for nobody.
func (p approvals) May(ctx context.Context, user, id string) (bool, error) {
	from, may, err := p.asked(ctx, id)
	if errors.Is(err, aggregate.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	x, err := rows(p.stack).Settings(ctx, p.tenant())
	if err != nil {
		return false, err
	}
	who := &people.People{Slack: directory{p.stack.Sandbox.Workspace()}, Now: time.Now}
	by, policy, err := who.Who(ctx, people.Want{User: user, Team: p.stack.Sandbox.TeamID(), Channel: from.Channel}, from, x)
	if err != nil {
		return false, err
	}
	return may(by, policy), nil
}

// may is whether a person may stamp, by a workspace's rules.
type may func(by aggregate.Actor, p aggregate.Policy) bool

// asked is where a task or a conversation is from, and who may stamp what it asks for.
func (p approvals) asked(ctx context.Context, id string) (from aggregate.Origin, who may, err error) {
	switch {
	case conversation.ValidID(id):
		a, err := conversations.New(dynamodb.NewFromConfig(p.stack.AWS), p.stack.TableName).Load(ctx, conversation.RefOf(p.tenant(), id))
		if err != nil {
			return from, nil, err
		}
		return a.Session.Origin(), func(by aggregate.Actor, policy aggregate.Policy) bool {
			x := a.Current()
			if x == nil {
				return false
			}
			c, err := a.Approve(x.ActionID, x.Payload.Hash(), by, policy, time.Now())
			return err == nil && !c.Empty()
		}, nil
	case aggregate.ValidID(id):
		a, err := rows(p.stack).Load(ctx, task.RefOf(p.tenant(), id))
		if err != nil {
			return from, nil, err
		}
		from = a.Request.Origin()
		return from, func(by aggregate.Actor, policy aggregate.Policy) bool { return policy.Approve(by, from.User) == nil }, nil
	}
	return from, nil, aggregate.ErrNotFound
}

// directory is the sandbox's workspace as Slack would describe it, without asking over its Web API.
type directory struct{ workspace *workspace.Workspace }

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
