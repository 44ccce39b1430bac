package main

import (
	"context"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/task"
)

// suggest offers requests to a person who was just greeted. It is best effort: the
// app's manifest has suggestions too.
func (d *drawing) suggest(ctx context.Context, c *aggregate.Card) {
	if e := d.a.Head.Ended; e == nil || e.Reason != task.ReasonGreeting {
		return
	}
	if err := d.Slack.Suggest(ctx, c.Channel, card.Suggestions(d.settings.Locale)); err != nil {
		d.log(c).WarnContext(ctx, "nothing is suggested", "err", err)
	}
}
