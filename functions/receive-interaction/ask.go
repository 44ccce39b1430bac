package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/records"
	"ringi/shared/words/language"
)

// keepAgainWithin is the time for a second try to save a request if the first got no answer.
const keepAgainWithin = 600 * time.Millisecond

// knownWithin is how long a repeated request waits for the outcome of the first. Slack waits three seconds for an
// answer.
const knownWithin = 1200 * time.Millisecond

// A dialog's submission is answered within answeredWithin, whatever its calls take together: after three seconds Slack
// shows the person an error, whatever was made. The last keepWithin of it is for rows, so that what was posted is kept.
// Nothing is posted where less than postWithin is left for it.
const (
	answeredWithin = 2900 * time.Millisecond
	keepWithin     = 400 * time.Millisecond
	postWithin     = 300 * time.Millisecond
)

// wanted is a request from a command or a dialog.
type wanted struct {
	team, user, text string
	channel          string       // channel for the cards; empty: the person's direct messages
	elsewhere        bool         // in direct messages, since Ringi can't post in that channel
	once             string       // identifies this act, however often it arrives
	like             task.Request // what else the request has, of a message or an earlier request
}

type place struct{ Channel, TS string }

// outcome says where a request's first message is, and what the person is told, or the dialog that they are shown anew.
type outcome struct {
	place
	note card.AskNote
	anew *slack.ModalViewRequest
}

// request posts a message that says who requests what, and makes a task of it as if the person had written it. A
// request that arrives twice makes one task.
func (h *Handler) request(ctx context.Context, w wanted, locale string) outcome {
	tenant, log := aggregate.TenantID(w.team), slog.With("user", w.user)
	w.text = inbound.SavedText(w.text)
	// Nothing is posted for a person whose request would be refused. If Slack doesn't answer now, resume-task asks
	// again.
	said, cancel := clock.Sparing(ctx, keepWithin)
	defer cancel()
	by, err := h.People.Requester(said, w.team, w.user)
	if err == nil && (by.Guest || by.Team != w.team) {
		log.WarnContext(ctx, "refused", "why", "a guest, or of another workspace")
		return outcome{note: card.NoteStranger}
	}
	if late(said) {
		return outcome{note: card.NoteSlow}
	}
	if first, was, err := h.begin(ctx, tenant, w.once); err != nil {
		log.ErrorContext(ctx, "not kept", "err", err)
		return outcome{note: card.NoteFailed}
	} else if !first {
		return was
	}
	at, note, err := h.say(said, w, locale)
	if err == nil {
		r := w.like
		r.TeamID, r.Text, r.User, r.Channel, r.ChannelType = w.team, w.text, w.user, at.Channel,
			inbound.ChannelType(at.Channel)
		r.MessageTS, r.ThreadTS, r.Source = at.TS, at.TS, inbound.SourceOf(r.ChannelType)
		r.AddRouteAskers()
		var ref aggregate.Ref
		within, cancel := clock.Sparing(ctx, keepAgainWithin)
		ref, _, err = inbound.Keep(within, h.Store, r, h.Now())
		cancel()
		if err != nil && inbound.Unanswered(err) { // the first write may have succeeded: this finds its rows
			ref, _, err = inbound.Keep(ctx, h.Store, r, h.Now())
			if err != nil { // a missing task is better than a task without its message, or a second task
				log.ErrorContext(ctx, "not known to be kept", "channel", at.Channel, "ts", at.TS, "err", err)
				return outcome{note: card.NoteUnsure}
			}
		}
		if err == nil {
			log.InfoContext(ctx, "received", "task_id", ref.ID, "source", r.Source, "characters", len([]rune(r.Text)))
			if err := h.Store.Came(ctx, tenant, w.once,
				records.Came{As: string(note), Channel: at.Channel, TS: at.TS}); err != nil {
				log.WarnContext(ctx, "who asks for the same again is told that it is not known", "err", err)
			}
			return outcome{place: at, note: note}
		}
		if gone := h.Slack.Delete(ctx, at.Channel, at.TS); gone != nil {
			log.WarnContext(ctx, "a message without a request stays", "channel", at.Channel, "ts", at.TS, "err", gone)
		}
	}
	log.ErrorContext(ctx, "not kept", "err", err)
	var unsure slackapi.Unknown
	if errors.As(err, &unsure) { // it may have been posted: another try could post it twice
		return outcome{note: card.NoteUnsure}
	}
	if err := h.Store.Again(ctx, tenant, w.once); err != nil {
		log.WarnContext(ctx, "the person has to ask anew", "err", err)
	}
	return outcome{note: cmp.Or(note, card.NoteFailed)}
}

// late reports whether too little time is left to post anything.
func late(ctx context.Context) bool {
	until, ends := ctx.Deadline()
	if ends = ends && time.Until(until) < postWithin; ends {
		slog.WarnContext(ctx, "nothing is posted, since Slack is slow")
	}
	return ends
}

// begin reports whether this request is the first of its kind. For a repeated one it waits briefly for the outcome of
// the first, since a person who asks twice has seen no answer.
func (h *Handler) begin(ctx context.Context, tenant, once string) (first bool, was outcome, err error) {
	for stop := time.Now().Add(knownWithin); ; {
		first, came, err := h.Store.Once(ctx, tenant, once)
		switch {
		case err != nil || first:
			return first, outcome{}, err
		case came.As != "":
			return false, outcome{place: place{came.Channel, came.TS}, note: card.NoteRepeated}, nil
		case time.Now().After(stop) || clock.Sleep(ctx, 100*time.Millisecond) != nil:
			return false, outcome{note: card.NoteBegun}, nil
		}
	}
}

