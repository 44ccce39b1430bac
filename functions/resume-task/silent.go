package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/slackapi"
)

// errSilent: Slack could not be asked what must be known before a request is accepted.
var errSilent = errors.New("slack doesn't say")

// wait commits when to ask Slack again, as pipeline.RetryDelay says or Slack asks. It never gives up:
// the request goes on by itself once Slack answers.
func (h *Handler) wait(ctx context.Context, in aggregate.Ref, run int, why error) (*task.Aggregate, error) {
	slog.WarnContext(ctx, "waits for Slack", "task_id", in.ID, "err", why)
	var limited slackapi.RateLimited
	errors.As(why, &limited)
	after, err := h.Store.Decide(ctx, in, func(a *task.Aggregate) (aggregate.Change, error) {
		now := h.Now()
		rest := pipeline.RetryDelay(limited.RetryAfter, now.Sub(a.TryingSince()), pipeline.MinRetryDelay)
		return a.WaitUntil(run, task.Generation{Layer: task.L1}, now.Add(rest), now)
	})
	if err != nil {
		return nil, fmt.Errorf("put the request off: %w", err)
	}
	return after, nil
}
