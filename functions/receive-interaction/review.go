package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
)

// review opens the dialog that shows all of what a gate asks about. Members of the workspace who
// may not approve it may read it, without a button to approve.
func (h *Handler) review(ctx context.Context, c click, kind aggregate.CardType, trigger string) {
	c.Card = ""
	var a *task.Aggregate
	approve := decision.Buttons()["approve_"+string(kind)]
	v := h.check(ctx, c, func(now *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, at time.Time) (aggregate.Change, error) {
		a = now
		return approve(now, id, by, p, at)
	})
	h.show(ctx, c, v, trigger, func(readsOnly bool) (slack.ModalViewRequest, error) {
		return h.page(ctx, a, card.Review{Type: kind, ID: c.ID, TaskID: c.Ref.ID, ReadOnly: readsOnly}, v.Settings.Locale)
	})
}

// show opens a dialog for whoever may decide, and for members of the workspace who may only read; to anybody else it tells v.
func (h *Handler) show(ctx context.Context, c click, v verdict, trigger string, draw func(readsOnly bool) (slack.ModalViewRequest, error)) {
	readsOnly := mayRead(v.Err)
	if v.Err == nil && !v.Empty || readsOnly {
		view, err := draw(readsOnly)
		if err == nil {
			err = h.Slack.OpenView(ctx, trigger, view)
		}
		var unknown slackapi.Unknown
		if err == nil || errors.As(err, &unknown) { // if the dialog did not open, the person clicks again
			slog.InfoContext(ctx, "shows all", "task_id", c.Ref.ID, "user", c.User, "id", c.ID, "view", view.CallbackID, "err", err)
			return
		}
		v.Err = err
	}
	h.tell(ctx, c, v)
}

// mayRead reports whether the rule that refused a person still lets them read: they belong to the workspace.
func mayRead(err error) bool {
	var refused aggregate.ErrNotAllowed
	return errors.As(err, &refused) && refused.Rule != aggregate.RuleForeign && refused.Rule != aggregate.RuleGuest
}

// page draws one page of a Review.
func (h *Handler) page(ctx context.Context, a *task.Aggregate, r card.Review, locale string) (slack.ModalViewRequest, error) {
	drawn, err := h.Results.Opened(ctx, a, r.ID)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	view, ok := card.ReviewModal(drawn, r, locale)
	if !ok {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	return view, nil
}

// drawPage draws the page of an open dialog that a person turns to. Its error is why they may not read it, or why it can't be drawn.
type drawPage[R any] func(ctx context.Context, p payload, r R, page int) (slack.ModalViewRequest, error)

// turn shows another page of an open dialog to whoever could open it now; of is what its metadata describes.
func turn[R any](ctx context.Context, h *Handler, p payload, a action, of string, draw drawPage[R]) error {
	var r R
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &r); err != nil {
		return inbound.Bad("payload.view.private_metadata must be the JSON object of a %s", of)
	}
	page, err := strconv.Atoi(a.Value)
	if err != nil {
		return inbound.Bad("payload.actions.0.value must be the number of a page")
	}
	view, err := draw(ctx, p, r, page)
	if err == nil {
		err = h.Slack.UpdateView(ctx, p.View.ID, p.View.Hash, view)
	}
	if err != nil { // the page stays as it is, and so does its button
		slog.WarnContext(ctx, "the page was not turned", "of", r, "user", p.User.ID, "err", err)
	}
	return nil
}

// turned draws another page of a task's gate, also of one that was decided while it was read.
func (h *Handler) turned(ctx context.Context, p payload, r card.Review, page int) (slack.ModalViewRequest, error) {
	r.Page = page
	c := p.click(r.TaskID, r.ID)
	a, v := h.reading(ctx, c)
	var err error
	if r.ReadOnly, err = h.onlyReads(ctx, c.Want, v.Request.Origin(), v.Err); err != nil {
		return slack.ModalViewRequest{}, err
	}
	return h.page(ctx, a, r, v.Settings.Locale)
}

// onlyReads reports whether whoever turns a page may read but, as refused says, not decide. Its error is why they may not
// read either: a button of a message is pressed where the person sees it, but who left a channel may have its dialog open still.
func (h *Handler) onlyReads(ctx context.Context, w people.Want, o aggregate.Origin, refused error) (bool, error) {
	if !mayRead(refused) {
		return false, refused
	}
	reads, err := h.People.Reads(ctx, w, o)
	if err == nil && !reads {
		err = aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}
	}
	return true, err
}

// reading asks whether whoever turns a page may decide, or may read at least, now.
func (h *Handler) reading(ctx context.Context, c click) (a *task.Aggregate, v verdict) {
	v = h.check(ctx, c, func(now *task.Aggregate, _ string, by aggregate.Actor, policy aggregate.Policy, _ time.Time) (aggregate.Change, error) {
		a = now
		return aggregate.Change{}, policy.Approve(by, now.Head.Requester)
	})
	return a, v
}

// approveRead handles the submission of a Review's last page: an approval. A refusal is told
// in the request's thread; an error that may pass is shown in the dialog, which stays open.
func (h *Handler) approveRead(ctx context.Context, p payload) (inbound.Response, error) {
	var r card.Review
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &r); err != nil {
		return inbound.Response{}, inbound.Bad("payload.view.private_metadata must be the JSON object of a review")
	}
	c := p.click(r.TaskID, r.ID)
	v := h.decide(ctx, c, decision.OfKind(r.Type, func(a *task.Aggregate, id string, by aggregate.Actor, policy aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return a.ApproveRead(id, r.Hash, by, policy, now)
	}))
	if text, ok := v.inForm(); ok {
		metric.Count(metric.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale))), nil
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}
