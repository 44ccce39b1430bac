package main

import (
	"context"
	"log/slog"
	"net/url"
	"strings"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/words/language"
)

// command is the form that Slack sends for /ringi (https://docs.slack.dev/interactivity/implementing-slash-commands).
type command struct {
	team, user, trigger, app, text string
	organization                   bool // the app is installed for a whole organization
}

// readCommand reads the form of a slash command. ok is false for any other form.
func readCommand(body []byte) (c command, ok bool, err error) {
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("command") != "/ringi" || form.Has("payload") {
		return command{}, false, nil // read reports what is wrong with it
	}
	c = command{
		team: form.Get("team_id"), user: form.Get("user_id"), trigger: form.Get("trigger_id"), app: form.Get("api_app_id"),
		text:         strings.TrimSpace(form.Get("text")),
		organization: form.Get("is_enterprise_install") == "true",
	}
	if c.organization {
		return c, true, nil
	}
	return c, true, inbound.CheckIDs("team_id", c.team, "user_id", c.user, "trigger_id", c.trigger)
}

// command answers /ringi with the dialog for a new request, with what was typed after it.
func (h *Handler) command(ctx context.Context, c command) (inbound.Response, error) {
	if err := h.Edge.FromOurs(c.app); err != nil {
		return inbound.Response{}, err
	}
	if c.organization {
		slog.WarnContext(ctx, "installed for an organization")
		return ephemeral(inEach(card.NoteOrgInstall)), nil
	}
	ctx = slackapi.For(ctx, aggregate.TenantID(c.team))
	if h.foreign(ctx, c.team) {
		return ephemeral(inEach(card.NoteForeign)), nil
	}
	person, _ := h.locale(ctx, c.team, c.user)
	if card.TooLong(c.text) {
		return ephemeral(card.NoteTooLong.Told(person)), nil
	}
	return h.opens(ctx, c.trigger, c.user, card.RequestModal(person, c.text)), nil
}

// ephemeral answers a command with a text that only this person sees.
func ephemeral(text string) inbound.Response {
	return inbound.JSON(200, map[string]string{"response_type": "ephemeral", "text": text})
}

// inEach returns a note in every language, in case the person's language can't be read.
func inEach(n card.AskNote) string {
	var told []string
	for _, locale := range language.All {
		told = append(told, n.Told(locale))
	}
	return strings.Join(told, "\n")
}

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
