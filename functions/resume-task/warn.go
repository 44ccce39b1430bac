package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/slackapi"
)

// occasion identifies a warning: one limit on one day, UTC. On the next day, or after the limit was changed,
// administrators are warned again.
func (h *Handler) occasion(s tenancy.Settings) string {
	return h.Now().UTC().Format(time.DateOnly) + " " + strconv.Itoa(s.MaxOpenTasks.Tenant)
}

// warnedOf reports whether this process has already warned the administrators on this occasion.
func (h *Handler) warnedOf(a *task.Aggregate, s tenancy.Settings) bool {
	return h.warned[a.Head.TenantID] == h.occasion(s)
}

// warn tells the administrators that open tasks come near the workspace's limit. A crash or a repeated run tells nobody
// twice. If somebody can't be told, the request goes on, and the next one tries again.
func (h *Handler) warn(ctx context.Context, a *task.Aggregate, s tenancy.Settings) {
	ctx, cancel := context.WithTimeout(ctx, slackWithin)
	defer cancel()
	t, err := h.Store.Tenant(ctx, a.Head.TenantID)
	for _, user := range t.Admins {
		failed := h.warnOne(ctx, t, user, s)
		if refused, is := errors.AsType[slackapi.Refused](failed); is && !refused.App { // somebody who left, for example
			slog.WarnContext(ctx, "an administrator is not warned of the limit", "tenant", t.ID, "user", user, "err", failed)
			continue
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		slog.WarnContext(ctx, "not every administrator is warned of the limit", "tenant", a.Head.TenantID, "err", err)
		return
	}
	if h.warned == nil {
		h.warned = map[string]string{}
	}
	h.warned[a.Head.TenantID] = h.occasion(s)
}

// warnOne sends one administrator a direct message, once for each occasion. Slack isn't asked about one who has it.
func (h *Handler) warnOne(ctx context.Context, t tenancy.Tenant, user string, s tenancy.Settings) error {
	r := task.Request{TeamID: t.TeamID, User: user, ChannelType: "im", Source: task.SourceAgentContainer}
	tell := func() (aggregate.Change, aggregate.Ref) {
		about := user + " " + h.occasion(s)
		return task.Tell(t.ID, r, task.ReasonNearlyFull, about, strconv.Itoa(s.MaxOpenTasks.Tenant), h.Now())
	}
	_, ref := tell()
	if _, err := h.Store.Head(ctx, ref); !errors.Is(err, aggregate.ErrNotFound) {
		return err
	}
	channel, err := h.Slack.OpenDM(ctx, user)
	if err != nil {
		return fmt.Errorf("open the direct messages of %s: %w", user, err)
	}
	r.Channel = channel
	c, _ := tell()
	if err := h.Store.Create(ctx, c); err != nil && !errors.Is(err, aggregate.ErrExists) {
		return fmt.Errorf("warn %s: %w", user, err)
	}
	return nil
}
