package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// openMatter shows the form that asks for a decision, by the shortcut or the Home tab's button. If it does not open,
// the person tries again.
func (h *Handler) openMatter(ctx context.Context, p payload) (slackapi.Response, error) {
	s, err := h.Store.Settings(ctx, aggregate.TenantID(p.Team.ID))
	if err == nil {
		person := h.People.Language(ctx, p.Team.ID, p.User.ID, s.Locale)
		err = h.Slack.OpenView(ctx, p.TriggerID, card.MatterModal(person, s))
	}
	slog.InfoContext(ctx, "asked for a decision", "user", p.User.ID, "err", err)
	return slackapi.OK(), nil
}

// filledMatter handles that form's submission. What is wrong stands at its field, and the form stays open.
func (h *Handler) filledMatter(ctx context.Context, p payload) (slackapi.Response, error) {
	said, cancel := clock.Sparing(ctx, decide.KeepWithin)
	defer cancel()
	s, err := h.Store.Settings(ctx, aggregate.TenantID(p.Team.ID))
	person := h.People.Spoken(said, p.Team.ID, p.User.ID, s.Locale)
	if err != nil {
		slog.ErrorContext(ctx, "not kept", "user", p.User.ID, "err", err)
		return atField(card.MatterDescription, card.NoteFailed.Told(person)), nil
	}
	m, files, faults, err := p.matter(person, s, nil, "")
	if err != nil {
		return slackapi.Response{}, err
	}
	if faults != nil {
		return slackapi.JSON(200, slack.NewErrorsViewSubmissionResponse(faults)), nil
	}
	w := decide.Wanted{Text: card.MatterText(s.Locale, m), Like: task.Request{Matter: &m, Files: files}}
	return h.requestAt(ctx, said, p, w, card.MatterDescription, person, s.Locale), nil
}

// matter reads the form, and what is wrong in it by field. Of one that was given back, whose version has this id, files
// has those that stay, too.
func (p payload) matter(person string, s tenancy.Settings, back *task.Aggregate, id string) (
	m task.Matter, files []aggregate.SharedFile, faults map[string]string, err error) {
	if files, err = p.shared(); err != nil {
		return m, nil, nil, err
	}
	m, faults = card.ReadMatter(person, s, func(field string) string {
		x := p.View.State.Values[field][card.MatterInput]
		return slackapi.Unescaped(cmp.Or(x.Value, x.Selected.Value))
	})
	if back != nil {
		files = back.WithFiles(id, p.several(), files)
	}
	if fault := card.MatterFilesFault(person, files); fault != "" && faults == nil {
		faults = map[string]string{card.MatterFiles: fault}
	}
	return m, files, faults, nil
}

// refill handles the form of a request for a decision that was given back. What is wrong stands at its field, and the
// form stays open, as it does after a temporary failure. A refusal is said in its place, with what was typed. s are the
// settings as the workspace has them, v is of f.Asks, and a is what was given back.
func (h *Handler) refill(ctx context.Context, p payload, c click, f decide.Refilled, s tenancy.Settings,
	v verdict, a *task.Aggregate) (slackapi.Response, error) {
	person := v.Settings.Locale
	m, files, faults, err := p.matter(person, s, a, c.ID)
	if err != nil {
		return slackapi.Response{}, err
	}
	typed := card.MatterText(s.Locale, m)
	if v.Err == nil && faults == nil {
		v = h.decide(ctx, c, f.Save(task.Refill{Content: typed, Matter: &m, Files: files}))
	}
	if v.Err != nil {
		v.Log(ctx, slog.With(c.Ref.Kind+"_id", c.Ref.ID, "user", c.User))
		text, again := v.inForm()
		if !again { // it may name people, which no field's problem shows
			unsent := card.Unsent(v.text(), typed, v.Settings.Locale)
			return slackapi.JSON(200, slack.NewUpdateViewSubmissionResponse(unsent)), nil
		}
		faults = map[string]string{card.MatterDescription: text}
	}
	if faults != nil {
		return slackapi.JSON(200, slack.NewErrorsViewSubmissionResponse(faults)), nil
	}
	h.tell(ctx, c, v)
	return slackapi.OK(), nil
}

// openRefill opens the form that was given back, filled in, to whoever asked.
func (h *Handler) openRefill(ctx context.Context, c click, kind aggregate.CardType, hash string) {
	was := h.maker().Check(ctx, c.Click, decide.MayRefill(hash))
	v := h.spoken(ctx, c, was)
	v.Empty = false // nothing was to be changed
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		a, is := v.Task()
		if !is {
			return slack.ModalViewRequest{}, aggregate.ErrNotFound
		}
		of := card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Hash: hash}
		return card.RefillModal(a, of, v.Settings.Locale, was.Settings), nil
	})
}

// refilled handles that form. What can't be saved is told at its field, and the form stays open.
func (h *Handler) refilled(ctx context.Context, p payload) (slackapi.Response, error) {
	r, err := aboutOf[card.Review](p, "form")
	if err != nil {
		return slackapi.Response{}, err
	}
	c, f := p.click(r.TaskID, r.ID), decide.Refilled{Hash: r.Hash}
	was := h.maker().Check(ctx, c.Click, f.Asks())
	v := h.spoken(ctx, c, was)
	a, is := v.Task()
	if !is || a.Matter() == nil {
		return h.submitted(ctx, c, v), nil
	}
	return h.refill(ctx, p, c, f, was.Settings, v, a)
}

// askEnding opens the dialog that asks whether a request is withdrawn or cancelled, or a conversation ends.
func (h *Handler) askEnding(ctx context.Context, c click, v verdict) {
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		at := card.Cancellation{TaskID: c.Ref.ID, Channel: c.channel, Thread: c.thread}
		return card.DialogsOf(v.Subject).Ending(at, "", v.Settings), nil
	})
}
