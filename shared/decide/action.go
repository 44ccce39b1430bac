package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// CallsOf returns what the rules may know of the calls of these steps, and the rows of their tools, whose marks say so:
// a Change that relies on the calls relies on those.
func CallsOf(tenant string, steps []task.Step, permissions []tenancy.ToolPermission) (calls []rules.Call,
	on []aggregate.Owned) {
	for _, s := range steps {
		p := tenancy.Standing(permissions, tenant, s.Tool)
		calls = append(calls, p.Call(s.ToolVersion, s.Access, s.ToolInput, s.Mark))
		row := aggregate.Owned{Key: tenancy.ToolKey(s.Tool), Rev: p.Rev, Err: aggregate.ErrSettings}
		if !slices.Contains(on, row) {
			on = append(on, row)
		}
	}
	return calls, on
}

// again returns how a step's gate opens if the rule that takes its call is the one by which the steps were settled, at
// whatever revision: by one stamp of anybody for whom their last stage was stamped. It returns nil if that is another
// rule, or if nobody is left who may stamp. Then the rule's route is gone from its beginning.
func (x *About) again(answer rules.Answer, f *rules.Facts, d rules.Directory) *aggregate.Opening {
	s := x.Settled
	if s == nil || answer.Refused || answer.Rule.ID != s.Rule.ID {
		return nil
	}
	now := *s
	now.Rule, now.Desk.People = answer.Rule, slices.DeleteFunc(slices.Clone(s.Desk.People),
		func(p circulation.Person) bool {
			return !d.MayStamp(p.User) || slices.ContainsFunc(f.Askers, p.Is)
		})
	if len(now.Desk.People) == 0 {
		return nil
	}
	now.Askers = slices.Clone(f.Askers)
	for _, p := range s.Askers {
		if !slices.ContainsFunc(now.Askers, p.Is) {
			now.Askers = append(now.Askers, p)
		}
	}
	return now.Opening()
}

// Pick replaces the waiting policy by another team's submission, which the person has read. If the next card could not
// show all of its text it returns explain.ErrMalformedForm: no card offers such a submission. unread is the error of
// reading the text, if any.
func Pick(team, content string, unread error) Act {
	return Gate(task.CardPrompt, on(func(a *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		switch {
		case unread != nil:
			return aggregate.Change{}, unread
		case !card.Stampable(content):
			return aggregate.Change{}, explain.ErrMalformedForm
		}
		name := team
		for _, row := range a.Prompts {
			if e := row.Contest.Entry(team); row.ID == id && e != nil {
				name = e.TeamName
			}
		}
		locale := ""
		if g := a.Asked(id).Gate; g != nil {
			locale = g.Terms.Locale
		}
		return a.PickDraft(id, team, content, card.PickReason(locale, name), by, p, now)
	}))
}

// MayPropose checks whether a person may propose an action of their own now, before they type one. Its change is never
// committed.
func MayPropose(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	of, is := a.(*conversation.Aggregate)
	if !is {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if of.Current() != nil {
		return aggregate.Change{}, conversation.ErrPending
	}
	return aggregate.Change{}, p.Request(by)
}

// Propose makes a person's own proposal of a command in a conversation. It waits for approval as an agent's does, and
// the person counts as who asked for it. The verdict's error is a Problem of what they typed, and
// aggregate.ErrNotAllowed also if nobody could approve it.
func (m Maker) Propose(ctx context.Context, c Click, command string) (v Verdict) {
	for range 2 { // the settings may change meanwhile
		s, err := m.Store.Settings(ctx, c.Ref.Tenant)
		if err != nil {
			return Verdict{Err: fmt.Errorf("read the settings: %w", err)}
		}
		if v = m.Decide(ctx, c, proposing(command, s)); !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

func proposing(command string, s tenancy.Settings) Act {
	return func(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(*conversation.Aggregate)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		def, _ := agent.Find(agent.Named(s.Agents), of.Conversation.AgentID)
		own, err := conversation.Own(command, def, of.Conversation.On(), s.Locale)
		if err != nil {
			return aggregate.Change{}, err
		}
		if err := s.Nobody(of.Origin(), by.ID); err != nil {
			return aggregate.Change{}, err
		}
		own.Terms = s.ActionTerms(now)
		return of.Propose(own, by, p, now)
	}
}
