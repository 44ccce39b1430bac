package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/tool"
)

// making is one call of a tool under one claim, whoever asked for it: an agent in a conversation, or one outside.
type making struct {
	*Handler
	in         pipeline.Input
	locale     string
	invocation string

	// Set by permit and check.
	settings   tenancy.Settings
	permission tenancy.ToolPermission
	tool       tool.Permitted
	arguments  tool.Resolved
	cause      error // why it can't be called, for the log only
}

// permit asks again whether the tool is allowed, and still the version that people saw.
func (j *making) permit(ctx context.Context, p conversation.Payload) (why refusal, err error) {
	if j.settings, err = j.Store.Settings(ctx, j.in.Tenant); err != nil {
		return why, fmt.Errorf("read the settings: %w", err)
	}
	if j.permission, _, err = j.Store.ToolPermission(ctx, j.in.Tenant, p.Tool); err != nil {
		return why, fmt.Errorf("read the permission of %s: %w", p.Tool, err)
	}
	j.tool, err = j.Catalog.Permit(p.Tool, p.ToolVersion, p.Access, j.permission, j.settings.MCPServers)
	unbound, isUnbound := errors.AsType[*explain.CallError](err)
	switch {
	case errors.Is(err, tool.ErrForbidden):
		return refusal{reasonForbidden, p.Tool}, nil
	case errors.Is(err, tool.ErrOther):
		return refusal{reasonOther, p.Tool}, nil
	case isUnbound:
		return j.broken(unbound), nil
	}
	return why, err
}

// check checks the arguments as they are about to be sent.
func (j *making) check(p conversation.Payload) refusal {
	a, err := tool.Parse(aggregate.JSON(p.Arguments))
	if err == nil && len(a.Refs()) > 0 {
		err = errors.New("an argument is a reference")
	}
	if err == nil {
		j.arguments, err = a.Resolve(nil)
	}
	if err == nil {
		j.arguments, err = j.tool.Catalog.Check(p.Tool, j.arguments)
	}
	if err != nil {
		j.cause = errors.New("the arguments don't fit the tool")
		return refusal{reasonArguments, p.Tool}
	}
	if broken := j.tool.Spec.Hold(j.arguments); broken != nil {
		return j.broken(broken)
	}
	return refusal{}
}

func (j *making) broken(e *explain.CallError) refusal {
	if e.Problem == explain.ProblemTooLong {
		return refusal{reasonArguments, explain.FailedCall(j.locale, e.Problem, e.Args...)}
	}
	return refusal{reasonConstraint, explain.FailedCall(j.locale, e.Problem, e.Args...)}
}

// made makes the call, and looks whether one that was cut off arrived. A panic of the tool becomes an error: a read has
// failed, a write's outcome is unknown. A tool that its server has changed is switched off.
func (j *making) made(ctx context.Context, key, asked string, stamped ...string) (v json.RawMessage, err error) {
	c := j.tool.Spec.Call(j.arguments)
	defer boot.Recover(ctx, &err, j.in.Ref().Log(), "tool", c.Tool)
	c.Tenant, c.Locale, c.Key, c.Asked, c.Stamped = j.in.Tenant, j.locale, key, asked, stamped
	v, err = j.Tools.Run(ctx, c)
	tool.NoteChanged(ctx, j.Store, j.permission, j.Now(), err)
	if err != nil && explain.Unsure(err) {
		if is, found := j.Tools.Look(ctx, c); found {
			return is, nil
		}
	}
	return v, err
}

// keep stores a result. Nobody can repeat the call before its lease ends, so while the bucket is unavailable keep tries
// until then.
func (j *making) keep(ctx context.Context, value json.RawMessage, lease time.Time) (blob aggregate.Blob, err error) {
	shown, err := tool.Given(value)
	if err != nil {
		return blob, err
	}
	text, err := aggregate.Written(shown)
	if err != nil {
		return blob, fmt.Errorf("write a result: %w", err)
	}
	ctx, cancel := context.WithDeadline(ctx, lease.Add(-commitWithin))
	defer cancel()
	err = pipeline.Insist(ctx, time.Now, lease, func() (err error) {
		blob, err = j.Results.KeepCallResult(ctx, j.in.Ref(), text)
		return err
	})
	return blob, err
}