// say posts the request's first message. note is for the person, even if nothing was posted.
func (h *Handler) say(ctx context.Context, w wanted, locale string) (at place, note card.AskNote, err error) {
	post := func(channel string) error {
		ts, err := h.Slack.Post(ctx, channel, "", card.Asked(language.Detect(w.text, locale), w.user, w.text),
			slackapi.Metadata{})
		at = place{channel, ts}
		return err
	}
	if w.channel != "" {
		err := post(w.channel)
		if err == nil {
			return at, card.NoteAccepted, nil
		}
		var refused slackapi.Refused
		if !errors.As(err, &refused) || !refused.Permanent {
			return at, "", err
		}
		if note = card.NoteElsewhere; !w.elsewhere {
			return at, card.NoteUnreachable, err
		}
	}
	own, err := h.Slack.OpenDM(ctx, w.user)
	if err == nil {
		err = post(own)
	}
	if err != nil {
		return at, "", err
	}
	return at, cmp.Or(note, card.NoteAccepted), nil
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
	names, err := inbound.ChannelIDs(ctx, h.Store, p.Team.ID, of.Channel)
	if err != nil {
		slog.ErrorContext(ctx, "not kept", "user", p.User.ID, "err", err)
		return outcome{note: card.NoteFailed}
	}
	of.Channel = names[0]
	reaches, err := h.Slack.Reaches(said, of.Channel, p.User.ID)
	if err != nil {
		slog.InfoContext(ctx, "whether Ringi can post there", "channel", of.Channel, "reaches", reaches, "err", err)
	}
	if reaches {
		if anew, why := h.changed(said, of, typed, person); anew != nil || why != "" {
			return outcome{note: why, anew: anew}
		}
	}
	w := wanted{team: p.Team.ID, user: p.User.ID, text: text, once: "message " + of.Channel + " " + of.TS,
		like: task.Request{Files: of.SharedFiles(), MoreFiles: of.MoreFiles, Authors: task.Others(p.User.ID, of.Wrote()...)}}
	hash := aggregate.HashOf(text)
	if len(of.Files) > 0 {
		w.like.RouteAskers = []string{of.User}
	}
	switch {
	case !reaches:
		out := h.request(ctx, w, locale)
		if out.note == card.NoteAccepted {
			out.note = card.NoteElsewhere
		}
		return out
	case hash != of.Shown:
		w.channel, w.elsewhere = of.Channel, true
		w.once = strings.Join([]string{w.once, w.user, hash}, " ")
		return h.request(ctx, w, locale)
	}
	r := task.Request{
		TeamID: p.Team.ID, Text: text, User: p.User.ID, Channel: of.Channel, ChannelType: inbound.ChannelType(of.Channel),
		MessageTS: of.TS, ThreadTS: cmp.Or(of.Thread, of.TS), Source: inbound.SourceOf(inbound.ChannelType(of.Channel)),
		RouteAskers: w.like.RouteAskers, Authors: w.like.Authors, Files: w.like.Files, MoreFiles: w.like.MoreFiles,
	}
	r.AddRouteAskers()
	kept, err := inbound.Kept(ctx, h.loaded, p.Team.ID, of.TS, names[1:])
	var ref aggregate.Ref
	repeated := kept
	if err == nil && !kept {
		ref, repeated, err = inbound.Keep(ctx, h.Store, r, h.Now())
	}
	switch {
	case repeated:
		return outcome{place: place{r.Channel, of.TS}, note: card.NoteRepeated}
	case err != nil:
		slog.ErrorContext(ctx, "not kept", "user", r.User, "err", err)
		return outcome{note: card.NoteFailed}
	}
	slog.InfoContext(ctx, "received", "task_id", ref.ID, "user", r.User, "source", r.Source,
		"characters", len([]rune(text)))
	return outcome{place: place{r.Channel, of.TS}, note: card.NoteAccepted}
}

func (h *Handler) loaded(ctx context.Context, ref aggregate.Ref) error {
	_, err := h.Rows.Load(ctx, ref)
	return err
}

// askAgain withdraws a request for its requester, and makes a new one of its text alone, without the words of others.
// What waits is withdrawn first, so that not both are carried out. If no new request is made, another click tries
// again.
func (h *Handler) askAgain(ctx context.Context, c click) {
	c.Withdraws = true
	v := h.decide(ctx, c, decide.AskAgain())
	a, is := v.Task()
	if v.Err != nil || !is {
		h.tell(ctx, c, v)
		return
	}
	r, _ := a.Alone()
	out := outcome{note: card.NoteRepeated}
	if e := a.Head.Ended; e != nil && e.Again != nil {
		out.place = place(*e.Again)
	} else {
		out = h.request(ctx, wanted{team: r.TeamID, user: r.User, text: r.Text, channel: r.Channel, elsewhere: true,
			once: "again " + c.Ref.ID, like: r}, v.Settings.Locale)
	}
	if out.TS != "" {
		_, err := h.Rows.Decide(ctx, c.Ref, func(a aggregate.Aggregate) (aggregate.Change, error) {
			return a.(*task.Aggregate).AskedAgainAt(task.Place(out.place), h.Now())
		})
		if err != nil {
			slog.WarnContext(ctx, "a later click may ask again once more", "task_id", c.Ref.ID, "err", err)
		}
	}
	slog.InfoContext(ctx, "asked again", "task_id", c.Ref.ID, "user", c.User, "note", string(out.note))
	link := ""
	if out.TS != "" {
		link = h.Slack.Link(ctx, out.Channel, out.TS, "")
	}
	text := out.note.Told(v.Settings.Locale, link)
	if len(r.Files)+r.MoreFiles < len(a.Request.Files)+a.Request.MoreFiles {
		text += "\n" + card.NoteWithoutFiles.Told(v.Settings.Locale, "")
	}
	h.sendEphemeral(ctx, c, v, text)
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
