package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/tool"
)

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
	return tool.Listable(j.tool.Spec) && len(j.action.Askers) > 0 &&
		agent.Listed(j.settings.ListedReads, j.session.AgentID, p.Tool, p.ToolVersion, j.action.Askers) >= 0
}

// call makes the claimed read and commits its end, even if the action was cancelled meanwhile.
func (j *job) call(ctx context.Context) (aggregate.Next, error) {
	x, until := j.action, j.action.Claim.LeaseUntil
	conversation.Log(ctx, conversation.EventStarted, j.in.Ref().ID, j.session.AgentID, x.ActionID, "type", x.ActionType,
		"tool", x.Tool)
	within, stop := context.WithDeadline(ctx, until.Add(-claimSpare))
	defer stop()
	go pipeline.Watch(within, j.Store, j.in.Ref(), x.ActionID, j.PollEvery, func() error { stop(); return nil })
	value, err := j.made(within, tool.Call{Tool: x.Tool, Key: j.in.Ref().ID + "/" + x.ActionID, Asked: x.Askers[0]})
	stop()
	over := j.Now()
	r := j.result(ctx, value, err, until, true)
	r.At = over
	j.log(ctx, r, err)
	return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, j.invocation, r, j.Now())
	})
}

// record commits the call's end; see insist.
func (j *job) record(ctx context.Context, decide conversation.Decision) (next aggregate.Next, err error) {
	err = j.insist(ctx, j.action.Claim.LeaseUntil, func() (err error) {
		next, err = j.conclude(ctx, decide)
		return err
	})
	return next, err
}
