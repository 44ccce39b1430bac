package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// The shortcuts in the app's manifest.
const (
	shortcutPropose = "propose_action"     // in a message's menu, in the thread of a conversation
	shortcutCancel  = "cancel_task"        // in a message's menu
	shortcutMessage = "ringi_from_message" // in a message's menu: makes a request of it
	shortcutNew     = "ringi_new"          // everywhere: a dialog for a new request
	shortcutMatter  = "ringi_matter"       // everywhere: a form that asks for a decision
)

func (h *Handler) shortcut(ctx context.Context, p payload) (slackapi.Response, error) {
	switch p.CallbackID {
	case shortcutCancel:
		return h.askCancel(ctx, p)
	case shortcutPropose:
		return h.askProposal(ctx, p)
	case shortcutMessage:
	default:
		return ignore(ctx, "shortcut")
	}
	if err := slackapi.CheckID("payload.channel.id", p.channel()); err != nil {
		return slackapi.Response{}, err
	}
	if err := slackapi.CheckTS("payload.message_ts", p.MessageTS); p.Message.TS == "" && err != nil {
		return slackapi.Response{}, err
	}
	person := h.language(ctx, p.Team.ID, p.User.ID)
	h.Slack.Label(ctx, &p.Message.Message)
	text := p.Message.shown()
	switch {
	case p.own():
		h.note(ctx, p, card.NoteOwn, person)
	case text == "":
		h.note(ctx, p, card.NoteEmpty, person)
	case card.TooLong(text):
		h.note(ctx, p, card.NoteTooLong, person)
	default:
		return h.opens(ctx, p.TriggerID, p.User.ID, card.RequestModal(person, text)), nil
	}
	return slackapi.OK(), nil
}

// opens shows the dialog for a new request. If it does not open, the person tries again.
func (h *Handler) opens(ctx context.Context, trigger, user string, dialog slack.ModalViewRequest) slackapi.Response {
	err := h.Slack.OpenView(ctx, trigger, dialog)
	slog.InfoContext(ctx, "asked for a request", "user", user, "err", err)
	return slackapi.OK()
}

// own reports whether the payload's message is one of Ringi's.
func (p payload) own() bool {
	m := p.Message
	return m.Metadata.EventType == slackapi.EventType || m.AppID != "" && m.AppID == p.AppID
}

// note tells one person why a message can't become a request, in their direct messages if it can't be shown where they
// are.
func (h *Handler) note(ctx context.Context, p payload, note card.AskNote, locale string) {
	user, text := p.User.ID, note.Told(locale)
	err := h.Slack.Ephemeral(ctx, p.channel(), p.thread(), user, text)
	if refused, is := errors.AsType[slackapi.Refused](err); is && refused.Permanent {
		err = h.Slack.Direct(ctx, user, text)
	}
	if err != nil {
		slog.WarnContext(ctx, "the person was not told", "user", user, "note", string(note), "err", err)
	}
}

// open shows the dialog for a new request, by the shortcut or the Home tab's button.
func (h *Handler) open(ctx context.Context, p payload) (slackapi.Response, error) {
	switch {
	case p.Type != kindGlobal, p.CallbackID == shortcutNew:
	case p.CallbackID == shortcutMatter:
		return h.openMatter(ctx, p)
	default:
		return ignore(ctx, "shortcut")
	}
	person := h.language(ctx, p.Team.ID, p.User.ID)
	return h.opens(ctx, p.TriggerID, p.User.ID, card.RequestModal(person, "")), nil
}

// filled handles that dialog's submission. If no request was made, the dialog stays open and shows a note at its field.
func (h *Handler) filled(ctx context.Context, p payload) (slackapi.Response, error) {
	text := slackapi.SavedText(card.Readable(p.View.State.Values[card.RequestTextBlock][card.RequestText].Value))
	said, cancel := clock.Sparing(ctx, decide.KeepWithin)
	defer cancel()
	workspace := h.workspace(ctx, p.Team.ID)
	person := h.People.Spoken(said, p.Team.ID, p.User.ID, workspace) // whose dialog was shown a moment ago
	switch {
	case text == "":
		return atField(card.RequestTextBlock, card.NoteEmpty.Told(person)), nil
	case card.TooLong(text):
		return atField(card.RequestTextBlock, card.NoteTooLong.Told(person)), nil
	}
	return h.requestAt(ctx, said, p, decide.Wanted{Text: text}, card.RequestTextBlock, person, workspace), nil
}

// requestAt makes a request of a form that has a field for the place of its cards, and returns the answer to the form.
// What goes wrong elsewhere stands at the block of what was written. said is ctx for calls of Slack, and person and
// workspace are languages.
func (h *Handler) requestAt(ctx, said context.Context, p payload, w decide.Wanted, block, person,
	workspace string) slackapi.Response {
	at := p.View.State.Values[card.RequestAtBlock][card.RequestAt].Conversation
	if at != "" && slackapi.CheckID("channel", at) != nil {
		return atField(card.RequestAtBlock, card.NoteUnreachable.Told(person))
	}
	w.Team, w.User, w.Channel = p.Team.ID, p.User.ID, at
	if no := h.outside(said, p, w.Channel); no != "" {
		return atField(card.RequestAtBlock, no.Told(person))
	}
	w.Once = strings.Join([]string{"view", p.View.ID, w.Channel, aggregate.HashOf(w.Text)}, " ")
	switch note := h.request(ctx, w, workspace).Note; note {
	case card.NoteAccepted, card.NoteRepeated:
		// The person sees the first message, which an earlier delivery may have posted.
		return slackapi.OK()
	case card.NoteUnreachable:
		return atField(card.RequestAtBlock, note.Told(person))
	default:
		return atField(block, note.Told(person))
	}
}

