package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"

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
	if err := inbound.CheckIDs("team_id", e.team(), "event.old_channel_id", x.Old, "event.new_channel_id",
		x.New); err != nil {
		return inbound.Response{}, err
	}
	if err := inbound.CheckTS("event.event_ts", x.At); err != nil {
		return inbound.Response{}, err
	}
	tenant := aggregate.TenantID(e.team())
	if err := h.Store.MoveChannel(ctx, tenant, x.Old, tenancy.Moved{To: x.New, At: x.At}); err != nil {
		return inbound.Response{}, unkept(ctx, e.EventID, err)
	}
	h.calls.Keep(channel{tenant, x.New}, called{}, h.Now(), 0)
	slog.InfoContext(ctx, "a channel has another id", "event_id", e.EventID, "was", x.Old, "is", x.New)
	return inbound.OK(), nil
}

// channel is a tenant's channel under an id of Slack's.
type channel struct{ tenant, id string }

// called has all ids of a channel, and which event had them read.
type called struct {
	names []string
	by    string
}

// names returns all ids of an event's channel, the one first by which rows know it. They are remembered for a while:
// see unchanged.
func (h *Handler) names(ctx context.Context, e envelope, id string) ([]string, error) {
	if inbound.CheckIDs("team_id", e.team(), "event.channel", id) != nil {
		return []string{id}, nil
	}
	is, err := h.calls.Ask(channel{aggregate.TenantID(e.team()), id}, h.Now(), settingsFor, func() (called, error) {
		names, err := inbound.ChannelIDs(ctx, h.Store, e.team(), id)
		return called{names, e.EventID}, err
	})
	if err != nil {
		return nil, unkept(ctx, e.EventID, err)
	}
	return is.names, nil
}

// errRenamed says that a channel got another id since its ids were read. They are known by now: try again.
var errRenamed = errors.New("the channel is called otherwise")

// unchanged returns errRenamed if what is remembered of a channel's ids is over. It is asked before an event opens
// something, or is taken for one of nothing that rows know.
func (h *Handler) unchanged(ctx context.Context, e envelope, id string) error {
	of := channel{aggregate.TenantID(e.team()), id}
	was, known := h.calls.Known(of, h.Now())
	if !known || was.by == e.EventID {
		return nil
	}
	h.calls.Keep(of, called{}, h.Now(), 0)
	if names, err := h.names(ctx, e, id); err != nil || slices.Equal(names, was.names) {
		return err
	}
	return errRenamed
}

// elsewhere looks for a conversation in the thread of a message that belongs to none, under an id of its channel that
// neither an event nor a click has told us. Slack has no call that tells the former id of a channel. But it gives no
// two messages of one person the same microsecond: a thread with the timestamp of a conversation that the author of its
// first message opened, or the message's own author, is that conversation's. elsewhere then records what the channel is
// called, and returns errRenamed.
func (h *Handler) elsewhere(ctx context.Context, e envelope, r task.Request, at, parent string) error {
	tenant := aggregate.TenantID(r.TeamID)
	openers := []string{r.User}
	if parent != r.User && inbound.CheckID("event.parent_user_id", parent) == nil {
		openers = append(openers, parent)
	}
	found, err := h.Conversations.InThread(ctx, tenant, r.ThreadTS, openers...)
	if err != nil {
		return unkept(ctx, r.EventID, err)
	}
	names, err := h.names(ctx, e, at)
	if err != nil {
		return err
	}
	for _, x := range found {
		if x.ChannelType == "im" || slices.Contains(names, x.Channel) {
			continue
		}
		if err := h.unchanged(ctx, e, at); err != nil {
			return err
		}
		moved, err := h.Store.Channels(ctx, tenant)
		if err == nil {
			err = h.Store.MoveChannel(ctx, tenant, moved.Now(x.Channel), tenancy.MovedNow(at, h.Now()))
		}
		if err != nil {
			return unkept(ctx, r.EventID, err)
		}
		slog.InfoContext(ctx, "a channel has another id", "event_id", r.EventID, "was", x.Channel, "is", at)
		h.calls.Keep(channel{tenant, at}, called{}, h.Now(), 0)
		return errRenamed
	}
	return nil
}

// kept reports whether a message, which Slack may send repeatedly, is a request already, or was deleted before it came:
// at is the channel as Slack calls it. What makes a request itself asks only for the other ids of its channel.
func (h *Handler) kept(ctx context.Context, e envelope, r task.Request, at string, others bool) (bool, error) {
	if err := h.unchanged(ctx, e, at); err != nil {
		return false, err
	}
	names, err := h.names(ctx, e, at)
	if err != nil {
		return false, err
	}
	if others {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == r.Channel })
	}
	is, err := inbound.Kept(ctx, func(ctx context.Context, ref aggregate.Ref) error {
		_, err := h.Tasks.Decide(ctx, ref, func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil })
		return err
	}, r.TeamID, r.MessageTS, names)
	if err != nil {
		err = unkept(ctx, r.EventID, err)
	}
	return is, err
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
