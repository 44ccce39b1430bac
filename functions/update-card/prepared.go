package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/slackapi"
)

// prepared reports whether the deployment serves the workspace of the cards, and reads its settings.
func (d *drawing) prepared(ctx context.Context) (ours bool, err error) {
	if !d.place.Accepted { // Slack may have to be asked
		if err := d.reach(ctx); err != nil {
			return false, err
		}
	}
	if ours, err := d.ours(ctx); err != nil || !ours {
		return false, err
	}
	if err = d.configure(ctx); err != nil {
		return false, fmt.Errorf("read the settings: %w", err)
	}
	if k, ok := d.kind.(withReader); ok && k.Reader(d.a) != "" {
		d.settings.Locale = d.language(ctx, k.Reader(d.a))
	}
	return true, nil
}

// settingsLast is how long settings are used without reading them again, where nobody is asked for a decision.
const settingsLast = time.Minute

// configure reads the settings. A card that asks names who may decide under the settings as they are now, and whoever
// changes them asks for a redraw of such cards; other cards may show those of the last minute.
func (d *drawing) configure(ctx context.Context) (err error) {
	now, read := d.Now(), func() (tenancy.Settings, error) { return d.Store.Settings(ctx, d.ref.Tenant) }
	asks := true
	if s, ok := d.a.(decide.Subject); ok {
		_, asks = s.Asks()
	}
	if asks || d.head.ShownRev == 0 {
		if d.settings, err = read(); err == nil {
			d.Handler.settings.Keep(d.ref.Tenant, d.settings, now, settingsLast)
		}
		return err
	}
	d.settings, err = d.Handler.settings.Ask(d.ref.Tenant, now, settingsLast, read)
	return err
}

// withReader is a kind some of whose messages only one person sees. They are in that person's language.
type withReader interface {
	Reader(a aggregate.Aggregate) (user string) // "": cards are for several people
}

// language returns the language that a person has chosen by now, for messages that only they see. A drawing asks once.
func (d *drawing) language(ctx context.Context, user string) string {
	return d.fresh.Language(ctx, d.Slack, d.place.Team, user, d.settings.Locale, d.Now())
}

// ours reports whether the deployment serves the workspace of the cards, as it does for every accepted task. Nothing is
// sent to any other workspace.
func (d *drawing) ours(ctx context.Context) (bool, error) {
	if d.place.Accepted {
		return true, nil
	}
	ours, err := slackapi.HomeWorkspaces{Slack: d.Slack, Rows: d.Store}.Knows(ctx, d.ref.Tenant)
	if refused := (slackapi.Refused{}); errors.As(err, &refused) && refused.App {
		boot.Count(boot.AppRefused, 1)
		slog.ErrorContext(ctx, "Slack refuses the app", d.ref.Log(), "err", err)
	}
	return ours, err
}
