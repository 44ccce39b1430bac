package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/intake"
	"ringi/shared/slackapi"
	"ringi/shared/slackapi/inbound"
)

// The shortcuts of the app's manifest.
const (
	shortcutCancel  = "cancel_task"        // in a message's menu
	shortcutMessage = "ringi_from_message" // in a message's menu: makes a request of it
	shortcutNew     = "ringi_new"          // everywhere: a dialog for a new request
)

// shortcut is an entry of a message's menu.
func (h *Handler) shortcut(ctx context.Context, p payload) (inbound.Response, error) {
	switch p.CallbackID {
	case shortcutCancel:
		return h.askCancel(ctx, p)
	case shortcutMessage:
	default:
		return ignore(ctx, "shortcut")
	}
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
	}
	if _, err := aggregate.ParseTS(p.MessageTS); p.Message.TS == "" && err != nil {
		return inbound.Response{}, inbound.Bad("payload.message_ts must be a Slack timestamp like 1713450000.000100")
	}
	person, workspace := h.locale(ctx, p.Team.ID, p.User.ID)
	out := h.fromMessage(ctx, p, workspace)
	// Where Ringi can't post, it can't tell there either: then the message in the person's direct messages tells.
	if out.note != card.NoteElsewhere {
		h.note(ctx, p, out, person)
	}
	return inbound.OK(), nil
}

// note tells a person alone what became of their request; where that can't be shown, in their direct messages.
func (h *Handler) note(ctx context.Context, p payload, out outcome, locale string) {
	text := out.note.Told(locale, "")
	err := h.Slack.Ephemeral(ctx, p.channel(), p.thread(), p.User.ID, text)
	var refused slackapi.Refused
	if errors.As(err, &refused) && refused.Permanent {
		err = h.Slack.Direct(ctx, p.User.ID, text)
	}
	if err != nil {
		slog.WarnContext(ctx, "the person was not told", "user", p.User.ID, "note", string(out.note), "err", err)
	}
}

// open shows the dialog for a new request.
func (h *Handler) open(ctx context.Context, p payload) (inbound.Response, error) {
	if p.CallbackID != shortcutNew {
		return ignore(ctx, "shortcut")
	}
	person, _ := h.locale(ctx, p.Team.ID, p.User.ID)
	err := h.Slack.OpenView(ctx, p.TriggerID, card.RequestModal(person))
	slog.InfoContext(ctx, "asked for a request", "user", p.User.ID, "err", err) // if it did not open, the person tries again
	return inbound.OK(), nil
}

// filled handles that dialog's submission. If nothing came of it the dialog stays open and says so at the field.
func (h *Handler) filled(ctx context.Context, p payload) (inbound.Response, error) {
	text := p.View.State.Values[card.RequestTextBlock][card.RequestText].Value
	at := p.View.State.Values[card.RequestAtBlock][card.RequestAt].Conversation
	person, workspace := h.locale(ctx, p.Team.ID, p.User.ID)
	problem := func(block string, n card.AskNote) (inbound.Response, error) {
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{block: n.Told(person, "")})), nil
	}
	switch n := len([]rune(intake.Text(text))); {
	case n == 0:
		return problem(card.RequestTextBlock, card.NoteEmpty)
	case n > card.MaxTyped:
		return problem(card.RequestTextBlock, card.NoteTooLong)
	case at != "" && inbound.CheckID("channel", at) != nil:
		return problem(card.RequestAtBlock, card.NoteUnreachable)
	}
	if at != "" && channelType(at) != "im" { // the list of a dialog has channels that the person is not in
		sight, err := h.People.Sight(ctx, p.Team.ID, p.User.ID)
		switch {
		case err != nil:
			slog.WarnContext(ctx, "not asked there: Slack does not say who is", "user", p.User.ID, "err", err)
			return problem(card.RequestAtBlock, card.NoteFailed)
		case !sight.In(at):
			slog.WarnContext(ctx, "refused", "why", "not in the channel", "user", p.User.ID, "channel", at)
			return problem(card.RequestAtBlock, card.NoteUnreachable)
		}
	}
	once := strings.Join([]string{"view", p.View.ID, at, aggregate.HashOf(text)}, " ")
	out := h.request(ctx, wanted{team: p.Team.ID, user: p.User.ID, text: text, channel: at, once: once}, workspace)
	switch out.note {
	case card.NoteAccepted, card.NoteElsewhere, card.NoteRepeated: // its first message is there to see, also of the one that this repeats
		return inbound.OK(), nil
	case card.NoteUnreachable:
		return problem(card.RequestAtBlock, out.note)
	}
	return problem(card.RequestTextBlock, out.note)
}
