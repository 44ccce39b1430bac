package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// typed makes an action of what a person typed, held against the conversation's files as they are, or tells them why it
// can't be one. No model is asked.
func (t *answering) typed(ctx context.Context, of *conversation.Typed) (aggregate.Next, error) {
	var why []string
	a, err := t.under(ctx, func() (a *conversation.Aggregate, err error) {
		a, why, err = t.propose(ctx, of)
		return a, err
	})
	if why != nil {
		a, err = t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.RefuseTyped(t.in.Run, of, why, t.lost, t.Now())
		})
	}
	switch {
	case errors.Is(err, aggregate.ErrMoved):
		return t.again(ctx)
	case err != nil:
		return aggregate.Next{}, fmt.Errorf("propose what a person typed: %w", err)
	}
	conversation.Log(ctx, conversation.EventMessage, t.ref.ID, a.Conversation.AgentID, "", "typed", of.ID, "refused",
		len(why))
	return a.Next(t.Now()), nil
}

// propose makes the action, or returns why it can't be made, in words for people.
func (t *answering) propose(ctx context.Context, of *conversation.Typed) (
	a *conversation.Aggregate, why []string, err error) {
	p, why, err := t.ownProposal(ctx, of)
	if err != nil || why != nil {
		return nil, why, err
	}
	a, err = t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.ProposeTyped(t.in.Run, of, p, t.Now())
	})
	if said := conversation.WhyNotProposed(err, t.settings.Locale); said != "" {
		return nil, []string{said}, nil
	}
	return a, nil, err
}

// ownProposal returns the proposal, or why there can be none, in words for people.
func (t *answering) ownProposal(ctx context.Context, of *conversation.Typed) (
	p conversation.Proposal, why []string, err error) {
	locale := t.settings.Locale
	def, _ := agent.Find(agent.Named(t.settings.Agents), t.a.Conversation.AgentID)
	if t.tree == nil {
		switch t.open(ctx) {
		case filesLost:
			return p, []string{wordsIn(locale).lost}, nil
		case filesUnread: // another try reads again
			return p, nil, fmt.Errorf("read the files: %w", explain.ErrUnavailable)
		}
	}
	on := conversation.On{Base: t.base(), Attachments: t.a.Conversation.AttachmentsVersion}
	p, faults := of.Own.ReadBeside(def, on, t.tree)
	for _, f := range faults {
		why = append(why, f.Sentence(locale))
	}
	if why != nil {
		return p, why, nil
	}
	r, err := t.rules(ctx)
	if err != nil {
		return p, nil, err
	}
	if r.Rules == nil {
		err = t.settings.Nobody(t.a.Conversation.Origin(), of.User)
	}
	if nobody, is := errors.AsType[aggregate.ErrNotAllowed](err); is {
		return p, []string{explain.EndedInTalk(locale, task.ReasonUndecidable(nobody.Rule), "")}, nil
	}
	if err != nil {
		return p, nil, err
	}
	text, err := t.withMakers(ctx, p)
	if err != nil {
		return p, nil, err
	}
	p.Terms = t.settings.ActionTerms(t.Now())
	if err = t.underRules(ctx, &p, conversation.Payload{}, of.User); err != nil {
		if said := t.whyByRules(ctx, err); said != "" {
			return p, []string{said}, nil
		}
		return p, nil, err
	}
	p.Payload, err = t.keep(ctx, text)
	return p, nil, err
}

// withMakers returns the payload of a person's own proposal with who changed its paths before, as an agent's says it.
func (t *answering) withMakers(ctx context.Context, p conversation.Proposal) (string, error) {
	kept, problems := conversation.ReadKept(p.Type, []byte(p.Payload.JSON))
	if problems != nil {
		return "", fmt.Errorf("read a person's own proposal: %s", problems[0])
	}
	conversation.MadeBefore(kept.Changes, t.madeBefore(ctx, len(kept.Changes) > 0))
	return kept.JSON(), nil
}
