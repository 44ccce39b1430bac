package store

import (
	"context"
	"log/slog"
)

// maxRedrawn bounds how many waiting aggregates are redrawn when the settings change: Slack allows about 50 updates a
// minute. Others show the change when they are next redrawn.
const maxRedrawn = 100

// redrawWaiting requests a redraw of waiting cards that show changed settings. It only logs errors because clicks check
// the current settings anyway.
func (s *Store) redrawWaiting(ctx context.Context, tenant string) {
	waiting, err := s.Waiting(ctx, tenant, "", maxRedrawn)
	if err != nil {
		slog.WarnContext(ctx, "cards keep the old settings", "tenant_id", tenant, "err", err)
		return
	}
	for _, x := range waiting.Items {
		if err := s.Redraw(ctx, x.Ref); err != nil {
			slog.WarnContext(ctx, "a card keeps the old settings", x.Ref.Log(), "err", err)
		}
	}
}
