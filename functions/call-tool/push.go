package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool/github"
)

// pushable checks what only pull requests have: that row, payload and settings name the same source, and that people
// could read all that changes.
func (j *job) pushable(p conversation.Payload) refusal {
	x, s := j.action, j.session.Source
	switch {
	case p.Push == nil && x.Pushed == nil && !j.tool.Spec.Sourced:
		return refusal{}
	case p.Push == nil || x.Pushed == nil || !j.tool.Spec.Sourced || x.Pushed.Base != p.Push.Commit ||
		x.Pushed.Repository != p.Push.Repository || files.Unstampable(p.Changes) != nil || len(p.Changes) == 0:
		j.cause = errors.New("its row names another push")
		return refusal{reason: conversation.ReasonUnread}
	case s == nil || s.Commit != p.Push.Commit || s.RepositoryID != p.Push.RepositoryID ||
		!j.session.Lists(j.settings.Sources):
		j.cause = errors.New("the settings don't list the source")
		return refusal{reason: conversation.ReasonPushSource}
	}
	source, _ := tenancy.SourceNamed(j.settings.Sources, s.Name, j.session.Opener, j.session.AgentID)
	if source.CI != p.Push.CI || source.Ref != "heads/"+p.Push.Into {
		j.cause = errors.New("the settings of the source have changed")
		return refusal{reason: conversation.ReasonPushSource}
	}
	j.payload = p
	return refusal{}
}

// order is the pull request that people approved.
func (j *job) order() (o github.Order, err error) {
	x, p := j.action, j.payload
	var said struct{ Title, Body string }
	if err := json.Unmarshal([]byte(p.Arguments), &said); err != nil {
		return o, fmt.Errorf("read the arguments: %w", err)
	}
	if problems := conversation.CheckPull(said.Title, said.Body); problems != nil {
		return o, fmt.Errorf("%s: %w", problems[0], files.ErrRefused)
	}
	return github.Order{
		RepositoryID: int64(p.Push.RepositoryID), Into: p.Push.Into, Title: said.Title,
		Body: conversation.PullBody(said.Body), At: *x.Gate.ApprovedAt, Changes: p.Changes,
		Message: conversation.PushMessage(x.SessionID, x.ActionID, p.Push.CI),
	}, nil
}

// push opens the claimed pull request, from the step at which its row is.
func (j *job) push(ctx context.Context) (aggregate.Next, error) {
	x := j.action
	within, stop := context.WithDeadline(ctx, x.Claim.LeaseUntil.Add(-claimSpare))
	defer stop()
	at := *x.Pushed
	o, err := j.order()
	if err == nil {
		var repo *github.Client
		if repo, err = j.repository(within, j.payload.Push.Repository, o.RepositoryID, github.Pushes()); err == nil {
			at, err = repo.Carry(within, o, at, j.note)
		}
	}
	r, final := pushed(j.session.Locale, at, err)
	if !final {
		_, released := j.conclude(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			c, err := a.Release(x.ActionID, j.invocation, j.Now())
			if errors.Is(err, aggregate.ErrMoved) { // it was withdrawn, and nobody goes on with it
				r.Error = conversation.ReasonWithdrawn
				return a.Finish(x.ActionID, j.invocation, r, j.Now())
			}
			return c, err
		})
		return aggregate.Next{}, errors.Join(fmt.Errorf("%w: push: %w", explain.ErrUnavailable, err), released)
	}
	j.log(ctx, r, err)
	_, refused := errors.AsType[*explain.CallError](err)
	return j.record(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		if refused && x.Pushed.Commit != "" { // an earlier try may have made the step that is refused now
			return a.Lost(x.ActionID, j.invocation, j.Now())
		}
		return a.Finish(x.ActionID, j.invocation, r, j.Now())
	})
}

