package main

import (
	"context"
	"log/slog"
	"strings"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/card"
)

// takesBack is the verb of the buttons by which people take their stamps back.
var takesBack = strings.TrimSuffix(card.TakeBack, "_")

// takeBack takes the person's stamp back, at the stage that the button names.
func (h *Handler) takeBack(ctx context.Context, c click, kind aggregate.CardType, hash string) {
	h.tell(ctx, c, h.decide(ctx, c, decide.Pressed(kind, hash, decide.TakeBack)))
}

// takeBackInDialog is takeBack for a button of an open dialog, which then shows what stands. If the stamp can't be
// taken back, the dialog says why.
func (h *Handler) takeBackInDialog(ctx context.Context, p payload, a action) error {
	r, err := aboutOf[card.Review](p, "review")
	if err != nil {
		return err
	}
	c, hash, err := p.pressed(a)
	if err != nil {
		return err
	}
	c.dialog = &p.View
	kind := aggregate.CardType(strings.TrimPrefix(a.ActionID, card.TakeBack))
	v := h.decide(ctx, c, decide.Pressed(kind, hash, decide.TakeBack))
	h.tell(ctx, c, v)
	if v.Err != nil {
		return nil
	}
	v = h.check(ctx, c, decide.Gate(kind, decide.Approve)) // the stage that asks again
	if err = v.Err; err == nil || mayRead(err) {
		view, drawn := h.opened(ctx, c, v, kind, r.Page)
		if err = drawn; err == nil {
			err = h.Slack.UpdateView(ctx, p.View.ID, p.View.Hash, view)
		}
	}
	if err != nil { // the dialog stays as it is, with the same button, by which nothing changes
		slog.WarnContext(ctx, "the dialog is behind", c.Ref.Kind+"_id", c.Ref.ID, "user", c.User, "err", err)
	}
	return nil
}
