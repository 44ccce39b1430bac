package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// homeTries is the number of receives after which a failing tab stays unchanged: its person opens it again.
const homeTries = 5

// Homes publishes Home tabs, each when it is opened.
type Homes struct {
	Inbox decide.InboxReader
	Slack interface {
		people.Directory
		decide.InboxLinks
		PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error
	}
}

// tab publishes the Home tab that a person opened. If Slack refuses the person, that is only logged; a tab that fails
// repeatedly stays unchanged.
func (h *Handler) tab(ctx context.Context, asked effect.Message, receives string) error {
	err := h.home(ctx, asked)
	n, _ := strconv.Atoi(receives)
	var refused slackapi.Refused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.App:
		boot.Count(boot.AppRefused, 1)
	case refused.Permanent, n >= homeTries:
		slog.WarnContext(ctx, "a Home tab stays as it is", "user", asked.Ref.ID, "err", err)
		return nil
	}
	return err
}

func (h *Handler) home(ctx context.Context, asked effect.Message) error {
	tenant, user := asked.Ref.Tenant, asked.Ref.ID
	ours, err := slackapi.HomeWorkspace{Slack: h.Slack, Rows: h.Store}.Serves(ctx, tenant)
	if err != nil || !ours {
		return err
	}
	settings, err := h.Store.Settings(ctx, tenant)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	in, err := h.Homes.Inbox.Read(ctx, tenant, asked.Team, user, settings)
	if err != nil {
		return fmt.Errorf("what a Home tab shows: %w", err)
	}
	locale := new(people.Requesters).Language(ctx, h.Homes.Slack, asked.Team, user, settings.Locale, h.Now())
	view := card.HomeView(in.Summary(ctx, h.Homes.Slack, h.Console), settings, locale)
	if err := h.Homes.Slack.PublishHome(ctx, user, view); err != nil {
		return err
	}
	slog.InfoContext(ctx, "Home tab published", "user", user, "blocks", len(view.Blocks.BlockSet))
	return nil
}
