package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
)

// lookUpAgain returns after how long whom a rule asks is looked up again, if it has been tried for so long.
func lookUpAgain(why error, tried time.Duration) time.Duration {
	limited, _ := errors.AsType[slackapi.RateLimited](why)
	return pipeline.RetryDelay(limited.RetryAfter, tried, pipeline.MinRetryDelay)
}

// route looks up whom the rules ask about an action that waits for its route, and opens it, or ends it if nobody is
// asked. No model is asked. While Slack is silent it is put off, for an hour at most.
func (t *answering) route(ctx context.Context, x *conversation.Action) (aggregate.Next, error) {
	a, err := t.under(ctx, func() (*conversation.Aggregate, error) { return t.routeOnce(ctx, x) })
	switch {
	case errors.Is(err, aggregate.ErrMoved):
		return t.again(ctx)
	case err != nil:
		return aggregate.Next{}, fmt.Errorf("open an action along its route: %w", err)
	}
	opened := a.Pending() != nil
	conversation.Log(ctx, conversation.EventMessage, t.ref.ID, a.Conversation.AgentID, x.ActionID, "opened", opened)
	return a.Next(t.Now()), nil
}

func (t *answering) routeOnce(ctx context.Context, x *conversation.Action) (*conversation.Aggregate, error) {
	r, err := t.rules(ctx)
	if err != nil {
		return nil, err
	}
	if r.Rules == nil {
		return t.withoutRule(ctx, x)
	}
	p, err := t.payload(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := t.leaveOut(ctx, t.a.RouteAskersOf(x)); errors.Is(err, explain.ErrUnavailable) {
		return t.putOff(ctx, x, conversation.ErrByRules{Why: conversation.ReasonSilent, Rule: *x.Gate.Terms.Rule}, err)
	} else if err != nil {
		return nil, err
	}
	of := t.asking(r, x.ActionType, p, t.a.RouteAskersOf(x))
	found, err := of.ByIDs(r.Rules)
	if err == nil && found.LookUp != nil {
		rule := *found.LookUp
		if found, err = t.lookUp(ctx, of, r); errors.Is(err, explain.ErrUnverified) {
			return t.putOff(ctx, x, conversation.ErrByRules{Why: conversation.ReasonSilent, Rule: rule}, err)
		}
	}
	if err != nil {
		return nil, err
	}
	if no, is := errors.AsType[conversation.ErrByRules](found.Refusal()); is {
		return t.refuseAction(ctx, x, no, t.whyByRules(ctx, no), of.on)
	}
	return t.openAction(ctx, x, found.Opening, of.on)
}

// withoutRule has people asked about an action as the settings say, because there are no rules any more.
func (t *answering) withoutRule(ctx context.Context, x *conversation.Action) (*conversation.Aggregate, error) {
	err := t.Approvable(ctx, t.ref, t.a.Conversation.Origin(), t.settings, t.a.AskersOf(x))
	if _, nobody := errors.AsType[aggregate.ErrNotAllowed](err); nobody {
		no := conversation.ErrByRules{Why: task.ReasonNoApprover}
		return t.refuseAction(ctx, x, no, t.whyByRules(ctx, no), nil)
	}
	if err != nil {
		return t.putOff(ctx, x, conversation.ErrByRules{Why: conversation.ReasonSilent, Rule: *x.Gate.Terms.Rule}, err)
	}
	return t.openAction(ctx, x, nil, nil)
}

// payload reads what an action would do.
func (t *answering) payload(ctx context.Context, x *conversation.Action) (p conversation.Payload, err error) {
	text, err := t.Payloads.Open(ctx, t.ref, x.Payload)
	if err != nil {
		return p, fmt.Errorf("read a payload: %w", err)
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	if problems != nil {
		return p, fmt.Errorf("read a payload: %s", problems[0])
	}
	return p, nil
}

func (t *answering) openAction(ctx context.Context, x *conversation.Action, o *aggregate.Opening,
	on []aggregate.Owned) (*conversation.Aggregate, error) {
	return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.OpenOnRoute(t.in.Run, x.ActionID, o, t.settings.ActionTerms(t.Now()), t.Now(), on...)
	})
}

// putOff has it looked up again later, and ends the action if that has been tried for too long.
func (t *answering) putOff(ctx context.Context, x *conversation.Action, no conversation.ErrByRules,
	why error) (*conversation.Aggregate, error) {
	a, err := t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		now := t.Now()
		return a.WaitForRoute(t.in.Run, x.ActionID, now.Add(lookUpAgain(why, now.Sub(x.CreatedAt))), now)
	})
	if errors.Is(err, conversation.ErrAged) {
		return t.refuseAction(ctx, x, no, t.whyByRules(ctx, no), nil)
	}
	return a, err
}

func (t *answering) refuseAction(ctx context.Context, x *conversation.Action, no conversation.ErrByRules, text string,
	on []aggregate.Owned) (*conversation.Aggregate, error) {
	return t.Store.Decide(ctx, t.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.RefuseByRule(t.in.Run, x.ActionID, no, text, t.settings.Rev, t.Now(), on...)
	})
}
