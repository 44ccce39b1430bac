package main

import (
	"context"
	"log/slog"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi/inbound"
)

// numbered shows the decision that has a number to whoever may read it. Nobody else learns whether there is one.
func (h *Handler) numbered(ctx context.Context, c command, number task.Numbered, locale string) inbound.Response {
	tenant := aggregate.TenantID(c.team)
	none := ephemeral(card.NoteNoNumber.Told(locale, ""))
	found, err := h.Store.Numbers(ctx, tenant, number.Year, number.Key(), 1)
	if err != nil {
		slog.WarnContext(ctx, "no number", "user", c.user, "err", err)
		return ephemeral(card.NoteFailed.Told(locale, ""))
	}
	if len(found) == 0 || found[0].N != number.N {
		return none
	}
	of := click{team: c.team, Click: decide.Click{Ref: task.RefOf(tenant, found[0].TaskID), ID: found[0].ProcessID,
		Want: people.Want{User: c.user, Team: c.team, Channel: c.channel}}}
	v, _, err := h.reading(ctx, of)
	a, is := v.Of.(*task.Aggregate)
	if err != nil || !is || a.Task == nil || a.Request == nil {
		return none
	}
	link := h.Slack.Link(ctx, a.Request.Channel, a.Request.MessageTS, a.Request.ThreadTS)
	return ephemeral(card.Numbered(locale, number.String(), a.Task.Title, link))
}
