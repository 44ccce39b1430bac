package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/calls"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// slackWithin bounds each call of Slack.
const slackWithin = 5 * time.Second

// lookUpWithin bounds how long Slack is asked whom a rule asks about a call.
const lookUpWithin = 20 * time.Second

// Calls is the store of calls that outside agents ask for.
type Calls interface {
	decide.Tenants
	pipeline.Numbers[*call.Aggregate]
	Decide(ctx context.Context, ref aggregate.Ref, decide aggregate.Decision[*call.Aggregate]) (*call.Aggregate, error)
	Key(ctx context.Context, tenant, id string) (tenancy.Key, error)
	ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error)
}

// outside works on a call that an outside agent asked for: it looks people up who are to be asked, or makes the stamped
// call, once. Each ends the run.
func (h *Handler) outside(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Calls.Load(ctx, in.Ref())
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("load the call: %w", err)
	}
	switch next := a.Next(h.Now()); {
	case a.Head.Run != in.Run:
		return aggregate.Next{}, aggregate.ErrSuperseded
	case next.State != conversation.StateCall:
		return next, nil
	case a.LooksUp(h.Now()):
		err = h.open(ctx, in, a)
	default:
		m := asked{making: h.making(in, a.Call.Locale), call: a.Call}
		err = m.begin(ctx)
	}
	if errors.Is(err, aggregate.ErrMoved) || errors.Is(err, aggregate.ErrInFlight) || errors.Is(err, call.ErrAged) {
		err = nil // others were faster, or the sweeper ends it
	}
	return aggregate.Next{State: aggregate.StateFinish, Outcome: conversation.OutcomeResting}, err
}

// open looks up whom the rules ask, and opens the call along their route. While Slack is silent it is put off, for an
// hour at most.
func (h *Handler) open(ctx context.Context, in pipeline.Input, a *call.Aggregate) error {
	_, err := pipeline.Under(ctx, h.Calls, in.Tenant, func(s tenancy.Settings) (*call.Aggregate, error) {
		now := h.Now()
		found, on, err := h.find(ctx, a.Call, s, now)
		r := call.Routed{Opening: found.Opening, Refused: found.Refused, Terms: s.ActionTerms(now)}
		if errors.Is(err, explain.ErrUnverified) {
			r.Again = now.Add(pipeline.RetryDelay(0, now.Sub(a.Call.CreatedAt), pipeline.MinRetryDelay))
		} else if err != nil {
			return nil, err
		}
		return h.Calls.Decide(ctx, in.Ref(), func(a *call.Aggregate) (aggregate.Change, error) {
			return a.Route(in.Run, r, now, on...)
		})
	})
	return err
}

func (h *Handler) find(ctx context.Context, x *call.Call, s tenancy.Settings, now time.Time) (found decide.Found,
	on []aggregate.Owned, err error) {
	p, _, err := h.Calls.ToolPermission(ctx, x.TenantID, x.Tool)
	if err != nil {
		return found, nil, fmt.Errorf("read the permission of %s: %w", x.Tool, err)
	}
	content, err := x.Content()
	if err != nil {
		return found, nil, err
	}
	found, on, err = h.Finder.Find(ctx, x.TenantID, x.TeamID, s, now,
		decide.AboutCall(x.Answers, x.Channel, content, p, s))
	return found, append(on, aggregate.Owned{Key: tenancy.ToolKey(x.Tool), Rev: p.Rev, Err: aggregate.ErrSettings}), err
}

// asked is a call that an outside agent asked for, under one claim.
type asked struct {
	making
	call *call.Call
	key  tenancy.Key // as prepare read it
}

