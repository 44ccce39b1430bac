package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide/decision"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/submission"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// Contests has what the teams of a contest submitted.
type Contests interface {
	Submission(ctx context.Context, tenant, execution, team, hash string) (submission.RoundResult, error)
}

// others opens the dialog that shows the drafts of the other teams. Members of the workspace who may not decide may read them.
func (h *Handler) others(ctx context.Context, c click, trigger string) {
	var a *task.Aggregate
	c.Authors = true
	v := h.check(ctx, c, func(now *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy, at time.Time) (aggregate.Change, error) {
		a = now
		change, err := decision.Rejections()[task.CardPrompt].Unsaid()(now, id, by, p, at)
		if err == nil { // whoever may send it back may put another in its place, if somebody is left who may approve theirs
			err = p.Author(by, now.Head.Requester)
		}
		return change, err
	})
	refused, _ := errors.AsType[aggregate.ErrNotAllowed](v.Err)
	h.show(ctx, c, v, trigger, func(readsOnly bool) (slack.ModalViewRequest, error) {
		o := card.OtherDraft{ID: c.ID, TaskID: c.Ref.ID, ReadOnly: readsOnly, Alone: refused.Rule == aggregate.RuleAlone}
		return h.otherDraft(ctx, a, o, v.Settings.Locale)
	})
}

// otherDraft draws one of them.
func (h *Handler) otherDraft(ctx context.Context, a *task.Aggregate, o card.OtherDraft, locale string) (slack.ModalViewRequest, error) {
	p, e, _, ok := card.Other(a, o)
	if !ok {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	draft, err := h.Contests.Submission(ctx, a.Head.TenantID, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	view, ok := card.OthersModal(a, o, draft, locale)
	if !ok {
		return view, aggregate.ErrNotFound
	}
	return view, nil
}

// turnedDraft draws another draft, or another page of one.
func (h *Handler) turnedDraft(ctx context.Context, p payload, o card.OtherDraft, page int) (slack.ModalViewRequest, error) {
	o.Page = page
	c := p.click(o.TaskID, o.ID)
	a, v := h.reading(ctx, c)
	if _, err := h.onlyReads(ctx, c.Want, v.Request.Origin(), v.Err); err != nil {
		return slack.ModalViewRequest{}, err
	}
	return h.otherDraft(ctx, a, o, v.Settings.Locale)
}

// pick puts the draft that was read in the place of the one that waits. What may pass is said in the dialog, which stays open.
func (h *Handler) pick(ctx context.Context, p payload) (inbound.Response, error) {
	var o card.OtherDraft
	if err := json.Unmarshal([]byte(p.View.PrivateMetadata), &o); err != nil {
		return inbound.Response{}, inbound.Bad("payload.view.private_metadata must be the JSON object of a draft")
	}
	c := p.click(o.TaskID, o.ID)
	content, err := h.read(ctx, c.Ref, o)
	if err != nil {
		slog.WarnContext(ctx, "the draft was not read", "task_id", c.Ref.ID, "user", p.User.ID, "err", err)
	}
	c.Authors = true
	v := h.decide(ctx, c, func(a *task.Aggregate, id string, by aggregate.Actor, policy aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if err != nil {
			return aggregate.Change{}, err
		}
		return decision.Pick(o.Team, content)(a, id, by, policy, now)
	})
	if text, ok := v.inForm(); ok {
		metric.Count(metric.InteractionNoted, 1)
		return inbound.JSON(200, slack.NewUpdateViewSubmissionResponse(card.Told(text, v.Settings.Locale))), nil
	}
	h.tell(ctx, c, v)
	return inbound.OK(), nil
}

// read is the text that the dialog showed.
func (h *Handler) read(ctx context.Context, ref aggregate.Ref, o card.OtherDraft) (text string, err error) {
	if !aggregate.ValidID(ref.ID) {
		return text, aggregate.ErrNotFound
	}
	a, err := h.Store.Load(ctx, ref)
	if err != nil {
		return text, err
	}
	for _, p := range a.Prompts {
		if e := p.Contest.Entry(o.Team); p.ID == o.ID && e != nil && e.Hash == o.Hash {
			draft, err := h.Contests.Submission(ctx, ref.Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
			return draft.SubmissionContent, err
		}
	}
	return text, aggregate.ErrNotFound
}
