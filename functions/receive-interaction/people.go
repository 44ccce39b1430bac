package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/slackapi"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// Directory is who Slack knows.
type Directory interface {
	User(ctx context.Context, id string) (slackapi.User, error)
	Channels(ctx context.Context, user string, types ...string) iter.Seq2[string, error]
	UsergroupMembers(ctx context.Context, group string) ([]string, error)
}

// remembered is how long an answer of Slack's about membership is believed.
const remembered = time.Minute

// People says who clicks and who may decide, as Slack and the settings say now.
type People struct {
	Slack Directory
	Now   func() time.Time

	mu     sync.Mutex
	member map[membership]time.Time // known until
	groups map[string]group
}

// membership is that of a person in a channel.
type membership struct{ team, channel, user string }

type group struct {
	members []string
	until   time.Time
}

// Who returns the person that clicked on a task's card, and the policy that applies
// to them. It returns card.ErrUnverified when Slack can't be asked.
func (p *People) Who(ctx context.Context, c click, r *task.Request, s tenancy.Settings) (aggregate.Actor, aggregate.Policy, error) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: c.user}
	policy := aggregate.Policy{Team: r.TeamID, Mode: s.Approvers.Mode, Approvers: slices.Clone(s.Approvers.Users), AllowSelf: s.AllowSelfApproval}
	if c.withdraws && !c.retries && by.ID == r.User { // who asked may cancel it, whatever else they are
		by.Team = r.TeamID
		return by, policy, nil
	}
	var wg sync.WaitGroup
	var whoErr, listErr error
	wg.Go(func() { by.Team, by.Guest, whoErr = p.belongs(ctx, c, r.TeamID) })
	wg.Go(func() {
		if c.retries && by.ID == r.User { // it is enough to be no guest
			return
		}
		if policy.Mode == aggregate.ApproversList {
			policy.Approvers, listErr = p.approvers(ctx, by.ID, s.Approvers)
			return
		}
		by.Member, listErr = p.memberOf(ctx, c, r)
	})
	wg.Wait()
	if err := errors.Join(whoErr, listErr); err != nil {
		return by, policy, fmt.Errorf("%w: %w", card.ErrUnverified, err)
	}
	return by, policy, nil
}

// belongs is the workspace that Slack says the person is of, which is ours for all of an organization's people who
// are in ours, and whether they are a guest. A click doesn't say it: it names an organization, the person's home, or nothing.
// Slack tells an app nothing of people whom it can't see; those are of no workspace of ours.
func (p *People) belongs(ctx context.Context, c click, ours string) (team string, guest bool, err error) {
	u, err := p.Slack.User(ctx, c.user)
	switch code := slackapi.Code(err); {
	case code == slackapi.CodeUserNotFound, code == slackapi.CodeUserNotVisible:
		return "", false, nil
	case code == slackapi.CodeUnknownMethod:
		slog.WarnContext(ctx, "guests can't be told from members here", "err", err)
		return c.userTeam, false, nil
	case err != nil:
		return "", false, err
	case u.Of(ours):
		return ours, u.Guest, nil
	}
	return u.Team, u.Guest, nil
}

// approvers are the listed people, with the members of the listed user groups.
// Groups are only asked for when the person is not listed by name.
func (p *People) approvers(ctx context.Context, id string, a tenancy.Approvers) ([]string, error) {
	all := slices.Clone(a.Users)
	if slices.Contains(all, id) {
		return all, nil
	}
	for _, name := range a.Usergroups {
		members, err := p.group(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

func (p *People) group(ctx context.Context, name string) ([]string, error) {
	p.mu.Lock()
	known, ok := p.groups[name]
	p.mu.Unlock()
	if ok && p.Now().Before(known.until) {
		return known.members, nil
	}
	members, err := p.Slack.UsergroupMembers(ctx, name)
	if slackapi.Code(err) == slackapi.CodeUnknownMethod {
		slog.WarnContext(ctx, "user groups can't be read here", "err", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.groups == nil {
		p.groups = map[string]group{}
	}
	p.groups[name] = group{members, p.Now().Add(remembered)}
	return members, nil
}

// memberOf reports whether the person is a member of the channel that the request
// was made in. Where Slack does not list channels, whoever could click there is a member.
func (p *People) memberOf(ctx context.Context, c click, r *task.Request) (bool, error) {
	if r.ChannelType == "im" {
		return c.user == r.User, nil
	}
	m := membership{r.TeamID, r.Channel, c.user}
	if p.known(m) {
		return true, nil
	}
	for id, err := range p.Slack.Channels(ctx, c.user, typesOf(r)...) {
		if slackapi.Code(err) == slackapi.CodeUnknownMethod {
			there := c.channel == "" || c.channel == r.Channel // a modal was opened by a click there
			slog.WarnContext(ctx, "a person's channels can't be listed here", "task_id", c.ref.Task, "allowed", there)
			return there, nil
		}
		if err != nil {
			return false, err
		}
		if id == r.Channel {
			p.learn(m)
			return true, nil
		}
	}
	return false, nil
}

// typesOf are what the request's channel may be. Slack refuses the whole call when it
// names a type for which the app has no scope; a mention comes without its channel's
// type, and a private channel's id may look like a public one's.
func typesOf(r *task.Request) []string {
	if r.ChannelType == "mpim" {
		return []string{"mpim"}
	}
	return []string{"public_channel", "private_channel"}
}

func (p *People) known(m membership) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Now().Before(p.member[m])
}

func (p *People) learn(m membership) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.member == nil {
		p.member = map[membership]time.Time{}
	}
	for who, until := range p.member {
		if !p.Now().Before(until) {
			delete(p.member, who)
		}
	}
	p.member[m] = p.Now().Add(remembered)
}
