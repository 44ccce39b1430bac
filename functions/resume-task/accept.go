package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/pipeline"
	"ringi/shared/slackapi"
	"ringi/shared/task"
)

// People is who Slack knows.
type People interface {
	User(ctx context.Context, id string) (slackapi.User, error)
}

// slackWithin bounds the question who somebody is.
const slackWithin = 6 * time.Second

// accept lets the request become a task or ends it as refused, and returns the task as it
// became. While Slack doesn't say who asks it is neither: the run tries again.
func (h *Handler) accept(ctx context.Context, a *task.Aggregate, run int) (*task.Aggregate, error) {
	by, err := h.requester(ctx, a)
	if err != nil {
		return nil, err
	}
	settings, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("read the quotas: %w", err)
	}
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) { return a.Accept(run, by, settings, h.Now()) })
	var full task.ErrFull
	if errors.As(err, &full) {
		after, err = h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) { return a.RefuseFull(run, full, h.Now()) })
	}
	if err != nil {
		return nil, fmt.Errorf("accept the request: %w", err)
	}
	if e := after.Head.Ended; e != nil {
		slog.InfoContext(ctx, "refused", "task_id", a.Head.TaskID, "reason", e.Reason)
	}
	return after, nil
}

// requester is who asks. Slack tells an app nothing of people whom it can't see: those
// are of other workspaces.
func (h *Handler) requester(ctx context.Context, a *task.Aggregate) (task.Actor, error) {
	r := a.Request
	by := task.Actor{Type: task.ActorUser, ID: r.User}
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	u, err := h.People.User(ctx, r.User)
	switch code := slackapi.Code(err); {
	case code == slackapi.CodeUserNotFound, code == slackapi.CodeUserNotVisible:
		return by, nil
	case code == slackapi.CodeUnknownMethod:
		slog.WarnContext(ctx, "guests can't be told from members here", "task_id", a.Head.TaskID)
		by.Team = r.TeamID
		return by, nil
	case err != nil:
		return by, fmt.Errorf("ask who requests: %w: %w", pipeline.ErrUnavailable, err)
	}
	if by.Team, by.Guest = u.Team, u.Guest; u.Of(r.TeamID) {
		by.Team = r.TeamID
	}
	return by, nil
}
