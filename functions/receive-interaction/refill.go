package main

import (
	"context"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

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
func (h *Handler) refilled(ctx context.Context, p payload) (inbound.Response, error) {
	r, err := aboutOf[card.Review](p, "form")
	if err != nil {
		return inbound.Response{}, err
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
