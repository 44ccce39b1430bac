package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
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

// person returns the message that a person edited or deleted, as it was and as it is. ok is false for everything else
// that changes a message: links that Slack unfolds, replies that it counts, and what apps change. Slack's published
// example of an edit has no previous message. Then was is as the message is now, and what it said before is what its
// rows have. Of a deletion without it nothing says whose message it was, so that is none.
func (c changed) person(e envelope) (was, is message, deleted, ok bool) {
	switch {
	case c.Previous != nil:
		was = c.at(*c.Previous)
	case c.Message != nil && c.Message.Edited != nil:
		was = c.at(*c.Message)
	default:
		return was, is, false, false
	}
	deleted = c.Subtype == "message_deleted" || c.Message != nil && c.Message.Subtype == tombstone
	switch {
	case was.User == "" || was.automatic(e) || was.foreign(e) || !slices.Contains(personal, was.Subtype):
		return was, is, false, false
	case deleted:
		return was, is, true, true
	case c.Message == nil || c.Message.User != was.User:
		return was, is, false, false
	}
	return was, c.at(*c.Message), false, true
}

// at returns a message of the event with the place, which the event has.
func (c changed) at(m message) message {
	m.Type, m.Channel, m.ChannelType = "message", c.Channel, cmp.Or(c.ChannelType, slackapi.ChannelType(c.Channel))
	return m
}

// change saves that a person edited or deleted a request's message, or a message to an agent. Messages to agents never
// change, so the change is a message of its own. Changes of other messages are ignored.
func (h *Handler) change(ctx context.Context, e envelope, why string) (slackapi.Response, error) {
	var c changed
	if err := slackapi.Decode(e.Event, &c, "event"); err != nil {
		return slackapi.Response{}, err
	}
	m, is, deleted, ok := c.person(e)
	if !ok {
		return ignore(ctx, e, why)
	}
	us, err := h.us(ctx, e, m)
	if err != nil {
		return slackapi.Response{}, unkept(ctx, e.EventID, err)
	}
	concerns := m.channelType() == "im" || m.mentions(us)
	for _, x := range []*message{&m, &is} {
		if concerns { // else what it said tells nobody anything
			h.Slack.Label(slackapi.For(ctx, aggregate.TenantID(e.team())), &x.Message)
		}
	}
	at := cmp.Or(c.TS, c.EventTS)
	if err := slackapi.CheckTS("event.ts", at); err != nil {
		return slackapi.Response{}, err
	}
	r, err := m.request(e, us)
	if err != nil {
		return slackapi.Response{}, err
	}
	request := r
	dropped := !deleted && m.channelType() != "im" && m.mentions(us) && !is.mentions(us)
	if !deleted {
		if request, err = is.request(e, us); err != nil {
			return slackapi.Response{}, err
		}
		if c.Previous != nil && request.Saying() == r.Saying() && !dropped {
			return ignore(ctx, e, why)
		}
	}
	if done, err := h.ofRequest(ctx, r, deleted || dropped); done || err != nil {
		return slackapi.OK(), err
	}
	if concerns {
		if told, err := h.changeSaid(ctx, r, request, at, deleted); told || err != nil {
			return slackapi.OK(), err
		}
	}
	return h.early(ctx, e, c, us, why)
}

// early handles a change that overtook its message, which Slack may deliver again for some minutes: what is edited is
// received as it is now, and what was deleted is never received.
func (h *Handler) early(ctx context.Context, e envelope, c changed, us bot, why string) (slackapi.Response, error) {
	was, is, deleted, _ := c.person(e)
	sent, _ := aggregate.ParseTS(was.TS)
	at, err := aggregate.ParseTS(cmp.Or(c.TS, c.EventTS))
	if err != nil || at.Sub(sent) > redelivered {
		return ignore(ctx, e, why)
	}
	if !deleted {
		is.Edited = nil
		return h.message(ctx, e, is)
	}
	if was.channelType() != "im" && !was.mentions(us) {
		return ignore(ctx, e, why)
	}
	r, err := was.request(e, us)
	if err != nil {
		return slackapi.Response{}, err
	}
	change, ref, err := task.Gone(aggregate.TenantID(r.TeamID), r, h.Now())
	if err != nil {
		return slackapi.Response{}, slackapi.Bad("event.ts: %s", err)
	}
	out, err := h.create(ctx, change, ref, r.Unsaid())
	if err == nil && was.channelType() == "im" { // it may have come in this moment
		_, err = h.changeSaid(ctx, r, r, cmp.Or(c.TS, c.EventTS), true)
	}
	return out, err
}

// redelivered is how long after a message was written its first delivery may still come. Slack tries the last time some
// six minutes later (https://docs.slack.dev/apis/events-api/#retries); the rest is for queues on its side.
const redelivered = time.Hour

// changeSaid saves the change of a message to an agent: is has what the message says now. told is false if there is no
// such conversation.
func (h *Handler) changeSaid(ctx context.Context, r, is task.Request, at string, deleted bool) (told bool, err error) {
	if deleted {
		is = is.Unsaid()
	}
	in := conversation.Inbound{
		Team: r.TeamID, Channel: r.Channel, ChannelType: r.ChannelType, Thread: r.ThreadTS,
		TS: at, User: r.User, Text: is.Text, Changes: r.MessageTS, Deleted: deleted,
		Forwarded: is.Forwarded, Attachments: attachments(is),
	}
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return false, unkept(ctx, r.EventID, err)
	}
	if !r.Threaded() {
		to, _ := addressee(s, in.Text)
		in.Text = worded(in.Text, to.text)
	}
	return h.tell(ctx, in, s, r)
}

// ofRequest handles that the author of a request edited its message, or deleted it or its mention: a deletion cancels
// what waits, and an edit changes nothing, which a note says. done is false if the message made no request.
func (h *Handler) ofRequest(ctx context.Context, r task.Request, deleted bool) (done bool, err error) {
	a, err := h.decide(ctx, r, func(a *task.Aggregate) (aggregate.Change, error) {
		if !deleted {
			return aggregate.Change{}, nil
		}
		return a.Deleted(r.User, h.Now())
	})
	if a == nil || err != nil {
		return err != nil, err
	}
	if _, offered := a.OfferedIn(); offered {
		return false, nil
	}
	slog.InfoContext(ctx, "changed", "task_id", a.Head.TaskID, "event_id", r.EventID, "deleted", deleted)
	if deleted || a.Head.Ended != nil || r.User != a.Head.Requester {
		return true, nil
	}
	// Nothing follows from an edit, and whose request it is is told so.
	s, err := h.settings(ctx, aggregate.TenantID(r.TeamID))
	if err != nil {
		return true, unkept(ctx, r.EventID, err)
	}
	h.note(ctx, r, card.EditNote(a.Language(s.Locale)))
	return true, nil
}

// known reports whether a message is a request already, or was deleted before it came: then that has ended.
func (h *Handler) known(ctx context.Context, r task.Request) (bool, error) {
	a, err := h.decide(ctx, r, func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil })
	return a != nil, err
}

// decide decides on the request that a message made; nil if it made none.
func (h *Handler) decide(ctx context.Context, r task.Request, decision task.Decision) (*task.Aggregate, error) {
	id, err := task.ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return nil, slackapi.Bad("event.ts: %s", err)
	}
	a, err := h.Tasks.Decide(ctx, task.RefOf(aggregate.TenantID(r.TeamID), id), decision)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		return nil, nil
	case err != nil && !explain.ClassOf(err).Refusal():
		return nil, unkept(ctx, r.EventID, err)
	}
	return a, nil
}
