package decide

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// keepAgainWithin is the time for a second try to save a request if the first got no answer.
const keepAgainWithin = 600 * time.Millisecond

// knownWithin is how long a repeated request waits for the outcome of the first. Slack waits three seconds for an
// answer.
const knownWithin = 1200 * time.Millisecond

// A dialog's submission is answered within AnsweredWithin, whatever its calls take together: after three seconds Slack
// shows the person an error, whatever was made. The last KeepWithin of it is for rows, so that what was posted is kept.
// Nothing is posted where less than PostWithin is left for it.
const (
	AnsweredWithin = 2900 * time.Millisecond
	KeepWithin     = 400 * time.Millisecond
	PostWithin     = 300 * time.Millisecond
)

// Wanted is a request from a form.
type Wanted struct {
	Team, User, Text string
	Channel          string       // channel for the cards; empty: the person's direct messages
	Once             string       // identifies this act, however often it arrives
	Like             task.Request // what else the request has, of a decision
	// Files keeps the files of a form before the request names them; nil: it has none that Ringi keeps.
	Files func(ctx context.Context, ref aggregate.Ref) error
}

// Asked says where a request's first message is, and what the person is told.
type Asked struct {
	task.Place
	Note card.AskNote
}

// Requests makes requests that no person wrote as a message.
type Requests struct {
	Store  AskStore
	Slack  AskSlack
	People *people.People
	Now    func() time.Time
}

// AskStore keeps requests, and what came of asking for them.
type AskStore interface {
	slackapi.Store
	Once(ctx context.Context, tenant, what string) (first bool, came store.Came, err error)
	Came(ctx context.Context, tenant, what string, c store.Came) error
	Again(ctx context.Context, tenant, what string) error
}

// AskSlack posts the message that says who requests what.
type AskSlack interface {
	Post(ctx context.Context, channel, thread string, m card.Message, about slackapi.Metadata) (ts string, err error)
	Delete(ctx context.Context, channel, ts string) error
	OpenDM(ctx context.Context, user string) (channel string, err error)
}

// Make posts a message that says who requests what, and makes a task of it as if the person had written it. A
// request that arrives twice makes one task.
func (x Requests) Make(ctx context.Context, w Wanted, locale string) Asked {
	tenant, log := aggregate.TenantID(w.Team), slog.With("user", w.User)
	w.Text = slackapi.SavedText(w.Text)
	// Nothing is posted for a person whose request would be refused. If Slack doesn't answer now, resume-task asks
	// again.
	said, cancel := clock.Sparing(ctx, KeepWithin)
	defer cancel()
	by, err := x.People.Requester(said, w.Team, w.User)
	if err == nil && (by.Guest || by.Team != w.Team) {
		log.WarnContext(ctx, "refused", "why", "a guest, or of another workspace")
		return Asked{Note: card.NoteStranger}
	}
	if late(said) {
		return Asked{Note: card.NoteSlow}
	}
	if first, was, err := x.begin(ctx, tenant, w.Once); err != nil {
		log.ErrorContext(ctx, "not kept", "err", err)
		return Asked{Note: card.NoteFailed}
	} else if !first {
		return was
	}
	at, note, err := x.say(said, w, locale)
	if err == nil && w.Files != nil {
		err = w.keep(ctx, at)
	}
	if err == nil {
		r := w.Like
		r.TeamID, r.Text, r.User, r.Channel, r.ChannelType = w.Team, w.Text, w.User, at.Channel,
			slackapi.ChannelType(at.Channel)
		r.MessageTS, r.ThreadTS, r.Source = at.TS, at.TS, slackapi.SourceOf(r.ChannelType)
		var ref aggregate.Ref
		within, cancel := clock.Sparing(ctx, keepAgainWithin)
		ref, _, err = slackapi.Keep(within, x.Store, r, x.Now())
		cancel()
		if err != nil && slackapi.Unanswered(err) { // the first write may have succeeded: this finds its rows
			ref, _, err = slackapi.Keep(ctx, x.Store, r, x.Now())
			if err != nil { // a missing task is better than a task without its message, or a second task
				log.ErrorContext(ctx, "not known to be kept", "channel", at.Channel, "ts", at.TS, "err", err)
				return Asked{Note: card.NoteUnsure}
			}
		}
		if err == nil {
			log.InfoContext(ctx, "received", "task_id", ref.ID, "source", r.Source, "characters", len([]rune(r.Text)))
			if err := x.Store.Came(ctx, tenant, w.Once,
				store.Came{As: string(note), Channel: at.Channel, TS: at.TS}); err != nil {
				log.WarnContext(ctx, "who asks for the same again is told that it is not known", "err", err)
			}
			return Asked{Place: at, Note: note}
		}
		if gone := x.Slack.Delete(ctx, at.Channel, at.TS); gone != nil {
			log.WarnContext(ctx, "a message without a request stays", "channel", at.Channel, "ts", at.TS, "err", gone)
		}
	}
	log.ErrorContext(ctx, "not kept", "err", err)
	if errors.As(err, new(slackapi.Unknown)) { // it may have been posted: another try could post it twice
		return Asked{Note: card.NoteUnsure}
	}
	if err := x.Store.Again(ctx, tenant, w.Once); err != nil {
		log.WarnContext(ctx, "the person has to ask anew", "err", err)
	}
	return Asked{Note: cmp.Or(note, card.NoteFailed)}
}

