package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// review opens the dialog that shows all of a gate's content. Members of the workspace who may not approve may read it,
// without a button to approve.
func (h *Handler) review(ctx context.Context, c click, kind aggregate.CardType) {
	v := h.check(ctx, c, decide.Gate(kind, decide.Approve))
	h.show(ctx, c, v, true, func() (slack.ModalViewRequest, error) {
		d, err := card.DialogsOf(v.Subject).Opened(ctx, h.Results, c.ID)
		if err != nil {
			return slack.ModalViewRequest{}, err
		}
		view, ok := d.Review(card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, Stage: c.Stage,
			ReadOnly: v.Err != nil || v.Empty, Console: c.console}, v.Settings.Locale)
		if !ok {
			return view, aggregate.ErrNotFound
		}
		return view, nil
	})
}

// show opens a dialog for a person who may decide or, with readers, for a member of the workspace who may only read,
// and for one who has stamped a stage. It tells anybody else why not.
func (h *Handler) show(
	ctx context.Context, c click, v verdict, readers bool, draw func() (slack.ModalViewRequest, error),
) {
	stamped := v.Err == nil && v.Empty && c.Stage > 0
	if v.Err == nil && !v.Empty || readers && (mayRead(v.Err) || stamped) {
		view, err := draw()
		if err == nil {
			err = h.openView(ctx, c, view)
		}
		if err == nil {
			slog.InfoContext(ctx, "shows a dialog", c.Ref.Kind+"_id", c.Ref.ID, "user", c.User, "id", c.ID,
				"view", view.CallbackID)
			return
		}
		v.Err = err
	}
	h.tell(ctx, c, v)
}

// mayRead reports whether a refused person may still read, because they belong to the workspace.
func mayRead(err error) bool {
	if _, walked := errors.AsType[*circulation.Refusal](err); walked {
		return true
	}
	refused, is := errors.AsType[aggregate.ErrNotAllowed](err)
	return is && refused.Rule != aggregate.RuleForeign && refused.Rule != aggregate.RuleGuest
}

// approveRead approves after the submission of a Review.
func (h *Handler) approveRead(ctx context.Context, p payload) (slackapi.Response, error) {
	r, err := aboutOf[card.Review](p, "review")
	if err != nil {
		return slackapi.Response{}, err
	}
	c := p.click(r.TaskID, r.ID)
	c.Stage = r.Stage
	v := h.decide(ctx, c, decide.Shown(r.Type, r.Hash, decide.Approve))
	return h.submitted(ctx, c, v), nil
}
