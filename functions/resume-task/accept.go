package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// Slack tells which workspace the app's token belongs to, and who people are.
type Slack interface {
	people.Groups
	Team(ctx context.Context) (string, error)
	Self(ctx context.Context) (slackapi.Self, error)
	TeamName(ctx context.Context) (string, error)
}

// slackWithin bounds each call to Slack.
const slackWithin = 6 * time.Second

// refuseRequester ends the request of a person who may not ask, and returns the task after that commit.
func (h *Handler) refuseRequester(ctx context.Context, a *task.Aggregate, by aggregate.Actor) (*task.Aggregate, error) {
	run := a.Head.Run
	if c, err := a.RefuseOutsider(run, by, h.Now()); err == nil && c.Empty() {
		return a, nil
	}
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseOutsider(run, by, h.Now()) })
	if err != nil {
		return nil, fmt.Errorf("turn the requester away: %w", err)
	}
	logRefused(ctx, after)
	return after, nil
}

// undecidable says which rule leaves nobody who could approve what is to be made next for the task under the settings of now. It is
// empty where somebody could, and where nobody is asked: then at most a step's gate may open, which execute-process opens for
// nobody, and a request that only reads needs no one. It returns errSilent when Slack can't be asked.
func (h *Handler) undecidable(ctx context.Context, a *task.Aggregate) (aggregate.Rule, tenancy.Settings, error) {
	settings, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return "", settings, fmt.Errorf("read who may approve: %w", err)
	}
	if !a.WillAsk(settings) {
		return "", settings, nil
	}
	asking, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	err = h.people.Somebody(asking, h.Slack, a.Request.Origin(), settings, h.Now(), a.Head.Requester)
	nobody, undecidable := errors.AsType[aggregate.ErrNotAllowed](err)
	if err != nil && !undecidable {
		return "", settings, fmt.Errorf("who may approve: %w: %w", errSilent, err)
	}
	return nobody.Rule, settings, nil
}

// refuseUndecidable ends a request that nobody could approve, and returns the task after that commit.
func (h *Handler) refuseUndecidable(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	rule, _, err := h.undecidable(ctx, a)
	if err != nil || rule == "" {
		return a, err
	}
	run := a.Head.Run
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RefuseUndecidable(run, rule, h.Now())
	})
	if err != nil {
		return nil, fmt.Errorf("turn away what nobody could approve: %w", err)
	}
	logRefused(ctx, after)
	return after, nil
}

// parkUndecidable parks a task whose next version nobody could approve, since the settings have changed after it was accepted, and
// returns the task after that commit. While Slack doesn't say who is listed the task goes on: its card names who may decide.
func (h *Handler) parkUndecidable(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if !a.Drafts(h.Now()) {
		return a, nil
	}
	rule, settings, err := h.undecidable(ctx, a)
	if errors.Is(err, errSilent) {
		slog.WarnContext(ctx, "goes on without knowing who may approve", "task_id", a.Head.TaskID, "err", err)
		return a, nil
	}
	if err != nil || rule == "" {
		return a, err
	}
	run := a.Head.Run
	after, err := h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) { return a.ParkUndecidable(run, settings, h.Now()) })
	if err != nil {
		return nil, fmt.Errorf("park what nobody could approve: %w", err)
	}
	return after, nil
}

// accept lets the request become a task, or ends it as refused when the tenant or the person
// has reached a limit. It returns the task after that commit.
func (h *Handler) accept(ctx context.Context, a *task.Aggregate, by aggregate.Actor) (*task.Aggregate, error) {
	run := a.Head.Run
	settings, err := h.Store.Settings(ctx, a.Head.TenantID)
	if err != nil {
		return nil, fmt.Errorf("read the quotas: %w", err)
	}
	after, err := h.decide(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) { return a.Accept(run, by, settings, h.Now()) })
	if err != nil {
		return nil, fmt.Errorf("accept the request: %w", err)
	}
	if e := after.Head.Ended; e != nil {
		switch e.Reason {
		case task.ReasonOpenPerson, task.ReasonHourPerson:
			metric.Count(metric.PersonFull, 1)
		case task.ReasonOpenTenant, task.ReasonHourTenant: // the whole workspace is blocked: worth a metric
			metric.Count(metric.TenantFull, 1)
		}
	}
	return after, nil
}

// decide commits a decision, or ends the request as refused when a limit does not allow it.
func (h *Handler) decide(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error) {
	run := a.Head.Run
	after, err := h.Store.DecideOn(ctx, a, decide)
	var full aggregate.ErrFull
	if errors.As(err, &full) {
		after, err = h.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseFull(run, full, h.Now()) })
	}
	if err == nil {
		logRefused(ctx, after)
	}
	return after, err
}

func logRefused(ctx context.Context, a *task.Aggregate) {
	if e := a.Head.Ended; e != nil {
		slog.InfoContext(ctx, "refused", "task_id", a.Head.TaskID, "tenant", a.Head.TenantID, "reason", e.Reason, "limit", e.Detail)
	}
}

// requester is the person who asks. When Slack can't be asked it returns errSilent, and the request waits.
func (h *Handler) requester(ctx context.Context, a *task.Aggregate) (aggregate.Actor, error) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	by, err := h.people.Requester(ctx, h.Slack, a.Request.TeamID, a.Request.User, h.Now())
	if err != nil {
		return by, fmt.Errorf("who requests: %w: %w", errSilent, err)
	}
	return by, nil
}