// outside says why a person may not ask in a channel, or "": the dialog also lists channels that they are not in.
func (h *Handler) outside(ctx context.Context, p payload, channel string) card.AskNote {
	if channel == "" || slackapi.ChannelType(channel) == "im" {
		return ""
	}
	sight, err := h.People.Sight(ctx, p.Team.ID, p.User.ID)
	switch {
	case err != nil:
		slog.WarnContext(ctx, "not asked there: Slack does not say who is", "user", p.User.ID, "err", err)
		if ctx.Err() != nil {
			return card.NoteSlow
		}
		return card.NoteFailed
	case !sight.In(channel):
		slog.WarnContext(ctx, "refused", "why", "not in the channel", "user", p.User.ID, "channel", channel)
		return card.NoteUnreachable
	}
	return ""
}

// askProposal handles 「操作を提案」 in the menu of a message. In the thread of a conversation it opens a dialog, with the
// message's text as the command unless Ringi wrote that, if the person may propose an action there now.
func (h *Handler) askProposal(ctx context.Context, p payload) (slackapi.Response, error) {
	if err := slackapi.CheckID("payload.channel.id", p.channel()); err != nil {
		return slackapi.Response{}, err
	}
	thread := cmp.Or(p.thread(), p.Message.TS, p.MessageTS)
	id := conversation.ID(p.Team.ID, p.channel(), thread)
	c := p.click(id, id)
	c.thread = thread
	v := h.check(ctx, c, decide.MayPropose)
	v.Empty = false // nothing was to be decided
	if explain.ClassOf(v.Err) == explain.NotFound {
		c.thread = p.thread()
		h.sendEphemeral(ctx, c, v, card.ProposeNote(v.Settings.Locale))
		return slackapi.OK(), nil
	}
	command := ""
	if !p.own() && p.Message.TS != thread { // which begins with an agent's name
		command = p.Message.shown()
	}
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		return card.ProposalModal(id, command, v.Settings.Locale), nil
	})
	return slackapi.OK(), nil
}

// propose handles the submission of that dialog. What is wrong stands at its field, and the dialog stays open, as it
// does when nothing was saved.
func (h *Handler) propose(ctx context.Context, p payload) (slackapi.Response, error) {
	var m card.ProposalForm
	err := json.Unmarshal([]byte(p.View.PrivateMetadata), &m)
	if err != nil || !conversation.ValidID(m.Session) {
		return h.malformed(ctx, p, conversation.OwnCommand)
	}
	c := p.click(m.Session, m.Session)
	typed := p.View.State.Values[conversation.OwnCommand][conversation.OwnCommand].Value
	v := h.spoken(ctx, c, h.maker().Propose(ctx, c.Click, typed))
	var wrong aggregate.Problem
	switch {
	case errors.As(v.Err, &wrong):
		return atField(wrong.Field, wrong.Code), nil
	case v.Err != nil:
		return atField(conversation.OwnCommand, v.text()), nil
	}
	h.tell(ctx, c, v)
	return slackapi.OK(), nil
}

// command answers /ringi with the dialog for a new request, with what was typed after it, or which button does that
// (https://docs.slack.dev/interactivity/implementing-slash-commands).
func (h *Handler) command(ctx context.Context, p payload) (slackapi.Response, error) {
	person := h.language(ctx, p.Team.ID, p.User.ID)
	var no card.AskNote
	switch {
	case card.Acts(p.typed):
		no = card.NoteActs
	case card.TooLong(p.typed):
		no = card.NoteTooLong
	}
	if no != "" { // only this person sees the answer
		return slackapi.JSON(200, map[string]string{"response_type": "ephemeral", "text": no.Told(person)}), nil
	}
	return h.opens(ctx, p.TriggerID, p.User.ID, card.RequestModal(person, p.typed)), nil
}

// request makes a request of what a person asks for.
func (h *Handler) request(ctx context.Context, w decide.Wanted, locale string) decide.Asked {
	requests := decide.Requests{Store: h.Store, Slack: h.Slack, People: h.People, Now: h.Now}
	return requests.Make(ctx, w, locale)
}

// language returns a person's own choice in Slack if Ringi speaks it, else the workspace's.
func (h *Handler) language(ctx context.Context, team, user string) string {
	return h.People.Language(ctx, team, user, h.workspace(ctx, team))
}

func (h *Handler) workspace(ctx context.Context, team string) (locale string) {
	if s, err := h.Store.Settings(ctx, aggregate.TenantID(team)); err == nil {
		return s.Locale
	}
	return language.All[0]
}