// keep keeps the form's files for the request that gets a message there.
func (w Wanted) keep(ctx context.Context, at task.Place) error {
	id, err := task.ID(w.Team, at.Channel, at.TS)
	if err != nil {
		return err
	}
	return w.Files(ctx, task.RefOf(aggregate.TenantID(w.Team), id))
}

// late reports whether too little time is left to post anything.
func late(ctx context.Context) bool {
	until, ends := ctx.Deadline()
	if ends = ends && time.Until(until) < PostWithin; ends {
		slog.WarnContext(ctx, "nothing is posted, since Slack is slow")
	}
	return ends
}

// begin reports whether this request is the first of its kind. For a repeated one it waits briefly for the outcome of
// the first, since a person who asks twice has seen no answer.
func (x Requests) begin(ctx context.Context, tenant, once string) (first bool, was Asked, err error) {
	for stop := time.Now().Add(knownWithin); ; {
		first, came, err := x.Store.Once(ctx, tenant, once)
		switch {
		case err != nil || first:
			return first, Asked{}, err
		case came.As != "":
			return false, Asked{Place: task.Place{Channel: came.Channel, TS: came.TS}, Note: card.NoteRepeated}, nil
		case time.Now().After(stop) || clock.Sleep(ctx, 100*time.Millisecond) != nil:
			return false, Asked{Note: card.NoteBegun}, nil
		}
	}
}

// say posts the request's first message. note is for the person, even if nothing was posted.
func (x Requests) say(ctx context.Context, w Wanted, locale string) (at task.Place, note card.AskNote, err error) {
	said := w.Text
	if m := w.Like.Matter; m != nil { // its card has all
		said = m.Title
	}
	post := func(channel string) error {
		ts, err := x.Slack.Post(ctx, channel, "", card.Asked(language.Detect(w.Text, locale), w.User, said),
			slackapi.Metadata{})
		at = task.Place{Channel: channel, TS: ts}
		return err
	}
	if w.Channel != "" {
		err := post(w.Channel)
		if err == nil {
			return at, card.NoteAccepted, nil
		}
		var refused slackapi.Refused
		if !errors.As(err, &refused) || !refused.Permanent {
			return at, "", err
		}
		return at, card.NoteUnreachable, err
	}
	own, err := x.Slack.OpenDM(ctx, w.User)
	if err == nil {
		err = post(own)
	}
	if err != nil {
		return at, "", err
	}
	return at, card.NoteAccepted, nil
}

// unreadable reports whether nobody can tell what a gate's steps, its call or its action would do. Of what is kept
// elsewhere, since it is long, only the beginning is here: that passes.
func unreadable(a Subject, id string) bool {
	switch of := a.(type) {
	case *task.Aggregate:
		return unreadableSteps(of, id)
	case *conversation.Aggregate:
		if x := of.Action(id); x != nil && x.Payload.JSON != "" {
			_, problems := conversation.ReadKept(x.ActionType, []byte(x.Payload.JSON))
			return len(problems) > 0
		}
	case *call.Aggregate:
		_, err := of.Call.Content()
		return err != nil
	}
	return false
}

func unreadableSteps(a *task.Aggregate, id string) bool {
	for _, p := range a.Processes {
		if p.ID == id {
			return explain.SumUp(language.English, p.Steps).Unreadable() != ""
		}
	}
	i := slices.IndexFunc(a.Gates, func(g *task.StepGate) bool { return g.ID == id })
	if i < 0 || a.Gates[i].Arguments.JSON == "" {
		return false
	}
	_, _, ok := explain.Masked(task.Step{}, a.Gates[i].Arguments, language.English)
	return !ok
}