// repository opens the repository with a number as the tenant's App, with a token for that one alone.
func (j *job) repository(ctx context.Context, name string, id int64, p github.Permissions) (*github.Client, error) {
	app, err := j.App(ctx, j.in.Tenant)
	if _, ended := errors.AsType[tenancy.ErrNotConnected](err); ended || errors.Is(err, aggregate.ErrNotFound) {
		return nil, explain.Fail(explain.ProblemNotConnected, err, explain.GitHub)
	}
	if err != nil {
		return nil, fmt.Errorf("open the App: %w", err)
	}
	return j.GitHub.Open(app, name, id, p), nil
}

// note commits a step before the next one is made. If the commit's answer was lost, the row says whether it was saved.
func (j *job) note(ctx context.Context, at conversation.Pushed) error {
	a, err := j.Store.Decide(ctx, j.in.Ref(), func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Step(j.action.ActionID, j.invocation, at, j.Now())
	})
	if errors.Is(err, aggregate.ErrUnconfirmed) {
		if a, err = j.Store.Load(ctx, j.in.Ref()); err == nil {
			if x := a.Action(j.action.ActionID); x == nil || x.Pushed == nil || x.Pushed.Commit != at.Commit ||
				x.Pushed.There != at.There || x.Pushed.Number != at.Number {
				err = aggregate.ErrMoved
			}
		}
	}
	if err != nil {
		return fmt.Errorf("note how far the push is: %w", err)
	}
	return nil
}

// pushed returns the result of a push that came as far as at. final is false if another try may go on with it.
func pushed(locale string, at conversation.Pushed, err error) (r conversation.Result, final bool) {
	r = conversation.Result{Status: conversation.ActionFailed, Pushed: &at}
	e, called := errors.AsType[*explain.CallError](err)
	why, refused := errors.AsType[github.Final](err)
	switch {
	case err == nil:
		r.Status = conversation.ActionSucceeded
		return r, true
	case errors.Is(err, aggregate.ErrMoved):
		r.Error = conversation.ReasonWithdrawn
	case refused:
		r.Error = aggregate.Reason(why)
	case errors.Is(err, files.ErrRefused):
		r.Error = conversation.ReasonPushRefused
	case called && (github.Refuses(err) || e.Problem == explain.ProblemNotConnected) && e.Outcome == explain.CallFailed:
		r.Error, r.ErrorDetail = conversation.ReasonPushRefused, explain.FailedCall(locale, e.Problem, e.Args...)
	default:
		return r, false
	}
	if at.There {
		r.Error = conversation.ReasonBranchAlone
	}
	return r, true
}

// look looks what of a pull request is there of which nobody knows, because a person asked for that.
func (h *Handler) look(ctx context.Context, in pipeline.Input, a *conversation.Aggregate) (aggregate.Next, error) {
	x := a.Looking()
	if x == nil || a.Conversation.Source == nil {
		return pipeline.Rest(ctx, h.Store, in, h.Now, a.Next(h.Now()))
	}
	j := &job{making: h.making(in, a.Conversation.Locale), session: a.Conversation, action: x}
	at := *x.Pushed
	id := int64(a.Conversation.Source.RepositoryID)
	repo, err := j.repository(ctx, at.Repository, id, github.Looks())
	if err == nil {
		at, err = repo.Look(ctx, id, at)
	}
	r := conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonPushNotThere, Pushed: &at}
	switch {
	case errors.Is(err, github.Final(conversation.ReasonBranchTaken)):
		r.Error = conversation.ReasonBranchTaken
	case err != nil:
		j.log(ctx, conversation.Result{Error: conversation.ReasonPushUnseen}, err)
		return j.conclude(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.NotFound(in.Run, x.ActionID, h.Now())
		})
	case at.Number > 0:
		r.Status, r.Error = conversation.ActionSucceeded, ""
	case at.There:
		r.Error = conversation.ReasonBranchAlone
	}
	j.log(ctx, r, nil)
	return j.conclude(ctx, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Found(in.Run, x.ActionID, r, h.Now())
	})
}
