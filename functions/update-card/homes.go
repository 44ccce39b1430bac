package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/store/records"
)

const (
	// mostHomes is how many people's open Home tabs are updated in a tenant. Other tabs keep the content that they had
	// when they were opened.
	mostHomes = 100
	// homesAtOnce is how many tabs are published in HomeEvery, about half of what Slack allows. If more are open, each
	// is published less often.
	homesAtOnce = 25
)

// openHomes is a cached count of a tenant's open tabs.
type openHomes struct {
	people int
	until  time.Time // when the cached count expires
	asked  time.Time
}

// homes asks, after a card was drawn, that the tenant's open Home tabs are published: one message for all of them in a
// period. The number of open tabs is cached; a tab that was opened since then asks for its own publication.
func (h *Handler) homes(ctx context.Context, tenant string) {
	if h.Homes == nil {
		return
	}
	now := h.Now()
	open, err := h.Homes.open(ctx, tenant, now)
	if err != nil {
		slog.WarnContext(ctx, "who looks at a Home tab", "err", err)
		return
	}
	at := effect.HomesAt(now, records.HomeEvery*time.Duration((open.people+homesAtOnce-1)/homesAtOnce))
	if open.people == 0 || at.Equal(open.asked) {
		return
	}
	if _, err := h.Queue.SendMessage(ctx, effect.HomesLater(h.QueueURL, tenant, at)); err != nil {
		slog.WarnContext(ctx, "Home tabs are behind", "people", open.people, "err", err)
		return
	}
	h.Homes.asked(tenant, at)
}

// homesOf asks at once for the Home tabs of people who begin or cease to owe a stamp, if theirs are open: those of all
// may take longer than a minute. A tab that is not asked for here is asked for with them.
func (h *Handler) homesOf(ctx context.Context, tenant string, users []string) {
	if h.Homes == nil {
		return
	}
	for _, user := range users {
		open, err := h.Homes.Rows.OpenHome(ctx, tenant, user)
		if err == nil && h.Now().Before(open.OpenedAt.Add(records.HomeFor)) {
			_, err = h.Queue.SendMessage(ctx, effect.HomeNow(h.QueueURL, tenant, user, h.Now(), records.HomeEvery))
		}
		if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
			slog.WarnContext(ctx, "a Home tab is behind", "user", user, "err", err)
		}
	}
}

// eachHome requests each open tab when the period is over. If it runs twice, each tab is still requested once. After
// repeated failures the next drawn card requests the tabs again.
func (h *Handler) eachHome(ctx context.Context, tenant string, after time.Time, r events.SQSMessage) error {
	if wait := after.Sub(h.Now()); wait > 0 {
		return later{wait, itsTime}
	}
	err := h.askForEach(ctx, tenant, after)
	if !stays(r, err) {
		return err
	}
	slog.WarnContext(ctx, "Home tabs stay as they are", "tenant_id", tenant, "err", err)
	return nil
}

func (h *Handler) askForEach(ctx context.Context, tenant string, at time.Time) error {
	rows, err := h.Homes.Rows.OpenHomes(ctx, tenant, mostHomes)
	if err != nil {
		return err
	}
	users := make([]string, len(rows))
	for i, r := range rows {
		users[i] = r.User
	}
	for _, batch := range effect.HomeOfEach(h.QueueURL, tenant, users, at) {
		out, err := h.Queue.SendMessageBatch(ctx, batch)
		switch {
		case err != nil:
			return fmt.Errorf("ask for %d Home tabs: %w", len(batch.Entries), err)
		case len(out.Failed) > 0:
			return fmt.Errorf("%d of %d Home tabs were not asked for", len(out.Failed), len(batch.Entries))
		}
	}
	return nil
}

func (x *Homes) open(ctx context.Context, tenant string, now time.Time) (openHomes, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.known[tenant]
	if now.Before(k.until) {
		return k, nil
	}
	rows, err := x.Rows.OpenHomes(ctx, tenant, mostHomes)
	if err != nil {
		return k, err
	}
	if x.known == nil {
		x.known = map[string]openHomes{}
	}
	k.people, k.until = len(rows), now.Add(records.HomeEvery)
	x.known[tenant] = k
	return k, nil
}

func (x *Homes) asked(tenant string, until time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.known[tenant]
	k.asked = until
	x.known[tenant] = k
}
