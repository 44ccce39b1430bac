package store

import (
	"context"
	"log/slog"
)

// maxRedrawn bounds how many waiting aggregates a change of the settings has drawn anew at
// once: Slack takes about 50 updates a minute. The others show it when they next move.
const maxRedrawn = 100

// redrawWaiting has the cards of what waits for a decision drawn anew after settings that they show
// changed. It is best effort: what counts is asked at the click.
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
