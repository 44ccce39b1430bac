package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
)

// The shortcuts in the app's manifest.
const (
	shortcutPropose = "propose_action"     // in a message's menu, in the thread of a conversation
	shortcutCancel  = "cancel_task"        // in a message's menu
	shortcutMessage = "ringi_from_message" // in a message's menu: makes a request of it
	shortcutNew     = "ringi_new"          // everywhere: a dialog for a new request
	shortcutMatter  = "ringi_matter"       // everywhere: a form that asks for a decision
)

func (h *Handler) shortcut(ctx context.Context, p payload) (inbound.Response, error) {
	switch p.CallbackID {
	case shortcutCancel:
		return h.askCancel(ctx, p)
	case shortcutPropose:
		return h.askProposal(ctx, p)
	case shortcutMessage:
	default:
		return ignore(ctx, "shortcut")
	}
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
	}
	if err := inbound.CheckTS("payload.message_ts", p.MessageTS); p.Message.TS == "" && err != nil {
		return inbound.Response{}, err
	}
	person, _ := h.locale(ctx, p.Team.ID, p.User.ID)
	of, text := p.of(), p.Message.shown()
	switch {
	case p.own():
		h.note(ctx, of, p.User.ID, card.NoteOwn, person)
	case text == "":
		h.note(ctx, of, p.User.ID, card.NoteEmpty, person)
	default:
		err := h.Slack.OpenView(ctx, p.TriggerID, card.MessageRequestModal(person, text, of))
		slog.InfoContext(ctx, "asked for a request of a message", "user", p.User.ID, "err", err) // if not, they try again
	}
	return inbound.OK(), nil
}

// of names the payload's message, and whose words and files it has.
func (p payload) of() card.RequestOf {
	m := p.Message
	return having(card.RequestOf{Channel: p.channel(), TS: cmp.Or(m.TS, p.MessageTS), Thread: m.ThreadTS, User: m.User},
		m.Content())
}

// having returns of with whose words and files its message has.
func having(of card.RequestOf, content inbound.Content) card.RequestOf {
	of.Files, of.Owners = nil, nil
	of.Authors, of.MoreFiles = aggregate.AuthorsOf(content.Forwarded), content.MoreFiles
	for _, f := range content.Files {
		of.Files, of.Owners = append(of.Files, f.ID), append(of.Owners, f.User)
	}
	return of
}

// own reports whether the payload's message is one of Ringi's.
func (p payload) own() bool {
	m := p.Message
	return m.Metadata.EventType == slackapi.EventType || m.AppID != "" && m.AppID == p.AppID
}

// note shows a note to one person about their request, in their direct messages if it can't be shown where they are.
func (h *Handler) note(ctx context.Context, of card.RequestOf, user string, note card.AskNote, locale string) {
	text := note.Told(locale, "")
	err := h.Slack.Ephemeral(ctx, of.Channel, of.Thread, user, text)
	var refused slackapi.Refused
	if errors.As(err, &refused) && refused.Permanent {
		err = h.Slack.Direct(ctx, user, text)
	}
	if err != nil {
		slog.WarnContext(ctx, "the person was not told", "user", user, "note", string(note), "err", err)
	}
}

// open shows the dialog for a new request, by the shortcut or the Home tab's button.
func (h *Handler) open(ctx context.Context, p payload) (inbound.Response, error) {
	switch {
	case p.Type != kindGlobal, p.CallbackID == shortcutNew:
	case p.CallbackID == shortcutMatter:
		return h.openMatter(ctx, p)
	default:
		return ignore(ctx, "shortcut")
	}
	person, _ := h.locale(ctx, p.Team.ID, p.User.ID)
	err := h.Slack.OpenView(ctx, p.TriggerID, card.RequestModal(person))
	// If the dialog did not open, the person tries again.
	slog.InfoContext(ctx, "asked for a request", "user", p.User.ID, "err", err)
	return inbound.OK(), nil
}

