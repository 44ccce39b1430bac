package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
)

// lookUpWithin bounds how long Slack is asked whom a rule asks about a proposal.
const lookUpWithin = 20 * time.Second

// ruling are the rules by which the conversation's actions are asked about, and what they depend on.
type ruling struct {
	*rules.Rules     // nil: none, so the settings decide
	settings     int // the revision of the settings that say so
	standing     decide.StandingOrganisation
	permissions  []tenancy.ToolPermission
}

// rules reads the rules that decide about the conversation's actions, once for each revision of the settings. The
// settings alone say that there are none. If the rules are newer, the settings are read again.
func (t *answering) rules(ctx context.Context) (*ruling, error) {
	for range 2 {
		switch {
		case !t.a.Conversation.ByRules(t.settings):
			return &ruling{}, nil
		case t.ruling != nil && t.ruling.settings == t.settings.Rev:
			return t.ruling, nil
		}
		r, rev, err := t.Store.Rules(ctx, t.in.Tenant)
		if err != nil {
			return nil, fmt.Errorf("read the rules: %w", err)
		}
		if rev == t.settings.RulesRev {
			t.ruling, err = t.ruled(ctx, r)
			return t.ruling, err
		}
		if t.settings, err = t.Store.Settings(ctx, t.in.Tenant); err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
	}
	return nil, fmt.Errorf("read the rules: %w", aggregate.ErrConflict)
}

// under decides by the settings and the rules, and anew while they change meanwhile; see pipeline.Under.
func (t *answering) under(ctx context.Context, decide func() (*conversation.Aggregate, error)) (
	*conversation.Aggregate, error) {
	return pipeline.Under(ctx, t.Store, t.in.Tenant, t.settings,
		func(s tenancy.Settings) (*conversation.Aggregate, error) {
			t.settings, t.ruling = s, nil
			return decide()
		})
}

// ruled reads what rules depend on, if they decide about actions.
func (t *answering) ruled(ctx context.Context, r *rules.Rules) (*ruling, error) {
	out := &ruling{settings: t.settings.Rev}
	if r == nil || !r.Actions() {
		return out, nil
	}
	out.Rules = r
	var err error
	if out.permissions, err = t.Store.ToolPermissions(ctx, t.in.Tenant); err != nil {
		return nil, fmt.Errorf("read the tool permissions: %w", err)
	}
	if t.Organisation != nil {
		if out.standing, err = t.Organisation(ctx, t.in.Tenant); err != nil {
			return nil, fmt.Errorf("read the organisation: %w", err)
		}
	}
	return out, nil
}

// shownTo returns to whom the conversation's proposals may be shown because they are made in direct messages, unless
// people were told so.
func (t *answering) shownTo(ctx context.Context) ([]string, error) {
	if len(t.a.Conversation.ShownTo) > 0 {
		return nil, nil
	}
	r, err := t.rules(ctx)
	if err != nil || r.Rules == nil {
		return nil, err
	}
	return t.asking(r, "", conversation.Payload{}, t.a.RouteAskersAfter(t.seen, "")).ShownTo(r.Rules), nil
}

// underRules has people asked about a proposal as the rules say; the settings' rules approve it only where no rule but
// the last takes it. by is who proposes it, empty of the agent. While Slack is silent the proposal waits for its route.
// It returns conversation.ErrByRules if the rules refuse it, or if nobody is found.
func (t *answering) underRules(ctx context.Context, out *conversation.Proposal, p conversation.Payload,
	by string) error {
	r, err := t.rules(ctx)
	if err != nil || r.Rules == nil {
		return err
	}
	seen := t.seen
	if by != "" {
		seen = nil
	}
	x := t.asking(r, out.Type, p, t.a.RouteAskersAfter(seen, by, out.Authors...))
	out.Rows = x.on
	unasked := out.Rule != "" && by == "" && !t.a.AsksAfter(t.seen)
	found, err := x.ByIDs(r.Rules)
	if err == nil && found.LookUp != nil && !(unasked && found.Unruled) {
		rule := *found.LookUp
		if found, err = t.lookUp(ctx, x, r); errors.Is(err, explain.ErrUnverified) {
			at := t.Now().Add(lookUpAgain(err, 0))
			out.Rule, out.Rows, out.LookUp = "", nil, &conversation.LookUp{Rule: rule, At: &at}
			return nil
		}
	}
	if err != nil {
		return err
	}
	if unasked && found.Unruled {
		return nil
	}
	out.Rule, out.Opening = "", found.Opening
	return found.Refusal()
}

// asking is an action about which the rules are asked.
type asking struct {
	decide.Action
	on []aggregate.Owned // the tenant's rows on which the result depends beside the settings
}

func (t *answering) asking(r *ruling, typ agent.ActionType, p conversation.Payload, askers []string) *asking {
	x := &asking{decide.Action{
		Conversation: t.a.Conversation, Askers: askers, Type: typ, Now: t.Now(), Organised: r.standing.Organisation != nil,
		Home: t.settings.DirectApprovers,
	}, slices.Clone(r.standing.On)}
	if typ == agent.ToolCall {
		of := r.permission(t.in.Tenant, p.Tool)
		x.Calls = []rules.Call{of.Call(p.ToolVersion, p.Access, aggregate.JSON(p.Arguments), p.Mark)}
		x.on = append(x.on, aggregate.Owned{Key: tenancy.ToolKey(p.Tool), Rev: of.Rev, Err: aggregate.ErrSettings})
	}
	return x
}

func (r *ruling) permission(tenant, tool string) tenancy.ToolPermission {
	for _, p := range r.permissions {
		if p.ToolName == tool {
			return p
		}
	}
	return tenancy.Unsaved(tenant, tool)
}

// lookUp asks Slack and the organisation whom the rules ask. It returns explain.ErrUnverified while Slack is silent.
func (t *answering) lookUp(ctx context.Context, x *asking, r *ruling) (found decide.FoundFor, err error) {
	if t.LookUp == nil {
		return found, fmt.Errorf("slack can't be asked: %w", explain.ErrUnverified)
	}
	ctx, cancel := context.WithTimeout(ctx, lookUpWithin)
	defer cancel()
	err = t.LookUp(ctx, t.a.Conversation.TeamID, r.standing.Organisation, func(d decide.Seats) (err error) {
		found, err = x.By(r.Rules, d)
		return err
	})
	if errors.Is(err, explain.ErrUnverified) {
		slog.WarnContext(ctx, "it is not known whom a rule asks", "session", t.ref.ID, "err", err)
	}
	return found, err
}

// whyByRules says why the rules refuse a proposal, in words for people and the agent. It returns "" for any
// other error.
func (t *answering) whyByRules(ctx context.Context, err error) string {
	no, is := errors.AsType[conversation.ErrByRules](err)
	if !is {
		return ""
	}
	return explain.RefusedByRules(t.settings.Locale, no, func(s string, _ int) string { return s },
		func(user string) string {
			return cmp.Or(t.Names(ctx, t.ref, t.a.Conversation.TeamID, user)[user], user)
		})
}

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
		return a.OpenOnRoute(t.in.Run, x.ActionID, o, t.settings.ActionTerms(a.Origin().Channel, t.Now()), t.Now(), on...)
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
