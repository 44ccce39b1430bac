package main

import (
	"context"
	"log/slog"
	"time"

	"ringi/shared/domain/tenancy"
)

// call is a channel of a tenant that rows call otherwise than Slack does.
type call struct{ tenant, was, is string }

// learn records what a click says: that Slack calls a card's channel otherwise by now. Slack also sends an event of it,
// which may have been lost (https://docs.slack.dev/reference/events/channel_id_changed). Whatever else the channel is
// called later, it is called so after the click. What a process knows to be recorded it doesn't read again.
func (h *Handler) learn(ctx context.Context, tenant, was, is string) {
	_, err := h.calls.Ask(call{tenant, was, is}, h.Now(), time.Hour, func() (struct{}, error) {
		moved, err := h.Store.Channels(ctx, tenant)
		if former := moved.Now(was); err == nil && former != is {
			err = h.Store.MoveChannel(ctx, tenant, former, tenancy.MovedNow(is, h.Now()))
			slog.InfoContext(ctx, "a channel has another id", "was", former, "is", is)
		}
		return struct{}{}, err
	})
	if err != nil { // the decision counts; the next click tells again
		slog.WarnContext(ctx, "not known what a channel is called", "was", was, "is", is, "err", err)
	}
}
