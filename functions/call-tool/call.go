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
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/tool"
)

// call makes the claimed call and commits its end, even if the action was cancelled meanwhile.
func (j *job) call(ctx context.Context) (aggregate.Next, error) {
	x, until := j.action, j.action.Claim.LeaseUntil
	conversation.Log(ctx, conversation.EventStarted, j.in.Ref().ID, j.session.AgentID, x.ActionID, "type", x.ActionType,
		"tool", x.Tool)
	within, stop := context.WithDeadline(ctx, until.Add(-claimSpare))
	defer stop()
	if x.Reads() { // stopping a write would leave its outcome unknown
		go pipeline.Watch(within, j.Store, j.in.Ref(), x.ActionID, j.PollEvery, func() error { stop(); return nil })
	}
	value, err := j.run(within)
	stop()
	over := j.Now()
	if e, is := errors.AsType[*explain.CallError](err); is && e.Problem == explain.ProblemChanged {
		j.noteChanged(ctx)
	}
	if err != nil && !x.Reads() && explain.Unsure(err) {
		j.log(ctx, conversation.Result{Error: conversation.ReasonUnknown}, err)
		return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Lost(x.ActionID, j.invocation, j.Now())
		})
	}
	r := j.result(ctx, value, err)
	r.At = over
	j.log(ctx, r, err)
	return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, j.invocation, r, j.Now())
	})
}

// run makes the call. A panic of the tool becomes an error: a read has failed, a write's outcome is unknown.
func (j *job) run(ctx context.Context) (v json.RawMessage, err error) {
	defer boot.Recover(ctx, &err, j.in.Ref().Log(), "tool", j.action.Tool)
	return j.Tools.Run(ctx, tool.Call{
		Tenant: j.in.Tenant, Tool: j.action.Tool, Arguments: j.arguments, Key: j.in.Ref().ID + "/" + j.action.ActionID,
		Locale: j.session.Locale, Bounds: j.tool.Spec.Bounds, Pin: j.tool.Spec.Pin, Asked: j.asked(),
		Stamped: j.action.Gate.ApprovedBy,
	})
}

// asked returns whose request the action is.
func (j *job) asked() string {
	if len(j.action.Askers) > 0 {
		return j.action.Askers[0]
	}
	return j.session.Opener
}

// noteChanged disables a tool that its server has changed. A failure is only logged: the tool's next call finds the
// change again.
func (j *job) noteChanged(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	if err := j.Store.NoteToolChanged(ctx, j.permission, j.Now()); err != nil {
		slog.WarnContext(ctx, "a changed tool is not off", "tool", j.permission.ToolName, "err", err)
	}
}

// result stores what the call returned, as the agent is given it. A write counts as done even if that can't be stored.
func (j *job) result(ctx context.Context, value json.RawMessage, err error) conversation.Result {
	if err != nil {
		r := conversation.Result{Status: conversation.ActionFailed, Error: reasonFailed}
		if e, is := errors.AsType[*explain.CallError](err); is {
			r.ErrorDetail = e.Detail
		}
		return r
	}
	blob, err := j.keep(ctx, value)
	switch {
	case err == nil:
		return conversation.Result{Status: conversation.ActionSucceeded, Call: &blob}
	case j.action.Reads():
		slog.ErrorContext(ctx, "what a tool returned is not kept", j.in.Ref().Log(), "err", err)
		return conversation.Result{Status: conversation.ActionFailed, Error: reasonNotKept}
	}
	slog.ErrorContext(ctx, "what a tool returned is not kept", j.in.Ref().Log(), "err", err)
	return conversation.Result{Status: conversation.ActionSucceeded}
}

// keep stores a result. Nobody can repeat the call before its lease ends, so while the bucket is unavailable keep tries
// until then.
func (j *job) keep(ctx context.Context, value json.RawMessage) (blob aggregate.Blob, err error) {
	shown, err := given(value)
	if err != nil {
		return blob, err
	}
	text, err := written(shown)
	if err != nil {
		return blob, fmt.Errorf("write a result: %w", err)
	}
	ctx, cancel := context.WithDeadline(ctx, j.action.Claim.LeaseUntil.Add(-commitWithin))
	defer cancel()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		blob, err = j.Results.KeepCallResult(ctx, j.in.Ref(), text)
		if err == nil || pipeline.Name(err) != pipeline.Unavailable || !clock.LastsFor(ctx, wait) {
			return blob, err
		}
	}
}

// record commits the call's end, which no other invocation knows, and tries until the lease ends.
func (j *job) record(ctx context.Context, decide conversation.Decision) (aggregate.Next, error) {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		next, err := j.conclude(ctx, decide)
		if err == nil || pipeline.Name(err) != pipeline.Unavailable ||
			!j.Now().Add(wait).Before(j.action.Claim.LeaseUntil) || !clock.LastsFor(ctx, wait) {
			return next, err
		}
	}
}
