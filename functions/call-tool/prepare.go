package main

import (
	"context"
	"errors"
	"fmt"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/tool"
)

// refusal is why an approved call isn't made; the zero value: it can be.
type refusal struct {
	reason aggregate.Reason
	detail string
}

// prepare asks everything again that was asked when the call was proposed: that it is what was approved, that the tool
// is allowed and still the version that people saw, that its schema and the tenant's constraints hold and, of a call
// that nobody stamped, that the settings list it.
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
	if j.settings, err = j.Store.Settings(ctx, ref.Tenant); err != nil {
		return why, fmt.Errorf("read the settings: %w", err)
	}
	if j.permission, _, err = j.Store.ToolPermission(ctx, ref.Tenant, p.Tool); err != nil {
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
	case err != nil:
		return why, err
	}
	if !j.listed(p) {
		return refusal{reasonUnlisted, p.Tool}, nil
	}
	if why := j.pushable(p); why != (refusal{}) {
		return why, nil
	}
	return j.check(p), nil
}

// check checks the arguments as they are about to be sent.
func (j *job) check(p conversation.Payload) refusal {
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

func (j *job) broken(e *explain.CallError) refusal {
	if e.Problem == explain.ProblemTooLong {
		return refusal{reasonArguments, explain.FailedCall(j.session.Locale, e.Problem, e.Args...)}
	}
	return refusal{reasonConstraint, explain.FailedCall(j.session.Locale, e.Problem, e.Args...)}
}

// listed reports whether a person stamped the call, or the settings list it for everybody who asked for it.
func (j *job) listed(p conversation.Payload) bool {
	if j.action.ApprovedBy == conversation.ApprovedByUser {
		return true
	}
	return tool.Listable(j.tool.Spec) && len(j.action.Askers) > 0 &&
		agent.Listed(j.settings.ListedReads, j.session.AgentID, p.Tool, p.ToolVersion, j.action.Askers) >= 0
}
