package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"ringi/shared/decide/effect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// homeTries is the number of receives after which a failing tab stays unchanged: its person opens it again.
const homeTries = 5

// tab publishes the Home tab that a person opened. If Slack refuses the person, that is only logged; a tab that fails
// repeatedly stays unchanged.
func (h *Handler) tab(ctx context.Context, asked effect.Message, receives int) error {
	err := h.home(ctx, asked)
	var refused slackapi.Refused
	switch {
	case err == nil, errors.As(err, &refused) && refused.App:
		return err
	case refused.Permanent, receives >= homeTries:
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
	in, err := h.Inbox.Read(ctx, tenant, asked.Team, user, settings)
	if err != nil {
		return fmt.Errorf("what a Home tab shows: %w", err)
	}
	locale := h.language(ctx, asked.Team, user, settings.Locale)
	view := card.HomeView(in.Summary(ctx, h.Slack, h.Console), settings, locale)
	if err := h.Slack.PublishHome(ctx, user, view); err != nil {
		return err
	}
	slog.InfoContext(ctx, "Home tab published", "user", user, "blocks", len(view.Blocks.BlockSet))
	return nil
}

// language asks Slack which language a person has chosen by now: what they alone see is never in that of before.
func (h *Handler) language(ctx context.Context, team, user, otherwise string) string {
	return new(people.Requesters).Language(ctx, h.Slack, team, user, otherwise, h.Now())
}
