package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/store/large"
)

// record commits the answer and its proposal, anew if what it depends on has changed meanwhile.
func (t *answering) record(ctx context.Context, x conversation.Answer,
	p *turn.Proposal) (*conversation.Aggregate, error) {
	for again := false; ; again = true {
		a, err := t.recordOnce(ctx, x, p)
		moved := errors.Is(err, aggregate.ErrOnRoute) // whose request it is has changed
		if again || !moved && !errors.Is(err, aggregate.ErrSettings) {
			return a, err
		}
		if moved {
			if t.a, err = t.Store.Load(ctx, t.ref); err != nil {
				return nil, fmt.Errorf("load the session: %w", err)
			}
		}
		t.ruling = nil
		if t.settings, err = t.Store.Settings(ctx, t.in.Tenant); err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
		if p == nil {
			continue
		}
		why, err := t.undecidable(ctx)
		if err != nil {
			return nil, err
		}
		if why != nil { // the settings leave nobody who could approve it
			p, x.Refused = nil, why.Text
		}
	}
}

// recordOnce commits the answer and its proposal. In place of what the rules refuse, the agent is told so; in place of
// an answer that is too long for a row, people are.
func (t *answering) recordOnce(ctx context.Context, x conversation.Answer,
	p *turn.Proposal) (_ *conversation.Aggregate, err error) {
	x.Proposal, err = t.proposal(ctx, p)
	var on []aggregate.Owned // on which a refusal depends
	if why := t.whyByRules(ctx, err); why != "" {
		x.Proposal, x.Refused, err = nil, why, nil
		on = append(slices.Clone(t.ruling.standing.On), aggregate.Owned{Key: tenancy.SettingsKey, Rev: t.ruling.settings,
			Err: aggregate.ErrSettings})
	}
	if err != nil {
		return nil, err
	}
	if x.ShownTo, err = t.shownTo(ctx); err != nil {
		return nil, err
	}
	decide := func(a *conversation.Aggregate) (aggregate.Change, error) {
		c, err := a.Answered(t.in.Run, t.seen, x, t.Now())
		why := t.overtaken(err)
		if why == "" {
			c.Owned = append(c.Owned, on...)
			return t.counted(c, err)
		}
		y := x
		y.Proposal, y.Refused = nil, why
		return t.counted(a.Answered(t.in.Run, t.seen, y, t.Now()))
	}
	a, err := t.Store.Decide(ctx, t.ref, large.Copying(ctx, t.Payloads, decide))
	if long, is := errors.AsType[aggregate.ErrTooLarge](err); is {
		conversation.LogError(ctx, conversation.EventMessage, t.ref.ID, t.a.Conversation.AgentID, "", string(reasonTooLong),
			long.Error())
		return t.say(ctx, conversation.Refusal{Reason: reasonTooLong, Text: wordsIn(t.settings.Locale).long, Usage: x.Usage})
	}
	return a, err
}

// overtaken says why a proposal was too late: a person's own came first, or the files are others by now, or lost.
func (t *answering) overtaken(err error) string {
	switch w := wordsIn(t.settings.Locale); {
	case errors.Is(err, conversation.ErrPending):
		return w.busy
	case errors.Is(err, conversation.ErrFilesLost):
		return w.lost
	case errors.Is(err, conversation.ErrBase):
		return w.moved
	}
	return ""
}

// alone records the cost of an answer that was discarded.
func (t *answering) alone(u aggregate.Usage) func(context.Context) (*conversation.Aggregate, error) {
	return func(ctx context.Context) (*conversation.Aggregate, error) {
		return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Overtaken(u, t.Now())
		})
	}
}

// say commits a sentence in place of an answer.
func (t *answering) say(ctx context.Context, why conversation.Refusal) (*conversation.Aggregate, error) {
	return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return t.counted(a.Refused(t.in.Run, t.seen, why, t.Now()))
	})
}
