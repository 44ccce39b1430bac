package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/records"
)

// homeTries is the number of receives after which a failing tab stays unchanged, since the tenant's other tabs wait
// behind it.
const homeTries = 5

type Homes struct {
	Rows interface {
		OpenHome(ctx context.Context, tenant, user string) (records.OpenHome, error)
	}
	Inbox decide.InboxReader
	Slack interface {
		people.Directory
		decide.InboxLinks
		PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error
	}
	Console string // its address; empty: no links
}

// tab publishes the Home tab that a person opened. If Slack refuses the person, that is only logged; a tab that fails
// repeatedly stays unchanged.
func (h *Handler) tab(ctx context.Context, ref aggregate.Ref, r events.SQSMessage) error {
	err := h.home(ctx, ref)
	if !stays(r, err) {
		return err
	}
	slog.WarnContext(ctx, "a Home tab stays as it is", "user", ref.ID, "err", err)
	return nil
}

func (h *Handler) home(ctx context.Context, ref aggregate.Ref) error {
	now := h.Now()
	open, err := h.Homes.Rows.OpenHome(ctx, ref.Tenant, ref.ID)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	probes, err := h.reach(ctx, open.Team)
	var s silence
	if errors.As(err, &s) {
		return later{s.until.Sub(now), slacksPace}
	}
	if err = h.publishFor(ctx, ref, open, now); err == nil || slackapi.Silent(err) {
		h.heard(ctx, open.Team, probes, err)
	}
	return err
}

func (h *Handler) publishFor(ctx context.Context, ref aggregate.Ref, open records.OpenHome, now time.Time) error {
	ours, err := slackapi.HomeWorkspace{Slack: h.Slack, Rows: h.Store}.Serves(ctx, ref.Tenant)
	if err != nil || !ours {
		return err
	}
	view, err := h.homeView(ctx, ref, open, now)
	if err != nil {
		return fmt.Errorf("what a Home tab shows: %w", err)
	}
	return h.publish(ctx, open, view)
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
	return card.HomeView(summary, settings, locale), nil
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