// filled handles that dialog's submission. If no request was made, the dialog stays open and shows a note at its field.
func (h *Handler) filled(ctx context.Context, p payload) (inbound.Response, error) {
	fields := p.View.State.Values
	var of card.RequestOf
	odd := p.View.PrivateMetadata != "" && json.Unmarshal([]byte(p.View.PrivateMetadata), &of) != nil
	value := func(block string) string { return fields[block+of.Again][card.RequestText].Value }
	text := inbound.SavedText(card.RequestTyped(value))
	said, cancel := clock.Sparing(ctx, decide.KeepWithin)
	defer cancel()
	workspace := h.workspace(ctx, p.Team.ID)
	person := h.People.Spoken(said, p.Team.ID, p.User.ID, workspace) // whose dialog was shown a moment ago
	problem := func(block string, n card.AskNote) (inbound.Response, error) {
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
			block + of.Again: n.Told(person, "")})), nil
	}
	if odd {
		return problem(card.RequestTextBlock, card.NoteFailed)
	}
	if text == "" {
		return problem(card.RequestTextBlock, card.NoteEmpty)
	}
	if p.View.PrivateMetadata != "" {
		typed := card.RequestTypedBefore(value)
		if aggregate.HashOf(text) != of.Shown {
			typed = strings.TrimSpace(typed + "\n\n" + text)
		}
		switch left, anew := h.filledOf(ctx, said, p, of, text, typed, person, workspace); {
		case anew != nil:
			return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(anew)), nil
		case left != "":
			return problem(card.RequestTextBlock, left)
		}
		return inbound.OK(), nil
	}
	if len([]rune(text)) > card.MaxTyped {
		return problem(card.RequestTextBlock, card.NoteTooLong)
	}
	return h.requestAt(ctx, said, p, decide.Wanted{Text: text}, workspace, card.RequestTextBlock, problem)
}

// requestAt makes a request of a form that has a field for the place of its cards, and returns the answer to the form.
// What goes wrong elsewhere stands at the block of what was written. said is ctx for calls of Slack.
func (h *Handler) requestAt(ctx, said context.Context, p payload, w decide.Wanted, workspace, block string,
	problem func(block string, n card.AskNote) (inbound.Response, error)) (inbound.Response, error) {
	at := p.View.State.Values[card.RequestAtBlock][card.RequestAt].Conversation
	if at != "" && inbound.CheckID("channel", at) != nil {
		return problem(card.RequestAtBlock, card.NoteUnreachable)
	}
	w.Team, w.User, w.Channel = p.Team.ID, p.User.ID, at
	if no := h.outside(said, p, w.Channel); no != "" {
		return problem(card.RequestAtBlock, no)
	}
	w.Once = strings.Join([]string{"view", p.View.ID, w.Channel, aggregate.HashOf(w.Text)}, " ")
	out := h.request(ctx, w, workspace)
	switch out.Note {
	case card.NoteAccepted, card.NoteElsewhere, card.NoteRepeated:
		// The person sees the first message, which an earlier delivery may have posted.
		return inbound.OK(), nil
	case card.NoteUnreachable:
		return problem(card.RequestAtBlock, out.Note)
	}
	return problem(block, out.Note)
}