// within is how long the call may take: its tool's timeout, or what this invocation leaves.
func (j *making) within(ctx context.Context) time.Duration {
	most := j.tool.Spec.Timeout
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)-claimSpare)
	}
	return max(most, 0)
}

// result stores what the call returned, as the agent is given it. A write counts as done even if that can't be stored.
func (j *making) result(ctx context.Context, value json.RawMessage, err error, lease time.Time,
	reads bool) conversation.Result {
	if err != nil {
		r := conversation.Result{Status: conversation.ActionFailed, Error: reasonFailed}
		if e, is := errors.AsType[*explain.CallError](err); is {
			r.ErrorDetail = e.Detail
		}
		return r
	}
	blob, err := j.keep(ctx, value, lease)
	if err == nil {
		return conversation.Result{Status: conversation.ActionSucceeded, Call: &blob}
	}
	slog.ErrorContext(ctx, "what a tool returned is not kept", j.in.Ref().Log(), "err", err)
	if reads {
		return conversation.Result{Status: conversation.ActionFailed, Error: reasonNotKept}
	}
	return conversation.Result{Status: conversation.ActionSucceeded}
}

// refusal is why an approved call isn't made; the zero value: it can be.
type refusal struct {
	reason aggregate.Reason
	detail string
}

// prepare asks everything again that was asked when the call was proposed: that it is what was approved, that the tool
// is allowed and still the version that was meant, that its schema and the tenant's constraints hold and, of any but a
// pull request, that the settings list it.
func (j *job) prepare(ctx context.Context) (why refusal, err error) {
	ref, x := j.in.Ref(), j.action
	text, err := j.Results.Open(ctx, ref, x.Payload)
	if err != nil {
		return why, fmt.Errorf("open the payload: %w", err)
	}
	if aggregate.HashOf(string(text)) != x.Payload.Hash() {
		return refusal{reason: conversation.ReasonChanged}, nil
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	switch {
	case problems != nil:
		j.cause = errors.New(problems[0])
		return refusal{reason: conversation.ReasonUnread}, nil
	case *p.Base != x.Base || p.Tool != x.Tool || p.Access != x.Access:
		j.cause = errors.New("its row names another tool, or other files")
		return refusal{reason: conversation.ReasonUnread}, nil
	}
	if why, err := j.permit(ctx, p); err != nil || why != (refusal{}) {
		return why, err
	}
	if j.action.Pushed == nil && !j.listed(p) {
		return refusal{reasonUnlisted, p.Tool}, nil
	}
	if why := j.pushable(p); why != (refusal{}) {
		return why, nil
	}
	return j.check(p), nil
}

// listed reports whether the settings list the read for everybody who asked for it.
func (j *job) listed(p conversation.Payload) bool {
	return tool.Listable(j.tool.Spec) &&
		tenancy.ListedReadFor(j.settings.ListedReads, j.session.AgentID, p.Tool, p.ToolVersion, j.action.Askers) >= 0
}

// call makes the claimed read and commits its end, even if the action was cancelled meanwhile.
func (j *job) call(ctx context.Context) (aggregate.Next, error) {
	x, until := j.action, j.action.Claim.LeaseUntil
	conversation.Log(ctx, conversation.EventStarted, j.in.Ref().ID, j.session.AgentID, x.ActionID, "type", x.ActionType,
		"tool", x.Tool)
	within, stop := context.WithDeadline(ctx, until.Add(-claimSpare))
	defer stop()
	go pipeline.Watch(within, j.Store, j.in.Ref(), x.ActionID, j.PollEvery, func() error { stop(); return nil })
	value, err := j.made(within, j.in.Ref().ID+"/"+x.ActionID, x.Askers[0])
	stop()
	over := j.Now()
	r := j.result(ctx, value, err, until, true)
	r.At = over
	j.log(ctx, r, err)
	return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, j.invocation, r, j.Now())
	})
}

// record commits the call's end, which no other invocation knows.
func (j *job) record(ctx context.Context, decide conversation.Decision) (next aggregate.Next, err error) {
	err = pipeline.Insist(ctx, j.Now, j.action.Claim.LeaseUntil, func() (err error) {
		next, err = j.conclude(ctx, decide)
		return err
	})
	return next, err
}
