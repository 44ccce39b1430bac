package main

import (
	"context"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// request makes a request of what a person asks for.
func (h *Handler) request(ctx context.Context, w decide.Wanted, locale string) decide.Asked {
	requests := decide.Requests{Store: h.Store, Slack: h.Slack, People: h.People, Now: h.Now}
	return requests.Make(ctx, w, locale)
}

// locale returns the language for the person, which is their own choice in Slack if Ringi speaks it, and the
// workspace's language for messages that others read, too.
func (h *Handler) locale(ctx context.Context, team, user string) (person, workspace string) {
	workspace = h.workspace(ctx, team)
	return h.People.Language(ctx, team, user, workspace), workspace
}

func (h *Handler) workspace(ctx context.Context, team string) (locale string) {
	if s, err := h.Store.Settings(ctx, aggregate.TenantID(team)); err == nil {
		return s.Locale
	}
	return language.All[0]
}
