package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/contests"
	"ringi/shared/decision"
	"ringi/shared/metric"
	"ringi/shared/slackapi"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/task"
)

// Contests has what the teams of a contest submitted.
type Contests interface {
	Summary(ctx context.Context, tenant, execution string) (contests.ExecutionSummary, error)
}

// others opens the dialog that shows the drafts of the other teams. Members of the workspace who may not decide may read them.
func (h *Handler) others(ctx context.Context, c click, trigger string) {
	var a *task.Aggregate
	v := h.check(ctx, c, func(now *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, at time.Time) (aggregate.Change, error) {
		a = now
		return decision.Rejections()[task.CardPrompt].With("-")(now, id, by, p, at) // whoever may send it back may put another in its place
	})
	readsOnly := mayRead(v.Err)
	if v.Err == nil && !v.Empty || readsOnly {
		view, err := h.otherDraft(ctx, a, card.OtherDraft{ID: c.ID, TaskID: c.Ref.ID, ReadOnly: readsOnly}, v.Settings.Locale)
		if err == nil {
			err = h.Slack.OpenView(ctx, trigger, view)
		}
		var unknown slackapi.Unknown
		if err == nil || errors.As(err, &unknown) { // if the dialog did not open, the person clicks again
			slog.InfoContext(ctx, "shows other drafts", "task_id", c.Ref.ID, "user", c.User, "id", c.ID, "err", err)
			return
		}
		v.Err = err
	}
	h.tell(ctx, c, v)
}

// otherDraft draws one of them.
func (h *Handler) otherDraft(ctx context.Context, a *task.Aggregate, o card.OtherDraft, locale string) (slack.ModalViewRequest, error) {
	p, e, _, ok := card.Other(a, o)
	if !ok {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	content, err := h.submission(ctx, a.Head.TenantID, p.Contest.ExecutionID, e)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	view, ok := card.OthersModal(a, o, content, locale)
	if !ok {
		return view, aggregate.ErrNotFound
	}
	return view, nil
}

// submission is the text of a team's best draft.
func (h *Handler) submission(ctx context.Context, tenant, execution string, e task.Entry) (string, error) {
	summary, err := h.Contests.Summary(ctx, tenant, execution)
	if err != nil {
		return "", fmt.Errorf("read what a contest came to: %w", err)
	}
	for _, r := range summary.TeamResults {
		if r.TeamID == e.TeamID && aggregate.HashOf(r.SubmissionContent) == e.Hash {
			return r.SubmissionContent, nil
		}
	}
	return "", fmt.Errorf("the contest has no submission of that team: %w", aggregate.ErrNotFound)
}

// turnDraft shows another draft in the open dialog.
func (h *Handler) turnDraft(ctx context.Context, p payload, a action) error {
	var o card.OtherDraft
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &o); err != nil {
		return inbound.Bad("payload.view.private_metadata must be the JSON object of a draft")
	}
	page, err := strconv.Atoi(a.Value)
	if err != nil {
		return inbound.Bad("payload.actions.0.value must be the number of a page")
	}
	o.Page = page
	ref := p.click(o.TaskID, o.ID).Ref
	if !aggregate.ValidID(ref.ID) {
		return nil
	}
	settings, err := h.Store.Settings(ctx, ref.Tenant)
	var loaded *task.Aggregate
	if err == nil {
		loaded, err = h.Store.Load(ctx, ref)
	}
	var view slack.ModalViewRequest
	if err == nil {
		view, err = h.otherDraft(ctx, loaded, o, settings.Locale)
	}
	if err == nil {
		err = h.Slack.UpdateView(ctx, p.View.ID, p.View.Hash, view)
	}
	if err != nil { // the page stays as it is, and so does its button
		slog.WarnContext(ctx, "the page was not turned", "task_id", ref.ID, "user", p.User.ID, "err", err)
	}
	return nil
}

// pick puts the draft that was read in the place of the one that waits. What may pass is said in the dialog, which stays open.
func (h *Handler) pick(ctx context.Context, p payload) (inbound.Response, error) {
	var o card.OtherDraft
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &o); err != nil {
		return inbound.Response{}, inbound.Bad("payload.view.private_metadata must be the JSON object of a draft")
	}
	c := p.click(o.TaskID, o.ID)
	content, name, err := h.read(ctx, c.Ref, o)
	if err != nil {
		slog.WarnContext(ctx, "the draft was not read", "task_id", c.Ref.ID, "user", p.User.ID, "err", err)
	}
	v := h.decide(ctx, c, decision.OfKind(task.CardPrompt, func(a *task.Aggregate, id string, by aggregate.Actor, policy aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if err != nil {
			return aggregate.Change{}, err
		}
		terms, _ := a.TermsOf(id)
		return a.PickDraft(id, o.Team, content, card.PickReason(terms.Locale, name), by, policy, now)
	}))
	if text, ok := v.inForm(); ok {
		metric.Count(metric.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale))), nil
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}

// read is the text that the dialog showed, and its team's name.
func (h *Handler) read(ctx context.Context, ref aggregate.Ref, o card.OtherDraft) (content, name string, err error) {
	if !aggregate.ValidID(ref.ID) {
		return "", "", aggregate.ErrNotFound
	}
	a, err := h.Store.Load(ctx, ref)
	if err != nil {
		return "", "", err
	}
	for _, p := range a.Prompts {
		if e := p.Contest.Entry(o.Team); p.ID == o.ID && e != nil && e.Hash == o.Hash {
			content, err = h.submission(ctx, ref.Tenant, p.Contest.ExecutionID, *e)
			return content, e.TeamName, err
		}
	}
	return "", "", aggregate.ErrNotFound
}