// begin claims the call and makes it. What keeps it from being made fails it.
func (m *asked) begin(ctx context.Context) (err error) {
	ref := m.in.Ref()
	for range mostTries {
		why, failed := m.prepare(ctx)
		if failed != nil {
			return failed
		}
		if why != (refusal{}) {
			m.log(ctx, why.reason, m.cause)
			return m.commit(ctx, func(a *call.Aggregate) (aggregate.Change, error) {
				return a.Refuse(m.in.Run, call.Result{Error: why.reason, ErrorDetail: why.detail}, m.Now())
			})
		}
		until := m.Now().Add(m.within(ctx) + claimSpare)
		on := aggregate.Owned{Key: tenancy.ToolKey(m.call.Tool), Rev: m.permission.Rev, Err: aggregate.ErrSettings}
		key := m.key.AsRead()
		var a *call.Aggregate
		a, err = pipeline.Numbering(ctx, m.Calls, ref, func(of task.Series) (*call.Aggregate, error) {
			return m.Calls.Decide(ctx, ref, func(a *call.Aggregate) (aggregate.Change, error) {
				return a.Claim(m.in.Run, m.invocation, of, until, m.Now(), on, key)
			})
		})
		if errors.Is(err, aggregate.ErrUnconfirmed) {
			a, err = m.Calls.Load(ctx, ref)
		}
		if err == nil && (a.Call.Claim == nil || a.Call.Claim.Invocation != m.invocation) {
			return aggregate.ErrSuperseded
		}
		if err == nil {
			m.call = a.Call
			return m.make(ctx)
		}
		if !errors.Is(err, aggregate.ErrSettings) {
			break
		}
	}
	return err
}

// prepare asks everything again that was asked when the call was asked for, and whether its key still
// holds.
func (m *asked) prepare(ctx context.Context) (why refusal, err error) {
	key, err := m.Calls.Key(ctx, m.in.Tenant, m.call.KeyID)
	if err != nil {
		return why, fmt.Errorf("read the key: %w", err)
	}
	m.key = key
	if over, is := errors.AsType[tenancy.ErrKey](key.Holds(m.call.Tool, m.Now())); is {
		m.cause = over
		return refusal{reason: call.KeyReason(over)}, nil
	}
	if !calls.Stays(ctx, key, slackWithin, m.Stays) {
		return refusal{reason: call.ReasonKey}, nil
	}
	content, err := m.call.Content()
	if err != nil || content.Key != m.call.KeyID || content.Tool != m.call.Tool || content.Access != m.call.Access {
		m.cause = errors.New("its row names another key or tool")
		return refusal{reason: conversation.ReasonUnread}, nil
	}
	p := content.Payload()
	if why, err = m.permit(ctx, p); err != nil || why != (refusal{}) {
		return why, err
	}
	return m.check(p), nil
}

// make makes the claimed call and commits its end.
func (m *asked) make(ctx context.Context) error {
	x := m.call
	slog.InfoContext(ctx, "a call begins", "call_id", x.CallID, "tool", x.Tool)
	within, stop := context.WithDeadline(ctx, x.Claim.LeaseUntil.Add(-claimSpare))
	defer stop()
	value, err := m.made(within, x.CallID, x.Answers, x.Gate.Stampers()...)
	if err != nil && !x.Reads() && explain.Unsure(err) {
		m.log(ctx, conversation.ReasonUnknown, err)
		return m.record(ctx, func(a *call.Aggregate) (aggregate.Change, error) { return a.Lost(m.invocation, m.Now()) })
	}
	r := m.result(ctx, value, err, x.Claim.LeaseUntil, x.Reads())
	m.log(ctx, r.Error, err)
	return m.record(ctx, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Finish(m.invocation, r, m.Now())
	})
}

// record commits the call's end, which no other invocation knows.
func (m *asked) record(ctx context.Context, decide aggregate.Decision[*call.Aggregate]) error {
	return pipeline.Insist(ctx, m.Now, m.call.Claim.LeaseUntil, func() error { return m.commit(ctx, decide) })
}

func (m *asked) commit(ctx context.Context, decide aggregate.Decision[*call.Aggregate]) error {
	if _, err := m.Calls.Decide(ctx, m.in.Ref(), decide); err != nil {
		return fmt.Errorf("record what became of the call: %w", err)
	}
	return nil
}

// log logs the call's end in one line. cause is for operators; it names no argument and no result.
func (m *asked) log(ctx context.Context, why aggregate.Reason, cause error) {
	if why == "" {
		slog.InfoContext(ctx, "a call is made", "call_id", m.call.CallID, "tool", m.call.Tool)
		return
	}
	slog.WarnContext(ctx, "a call is not made, or failed", "call_id", m.call.CallID, "tool", m.call.Tool, "reason", why,
		"err", cause)
}
