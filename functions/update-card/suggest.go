package main

import (
	"context"
	"slices"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
)

// suggest offers requests, and the default agent, to a person who was just greeted. It is best effort: the
// app's manifest has suggestions too.
func (d *drawing) suggest(ctx context.Context, c *aggregate.Card) {
	offered := d.kind.Suggestions(d.a, d.settings.Locale)
	if offered == nil {
		return
	}
	first := agent.Default(agent.Named(d.settings.Agents))
	offered = append(slices.Clone(offered), card.AskAgent(d.settings.Locale, first.ID))
	if err := d.Slack.Suggest(ctx, c.Channel, offered); err != nil {
		d.log(c).WarnContext(ctx, "nothing is suggested", "err", err)
	}
}
