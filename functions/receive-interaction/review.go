package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

// review opens the dialog that shows all of a gate's content. Members of the workspace who may not approve may read it,
// without a button to approve.
func (h *Handler) review(ctx context.Context, c click, kind aggregate.CardType, _ string) {
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
func (h *Handler) approveRead(ctx context.Context, p payload) (inbound.Response, error) {
	r, err := aboutOf[card.Review](p, "review")
	if err != nil {
		return inbound.Response{}, err
	}
	c := p.click(r.TaskID, r.ID)
	c.Stage = r.Stage
	v := h.decide(ctx, c, decide.Shown(r.Type, r.Hash, decide.Approve))
	return h.submitted(ctx, c, v), nil
}

type Contests interface {
	Submission(ctx context.Context, tenant, execution, team, hash string) (contest.RoundResult, error)
}

// others opens the dialog with the best of the other teams' drafts. Members of the workspace who may not decide may
// read it.
func (h *Handler) others(ctx context.Context, c click) {
	v := h.check(ctx, c, decide.Gate(task.CardPrompt, decide.MayReject))
	h.show(ctx, c, v, true, func() (slack.ModalViewRequest, error) {
		return h.otherDraft(ctx, v, card.OtherDraft{ID: c.ID, TaskID: c.Ref.ID, ReadOnly: v.Err != nil, Console: c.console})
	})
}

func (h *Handler) otherDraft(ctx context.Context, v verdict, o card.OtherDraft) (slack.ModalViewRequest, error) {
	a, is := v.Task()
	if !is {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	p, e, ok := card.Other(a, o.ID)
	if !ok {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	draft, err := h.Contests.Submission(ctx, a.Head.TenantID, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	view, ok := card.OthersModal(a, o, draft, v.Settings.Locale)
	if !ok {
		return view, aggregate.ErrNotFound
	}
	return view, nil
}

// pick replaces the waiting version by the draft that the person read. After a temporary failure the dialog stays open
// and says so.
func (h *Handler) pick(ctx context.Context, p payload) (inbound.Response, error) {
	o, err := aboutOf[card.OtherDraft](p, "draft")
	if err != nil {
		return inbound.Response{}, err
	}
	c := p.click(o.TaskID, o.ID)
	content, err := h.read(ctx, c.Ref, o)
	if err != nil {
		slog.WarnContext(ctx, "the draft was not read", "task_id", c.Ref.ID, "user", p.User.ID, "err", err)
	}
	return h.submitted(ctx, c, h.decide(ctx, c, decide.Pick(o.Team, content, err))), nil
}

// read returns the text that the dialog showed.
func (h *Handler) read(ctx context.Context, ref aggregate.Ref, o card.OtherDraft) (text string, err error) {
	if !aggregate.ValidID(ref.ID) {
		return text, aggregate.ErrNotFound
	}
	x, err := h.Rows.Load(ctx, ref)
	if err != nil {
		return text, err
	}
	a, is := x.(*task.Aggregate)
	if !is {
		return text, aggregate.ErrNotFound
	}
	for _, p := range a.Prompts {
		if e := p.Contest.Entry(o.Team); p.ID == o.ID && e != nil && e.Hash == o.Hash {
			draft, err := h.Contests.Submission(ctx, ref.Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
			return draft.SubmissionContent, err
		}
	}
	return text, aggregate.ErrNotFound
}