// outside says why a person may not ask in a channel, or "": the dialog also lists channels that they are not in.
func (h *Handler) outside(ctx context.Context, p payload, channel string) card.AskNote {
	if channel == "" || inbound.ChannelType(channel) == "im" {
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

// filledOf handles a dialog for a request from a message. It returns the note for a dialog that stays open, or "" if
// the dialog closes; anew is the dialog that takes its place, because the message changed while it was open. A note of
// one that closes is for the time that is left: Lambda makes no call after the answer. said is ctx for calls of Slack.
func (h *Handler) filledOf(
	ctx, said context.Context, p payload, of card.RequestOf, text, typed, person, workspace string,
) (left card.AskNote, anew *slack.ModalViewRequest) {
	var err error
	for _, id := range slices.Concat(of.Authors, of.Files, of.Owners) {
		if id != "" {
			err = cmp.Or(err, inbound.CheckID("id", id))
		}
	}
	if _, odd := aggregate.ParseTS(of.TS); err != nil || odd != nil || inbound.CheckID("channel", of.Channel) != nil ||
		of.User != "" && inbound.CheckID("user", of.User) != nil {
		return card.NoteFailed, nil
	}
	out := h.fromMessage(ctx, said, p, of, text, typed, person, workspace)
	switch out.Note {
	case card.NoteAccepted, card.NoteRepeated:
		if out.Note == card.NoteRepeated || out.TS == of.TS { // otherwise the person sees the first message
			h.note(said, of, p.User.ID, out.Note, person)
		}
	case card.NoteElsewhere: // the message in their direct messages informs the person
	default:
		return out.Note, out.anew
	}
	return "", nil
}

// changed returns the dialog of a message anew if that says something else by now than the dialog showed, or why there
// is none: it is gone, or Slack doesn't say, or not in time.
func (h *Handler) changed(ctx context.Context, of card.RequestOf, typed, locale string) (anew *slack.ModalViewRequest,
	why card.AskNote) {
	m, there, err := h.Slack.Seen(ctx, of.Channel, of.Thread, of.TS)
	switch {
	case err != nil && ctx.Err() != nil:
		slog.WarnContext(ctx, "whether the message has changed is not known in time", "channel", of.Channel, "err", err)
		return nil, card.NoteSlow
	case err != nil:
		slog.WarnContext(ctx, "whether the message has changed is not known", "channel", of.Channel, "err", err)
		return nil, card.NoteFailed
	case !there:
		return nil, card.NoteGone
	}
	is := message{Message: m}
	if is.shown() == "" {
		return nil, card.NoteEmpty
	}
	return card.ChangedRequestModal(locale, is.shown(), typed, having(of, m.Content()), of), ""
}

// askProposal handles 「操作を提案」 in the menu of a message. In the thread of a conversation it opens a dialog, with the
// message's text as the command unless Ringi wrote that, if the person may propose an action there now.
func (h *Handler) askProposal(ctx context.Context, p payload) (inbound.Response, error) {
	if err := inbound.CheckID("payload.channel.id", p.channel()); err != nil {
		return inbound.Response{}, err
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
		return inbound.OK(), nil
	}
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		if p.own() {
			return card.ProposalModal(id, "", v.Settings.Locale), nil
		}
		return card.ProposalModal(id, p.Message.shown(), v.Settings.Locale), nil
	})
	return inbound.OK(), nil
}

// propose handles the submission of that dialog. What is wrong stands at its field, and the dialog stays open, as it
// does when nothing was saved.
func (h *Handler) propose(ctx context.Context, p payload) (inbound.Response, error) {
	var m card.ProposalForm
	err := json.Unmarshal([]byte(p.View.PrivateMetadata), &m)
	if err != nil || !conversation.ValidID(m.Session) {
		return h.notProposed(explain.ErrMalformedForm, h.People.Language(ctx, p.Team.ID, p.User.ID, "")), nil
	}
	c := p.click(m.Session, m.Session)
	typed := p.View.State.Values[conversation.OwnCommand][conversation.OwnCommand].Value
	v := h.spoken(ctx, c, h.maker().Propose(ctx, c.Click, typed))
	var wrong decide.ErrTyped
	switch {
	case errors.As(v.Err, &wrong):
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
			conversation.OwnCommand: wrong.Fault.Sentence(v.Settings.Locale)})), nil
	case v.Err != nil && v.Subject == nil:
		return h.notProposed(v.Err, v.Settings.Locale), nil
	case v.Err != nil:
		boot.Count(boot.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
			conversation.OwnCommand: v.text()})), nil
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}

func (h *Handler) notProposed(err error, locale string) inbound.Response {
	boot.Count(boot.InteractionOdd, 1)
	return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(map[string]string{
		conversation.OwnCommand: card.Note(locale, err)}))
}
