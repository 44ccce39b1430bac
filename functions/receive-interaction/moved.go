package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// learn records what a click says: that Slack calls a card's channel otherwise by now. Slack also sends an event of it,
// which may have been lost (https://docs.slack.dev/reference/events/channel_id_changed). Whatever else the channel is
// called later, it is called so after the click.
func (h *Handler) learn(ctx context.Context, tenant, was, is string) {
	moved, err := h.Store.Channels(ctx, tenant)
	if was = moved.Now(was); err == nil && was != is {
		now := h.Now()
		err = h.Store.MoveChannel(ctx, tenant, was,
			tenancy.Moved{To: is, At: fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)})
		slog.InfoContext(ctx, "a channel has another id", "was", was, "is", is)
	}
	if err != nil { // the decision counts; the next click tells again
		slog.WarnContext(ctx, "not known what a channel is called", "was", was, "is", is, "err", err)
	}
}

// names returns all ids of a channel, the one first by which rows know it. Direct messages keep theirs.
func (h *Handler) names(ctx context.Context, team, channel string) []string {
	if channel == "" || strings.HasPrefix(channel, "D") {
		return []string{channel}
	}
	moved, err := h.Store.Channels(ctx, aggregate.TenantID(team))
	if err != nil {
		slog.WarnContext(ctx, "not known what a channel was called", "channel", channel, "err", err)
		return []string{channel}
	}
	return moved.Names(channel)
}

// asked reports whether a message is a request already, under any of its channel's ids.
func (h *Handler) asked(ctx context.Context, team, ts string, names []string) bool {
	for _, name := range names {
		id, err := task.ID(team, name, ts)
		if err != nil {
			continue
		}
		if _, err := h.Rows.Load(ctx, task.RefOf(aggregate.TenantID(team), id)); err == nil {
			return true
		}
	}
	return false
}
