package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"ringi/shared/decide/intake"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/slackapi/inbound"
)

// changed is what Slack sends when a message was edited or deleted
// (https://docs.slack.dev/reference/events/message/message_changed).
type changed struct {
	kind
	Channel     string   `json:"channel"`
	ChannelType string   `json:"channel_type"`
	TS          string   `json:"ts"` // of the change
	EventTS     string   `json:"event_ts"`
	Message     *message `json:"message"`
	Previous    *message `json:"previous_message"`
}

// tombstone is the subtype of a deleted message whose thread goes on.
const tombstone = "tombstone"

// person returns the message that a person edited or deleted, as it was, and its new text. ok is false for everything
// else that changes a message: links that Slack unfolds, replies that it counts, and what apps change.
func (c changed) person(e envelope, us bot) (was message, text string, deleted, ok bool) {
	if c.Previous == nil || cmp.Or(c.ChannelType, intake.ChannelType(c.Channel)) != "im" {
		return message{}, "", false, false
	}
	was = *c.Previous
	was.Type, was.Channel, was.ChannelType = "message", c.Channel, "im"
	deleted = c.Subtype == "message_deleted" || c.Message != nil && c.Message.Subtype == tombstone
	switch {
	case was.User == "" || was.ignored(e, us) != "" || !slices.Contains(personal, was.Subtype):
		return was, "", false, false
	case deleted:
		return was, "", true, true
	case c.Message == nil || c.Message.User != was.User || c.Message.Text == was.Text:
		return was, "", false, false
	}
	return was, c.Message.Content().Text, false, true
}

// change saves that a person edited or deleted a message to an agent. Messages never change, so the change is a message
// of its own. Changes of other messages are ignored.
func (h *Handler) change(ctx context.Context, e envelope, why string) (inbound.Response, error) {
	var c changed
	if err := inbound.Decode(e.Event, &c, "event"); err != nil {
		return inbound.Response{}, err
	}
	us := bot{user: e.bot()}
	m, text, deleted, ok := c.person(e, us)
	if !ok {
		return ignore(ctx, e, why)
	}
	r, err := m.request(e, us)
	if err != nil {
		return inbound.Response{}, err
	}
	in := conversation.Inbound{
		Team: r.TeamID, Channel: r.Channel, ChannelType: r.ChannelType, Thread: r.ThreadTS,
		TS: cmp.Or(c.TS, c.EventTS), User: r.User, Changes: r.MessageTS, Deleted: deleted,
	}
	if err := inbound.CheckTS("event.ts", in.TS); err != nil {
		return inbound.Response{}, err
	}
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return inbound.Response{}, unkept(ctx, r.EventID, err)
	}
	if in.Text = us.plain(text); !r.Threaded() {
		to, _ := addressee(s, in.Text)
		in.Text = worded(in.Text, to.text)
	}
	told, err := conversation.Tell(in, openingOf(s), h.Now())
	if err == nil {
		err = h.Conversations.Tell(ctx, in.Ref(), told)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		return ignore(ctx, e, why)
	}
	return inbound.OK(), said(ctx, in, "", r, err)
}
