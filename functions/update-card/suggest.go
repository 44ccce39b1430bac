package main

import (
	"context"

	"ringi/shared/aggregate"
)

// suggest offers requests to a person who was just greeted. It is best effort: the
// app's manifest has suggestions too.
func (d *drawing) suggest(ctx context.Context, c *aggregate.Card) {
	offered := d.kind.Suggestions(d.a, d.settings.Locale)
	if offered == nil {
		return
	}
	if err := d.Slack.Suggest(ctx, c.Channel, offered); err != nil {
		d.log(c).WarnContext(ctx, "nothing is suggested", "err", err)
	}
}
