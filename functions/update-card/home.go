package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
)

// Slack allows over 100 views.publish a minute in a workspace (its Tier 4,
// https://docs.slack.dev/reference/methods/views.publish).
const (
	methodPublish               = "views.publish"
	publishes, publishingWindow = records.MaxPaceCalls, 6500 * time.Millisecond
)

const (
	// publishesKept is how many of these calls are reserved for tabs that were just opened.
	publishesKept = 3
	// homeTries is the number of receives after which a failing tab stays unchanged, since the tenant's other tabs wait
	// behind it. The next drawn card requests it again.
	homeTries = 5
)

type Homes struct {
	Rows interface {
		OpenHome(ctx context.Context, tenant, user string) (records.OpenHome, error)
		OpenHomes(ctx context.Context, tenant string, most int) ([]records.OpenHome, error)
	}
	Inbox decide.InboxReader
	Slack interface {
		people.Directory
		decide.InboxLinks
		PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error
	}
	Console string // its address; empty: no links

	mu    sync.Mutex
	known map[string]openHomes // by tenant
}

// home publishes a person's Home tab. If Slack refuses the person, that is only logged. A tab that was just opened is
// published once more later: until then the cached list of open tabs may lack it.
func (h *Handler) home(ctx context.Context, ref aggregate.Ref, after time.Time) error {
	now := h.Now()
	if wait := after.Sub(now); wait > 0 {
		return later{wait, itsTime}
	}
	open, err := h.Homes.Rows.OpenHome(ctx, ref.Tenant, ref.ID)
	switch over := err == nil && !now.Before(open.OpenedAt.Add(records.HomeFor)); {
	case over, errors.Is(err, aggregate.ErrNotFound):
		return nil // the tab is no longer open
	case err != nil:
		return err
	}
	probes, err := h.reach(ctx, open.Team)
	var s silence
	switch {
	case errors.As(err, &s) && !after.IsZero() && now.Sub(s.since) > longLine:
		return nil // the next drawn card requests it again
	case errors.As(err, &s):
		return later{s.until.Sub(now), slacksPace}
	}
	if err = h.publishFor(ctx, ref, open, after, now); err == nil || slackapi.Silent(err) {
		h.heard(ctx, open.Team, probes, err)
	}
	return err
}

// publishFor publishes a tab that is open.
func (h *Handler) publishFor(ctx context.Context, ref aggregate.Ref, open records.OpenHome, after,
	now time.Time) error {
	ours, err := slackapi.HomeWorkspaces{Slack: h.Slack, Rows: h.Store}.Knows(ctx, ref.Tenant)
	if err != nil || !ours {
		return err
	}
	kept := 0
	if !after.IsZero() {
		kept = publishesKept
	}
	if err := h.mayPublish(ctx, open, kept, now); err != nil { // before anything is read for the tab
		return err
	}
	view, err := h.homeView(ctx, ref, open, now)
	if err != nil {
		return fmt.Errorf("what a Home tab shows: %w", err)
	}
	if err := h.publish(ctx, open, view); err != nil {
		return err
	}
	if after.IsZero() {
		return h.homeLater(ctx, ref.Tenant, ref.ID, records.HomeEvery)
	}
	return nil
}

// tab handles a message that requests a Home tab. A tab that fails repeatedly stays unchanged. If it was just opened,
// it is requested once more with the next ones, since waits for Slack's rate limits count as receives, too.
func (h *Handler) tab(ctx context.Context, ref aggregate.Ref, after time.Time, r events.SQSMessage) error {
	err := h.home(ctx, ref, after)
	if !stays(r, err) {
		return err
	}
	slog.WarnContext(ctx, "a Home tab stays as it is", "user", ref.ID, "err", err)
	if after.IsZero() {
		return h.homeLater(ctx, ref.Tenant, ref.ID, records.HomeEvery)
	}
	return nil
}

// stays reports whether a tab is left unchanged, because it failed repeatedly and not because it had to wait.
func stays(r events.SQSMessage, err error) bool {
	var known later
	n, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
	return err != nil && !errors.As(err, &known) && n >= homeTries
}

func (h *Handler) homeView(
	ctx context.Context, ref aggregate.Ref, open records.OpenHome, now time.Time,
) (slack.HomeTabViewRequest, error) {
	settings, err := h.Store.Settings(ctx, ref.Tenant)
	if err != nil {
		return slack.HomeTabViewRequest{}, err
	}
	in, err := h.Homes.Inbox.Read(ctx, ref.Tenant, open.Team, open.User, settings)
	if err != nil {
		return slack.HomeTabViewRequest{}, err
	}
	locale := new(people.Requesters).Language(ctx, h.Homes.Slack, open.Team, open.User, settings.Locale, now)
	summary := in.Summary(ctx, h.Homes.Slack, h.Homes.Console)
	return card.HomeView(summary, settings, locale, now), nil
}

// mayPublish counts one call of views.publish if more than kept are left; otherwise it returns later.
func (h *Handler) mayPublish(ctx context.Context, open records.OpenHome, kept int, now time.Time) error {
	if h.Pace == nil {
		return nil
	}
	b := records.Budget{Workspace: open.Team, Name: methodPublish, Calls: publishes,
		Window: time.Duration(float64(publishingWindow) / h.PaceScale)}
	switch until, err := h.Pace.TakePace(ctx, b, kept, now); {
	case err != nil:
		slog.WarnContext(ctx, "pace", "budget", b.Name, "err", err)
	case !until.IsZero():
		return later{until.Sub(now), slacksPace}
	}
	return nil
}

func (h *Handler) publish(ctx context.Context, open records.OpenHome, view slack.HomeTabViewRequest) error {
	err := h.Homes.Slack.PublishHome(ctx, open.User, view)
	var refused slackapi.Refused
	switch {
	case errors.As(err, &refused) && refused.App:
		boot.Count(boot.AppRefused, 1)
		return err
	case errors.As(err, &refused) && refused.Permanent:
		slog.WarnContext(ctx, "no Home tab", "user", open.User, "err", err)
		return nil
	case err != nil:
		return err
	}
	slog.InfoContext(ctx, "Home tab published", "user", open.User, "blocks", len(view.Blocks.BlockSet))
	return nil
}

func (h *Handler) homeLater(ctx context.Context, tenant, user string, every time.Duration) error {
	_, err := h.Queue.SendMessage(ctx, effect.HomeLater(h.QueueURL, tenant, user, h.Now(), every))
	return err
}

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
// period. The number of open tabs is cached until the end of a tab's period, when a tab that was opened in it is
// published on its own.
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
	err := h.askForEach(ctx, tenant, after, r.Attributes["MessageGroupId"])
	if !stays(r, err) {
		return err
	}
	slog.WarnContext(ctx, "Home tabs stay as they are", "tenant_id", tenant, "err", err)
	return nil
}

func (h *Handler) askForEach(ctx context.Context, tenant string, at time.Time, group string) error {
	rows, err := h.Homes.Rows.OpenHomes(ctx, tenant, mostHomes)
	if err != nil {
		return err
	}
	users := make([]string, len(rows))
	for i, r := range rows {
		users[i] = r.User
	}
	for _, batch := range effect.HomeOfEach(h.QueueURL, group, tenant, users, at) {
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
	k.people, k.until = len(rows), effect.HomesAt(now, records.HomeEvery)
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
