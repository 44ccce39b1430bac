package main

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/decide/edit"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// openEdit opens the form in which whoever asked edits what was given back to them.
func (h *Handler) openEdit(ctx context.Context, c click, kind aggregate.CardType, hash string) {
	was := h.maker().Check(ctx, c.Click, edit.May(kind, hash))
	v := h.spoken(ctx, c, was)
	v.Empty = false // nothing was to be changed
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		a, is := v.Task()
		if !is {
			return slack.ModalViewRequest{}, aggregate.ErrNotFound
		}
		of := card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Hash: hash}
		view, ok := card.EditModal(a, of, v.Settings.Locale, was.Settings, h.schemas(ctx, a, c.ID))
		if !ok { // its card has no such button
			return view, aggregate.ErrNotFound
		}
		return view, nil
	})
}

// edited handles that form. What can't be saved is told at its field, and the form stays open.
func (h *Handler) edited(ctx context.Context, p payload) (inbound.Response, error) {
	r, err := aboutOf[card.Review](p, "edit")
	if err != nil {
		return inbound.Response{}, err
	}
	c, fields := p.click(r.TaskID, r.ID), map[string]string{}
	for block, inputs := range p.View.State.Values {
		field := inputs[card.EditInput]
		fields[block] = cmp.Or(inbound.Unescaped(field.Value), field.Selected.Value, field.User)
	}
	f := edit.Form{Kind: r.Type, Hash: r.Hash}
	f.Policy, f.Steps = card.ReadEdit(fields)
	was := h.maker().Check(ctx, c.Click, f.Asks())
	v := h.spoken(ctx, c, was)
	a, is := v.Task()
	if is && a.Matter() != nil {
		return h.refill(ctx, p, c, f, was.Settings, v, a)
	}
	if v.Err != nil || !is {
		return h.submitted(ctx, c, v), nil
	}
	f.Schemas = h.schemas(ctx, a, c.ID)
	made, misfits, err := f.Made(a, c.ID, v.Settings.Locale)
	if len(misfits) > 0 {
		form, _ := card.EditFormOf(f.Schemas, a, c.ID, v.Settings.Locale, func(id string) string { return id },
			func(s string, _ int) string { return s })
		told := map[string]string{}
		for _, m := range misfits {
			id, text := form.Mistake(v.Settings.Locale, m)
			told[id] = text
		}
		return inbound.JSON(200, slack.NewErrorsViewSubmissionResponse(told)), nil
	}
	if v.Err = err; err == nil {
		v = h.decide(ctx, c, f.Save(made))
	}
	return h.submitted(ctx, c, v), nil
}

// schemas returns what MCP servers say of the arguments of steps. Without them the form asks less, and plan-process
// compares what was typed with its tools all the same.
func (h *Handler) schemas(ctx context.Context, a *task.Aggregate, id string) explain.Schemas {
	foreign := func(s task.Step) bool { _, _, is := tenancy.ServerTool(s.Tool); return is }
	if !slices.ContainsFunc(a.StepsWith(id), foreign) {
		return nil
	}
	allowed, err := h.Store.ToolPermissions(ctx, a.Head.TenantID)
	if err != nil {
		slog.WarnContext(ctx, "a form is shown without its tools' schemas", "task_id", a.Head.TaskID, "err", err)
	}
	return explain.SchemasOf(allowed)
}

// askWithdraw opens the dialog in which whoever asked withdraws what was given back to them.
func (h *Handler) askWithdraw(ctx context.Context, c click) {
	c.Withdraws = true
	h.askEnding(ctx, c, h.check(ctx, c, decide.End().Act))
}

func (h *Handler) askEnding(ctx context.Context, c click, v verdict) {
	h.show(ctx, c, v, false, func() (slack.ModalViewRequest, error) {
		at := card.Cancellation{TaskID: c.Ref.ID, Channel: c.Channel, Thread: c.thread}
		return card.DialogsOf(v.Subject).Ending(at, "", v.Settings), nil
	})
}
