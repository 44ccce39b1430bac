package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi/inbound"
)

// numbered shows what has a number, a decision, a request, or one of each, to whoever may read it. Nobody else learns
// whether there is any.
func (h *Handler) numbered(ctx context.Context, c command, number task.Numbered, locale string) inbound.Response {
	tenant := aggregate.TenantID(c.team)
	decisions, err := h.Store.Numbers(ctx, tenant, number.Year, number.Key(), 1)
	var requests []task.Requested
	if err == nil {
		requests, err = h.Store.RequestNumbers(ctx, tenant, number.Year, number.Key(), 1)
	}
	if err != nil {
		slog.WarnContext(ctx, "no number", "user", c.user, "err", err)
		return ephemeral(card.NoteFailed.Told(locale, ""))
	}
	var said []string
	say := func(of card.NumberOf, ref aggregate.Ref, id string) {
		if title, link, reads := h.found(ctx, c, ref, id); reads {
			said = append(said, card.Numbered(locale, of, number.String(), title, link))
		}
	}
	if len(decisions) > 0 && decisions[0].N == number.N {
		switch x := decisions[0]; {
		case x.SessionID != "":
			say(card.NumberOfDecision, conversation.RefOf(tenant, x.SessionID), x.ActionID)
		default:
			say(card.NumberOfDecision, task.RefOf(tenant, x.TaskID), x.ProcessID)
		}
	}
	if len(requests) > 0 && requests[0].N == number.N {
		say(card.NumberOfRequest, task.RefOf(tenant, requests[0].TaskID), requests[0].TaskID)
	}
	if len(said) == 0 {
		return ephemeral(card.NoteNoNumber.Told(locale, ""))
	}
	return ephemeral(strings.Join(said, "\n"))
}

// found returns what a request, or an agent's action, is called and where it is, if somebody may read it. id is that of
// the gate by whose route they may, or the request's own: then the newest about its steps is meant.
func (h *Handler) found(ctx context.Context, c command, ref aggregate.Ref, id string) (title, link string, reads bool) {
	of := click{team: c.team, Click: decide.Click{Ref: ref, ID: id,
		Want: people.Want{User: c.user, Team: c.team, Channel: c.channel}}}
	v, _, err := h.reading(ctx, of)
	if a, is := v.Of.(*task.Aggregate); err != nil && id == ref.ID && is && a.Process() != nil {
		of.ID = a.Process().ID
		v, _, err = h.reading(ctx, of)
	}
	if err != nil {
		return "", "", false
	}
	switch a := v.Of.(type) {
	case *task.Aggregate:
		if a.Request == nil {
			return "", "", false
		}
		title = a.Request.Text
		if a.Task != nil {
			title = a.Task.Title
		}
		return title, h.Slack.Link(ctx, a.Request.Channel, a.Request.MessageTS, a.Request.ThreadTS), true
	case *conversation.Aggregate:
		if a.Conversation == nil {
			return "", "", false
		}
		title = a.Conversation.Title
		if x := a.Action(id); x != nil {
			title = cmp.Or(x.Summary, title)
		}
		return title, h.Slack.Link(ctx, a.Conversation.Channel, a.Conversation.ThreadTS, ""), true
	}
	return "", "", false
}
