package main

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/words/language"
)

// outcome is what came of a request, or the dialog that the person is shown anew.
type outcome struct {
	decide.Asked
	anew *slack.ModalViewRequest
}

func told(note card.AskNote) outcome { return outcome{Asked: decide.Asked{Note: note}} }

// request makes a request of what a person asks for.
func (h *Handler) request(ctx context.Context, w decide.Wanted, locale string) outcome {
	requests := decide.Requests{Store: h.Store, Slack: h.Slack, People: h.People, Now: h.Now}
	return outcome{Asked: requests.Make(ctx, w, locale)}
}

// fromMessage turns a message into a request, with the text that the person submitted. If that is the message's own
// text, the cards appear in the message's thread, as if it had mentioned Ringi. An edited text is posted as a message
// of Ringi's, with the cards in its thread, so that nobody seems to have written it. Along a route whoever wrote the
// message or what it forwards asks, too, however the text was edited: a full stop makes nobody an approver of their own
// words. Its files go with the request, and their owners ask. Where Ringi can read the message, nothing is made of one
// that has changed since the dialog showed it: the person is shown it anew. said is ctx for calls of Slack.
func (h *Handler) fromMessage(
	ctx, said context.Context, p payload, of card.RequestOf, text, typed, person, locale string,
) outcome {
	reaches, err := h.Slack.Reaches(said, of.Channel, p.User.ID)
	if err != nil {
		slog.InfoContext(ctx, "whether Ringi can post there", "channel", of.Channel, "reaches", reaches, "err", err)
	}
	if reaches {
		if anew, why := h.changed(said, of, typed, person); anew != nil || why != "" {
			return outcome{decide.Asked{Note: why}, anew}
		}
	}
	w := decide.Wanted{Team: p.Team.ID, User: p.User.ID, Text: text, Once: "message " + of.Channel + " " + of.TS,
		Like: task.Request{Files: of.SharedFiles(), MoreFiles: of.MoreFiles}}
	hash := aggregate.HashOf(text)
	switch {
	case !reaches:
		out := h.request(ctx, w, locale)
		if out.Note == card.NoteAccepted {
			out.Note = card.NoteElsewhere
		}
		return out
	case hash != of.Shown:
		w.Channel, w.Elsewhere = of.Channel, true
		w.Once = strings.Join([]string{w.Once, w.User, hash}, " ")
		return h.request(ctx, w, locale)
	}
	r := task.Request{
		TeamID: p.Team.ID, Text: text, User: p.User.ID, Channel: of.Channel, ChannelType: inbound.ChannelType(of.Channel),
		MessageTS: of.TS, ThreadTS: cmp.Or(of.Thread, of.TS), Source: inbound.SourceOf(inbound.ChannelType(of.Channel)),
		Files: w.Like.Files, MoreFiles: w.Like.MoreFiles,
	}
	ref, repeated, err := inbound.Keep(ctx, h.Store, r, h.Now())
	switch {
	case repeated:
		return outcome{Asked: decide.Asked{Place: task.Place{Channel: r.Channel, TS: of.TS}, Note: card.NoteRepeated}}
	case err != nil:
		slog.ErrorContext(ctx, "not kept", "user", r.User, "err", err)
		return told(card.NoteFailed)
	}
	slog.InfoContext(ctx, "received", "task_id", ref.ID, "user", r.User, "source", r.Source,
		"characters", len([]rune(text)))
	return outcome{Asked: decide.Asked{Place: task.Place{Channel: r.Channel, TS: of.TS}, Note: card.NoteAccepted}}
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
