package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/slackapi/inbound"
)

// moved records that Slack gave a channel another id, under which it delivers the channel's messages and takes posts
// from then on (https://docs.slack.dev/reference/events/channel_id_changed).
func (h *Handler) moved(ctx context.Context, e envelope) (inbound.Response, error) {
	var x struct {
		Old string `json:"old_channel_id"`
		New string `json:"new_channel_id"`
		At  string `json:"event_ts"`
	}
	if err := inbound.Decode(e.Event, &x, "event"); err != nil {
		return inbound.Response{}, err
	}
	if err := inbound.CheckIDs("team_id", e.team(), "event.old_channel_id", x.Old, "event.new_channel_id", x.New); err != nil {
		return inbound.Response{}, err
	}
	if err := inbound.CheckTS("event.event_ts", x.At); err != nil {
		return inbound.Response{}, err
	}
	tenant := aggregate.TenantID(e.team())
	if err := h.Store.MoveChannel(ctx, tenant, x.Old, tenancy.Moved{To: x.New, At: x.At}); err != nil {
		return inbound.Response{}, unkept(ctx, e.EventID, err)
	}
	h.calls.Keep(channel{tenant, x.New}, nil, h.Now(), 0)
	slog.InfoContext(ctx, "a channel has another id", "event_id", e.EventID, "was", x.Old, "is", x.New)
	return inbound.OK(), nil
}

// channel is a tenant's channel under an id of Slack's.
type channel struct{ tenant, id string }

// names returns all ids of an event's channel, the one first by which rows know it. Direct messages keep theirs. They
// are remembered by the id that Slack gives: what it gives for the first time, as after a change, is looked up.
func (h *Handler) names(ctx context.Context, e envelope, id string) ([]string, error) {
	if strings.HasPrefix(id, "D") || inbound.CheckIDs("team_id", e.team(), "event.channel", id) != nil {
		return []string{id}, nil
	}
	of := channel{aggregate.TenantID(e.team()), id}
	names, err := h.calls.Ask(of, h.Now(), settingsFor, func() ([]string, error) {
		moved, err := h.Store.Channels(ctx, of.tenant)
		return moved.Names(id), err
	})
	if err != nil {
		return nil, unkept(ctx, e.EventID, err)
	}
	return names, nil
}

// kept reports whether a message, which Slack may send repeatedly, is a request already, or was deleted before it came.
// What makes a request itself asks only for the other ids of its channel.
func (h *Handler) kept(ctx context.Context, e envelope, r task.Request, others bool) (bool, error) {
	names, err := h.names(ctx, e, r.Channel)
	for _, name := range names {
		id, odd := task.ID(r.TeamID, name, r.MessageTS)
		if others && name == r.Channel || odd != nil {
			continue
		}
		_, err := h.Tasks.Decide(ctx, task.RefOf(aggregate.TenantID(r.TeamID), id),
			func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil })
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, aggregate.ErrNotFound):
			return false, unkept(ctx, r.EventID, err)
		}
	}
	return false, err
}

// place returns the id under which rows know an event's channel: the one that the conversation of its thread has, which
// may have begun before the change was known, otherwise the first.
func (h *Handler) place(ctx context.Context, e envelope, channel, thread string) (string, error) {
	names, err := h.names(ctx, e, channel)
	if err != nil || len(names) == 1 || inbound.CheckTS("event.thread_ts", thread) != nil {
		return append(slices.Clone(names), channel)[0], err
	}
	for _, name := range names {
		_, err := h.Conversations.Load(ctx, conversation.Inbound{Team: e.team(), Channel: name, Thread: thread}.Ref())
		switch {
		case err == nil:
			return name, nil
		case !errors.Is(err, aggregate.ErrNotFound):
			return channel, unkept(ctx, e.EventID, err)
		}
	}
	return names[0], nil
}
