package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

type Contests interface {
	Submission(ctx context.Context, tenant, execution, team, hash string) (contest.RoundResult, error)
	Scored(ctx context.Context, tenant, execution string) (bool, error)
}

// others opens the dialog with the other teams' drafts. Members of the workspace who may not decide may read them.
func (h *Handler) others(ctx context.Context, c click) {
	c.Authors = true
	v := h.check(ctx, c, decide.MayPick())
	refused, _ := errors.AsType[aggregate.ErrNotAllowed](v.Err)
	h.show(ctx, c, v, true, func() (slack.ModalViewRequest, error) {
		o := card.OtherDraft{ID: c.ID, TaskID: c.Ref.ID, ReadOnly: v.Err != nil, Alone: refused.Rule == aggregate.RuleAlone}
		return h.otherDraft(ctx, v, o)
	})
}

func (h *Handler) otherDraft(ctx context.Context, v verdict, o card.OtherDraft) (slack.ModalViewRequest, error) {
	a, is := v.Task()
	if !is {
		return slack.ModalViewRequest{}, aggregate.ErrNotFound
	}
	p, e, _, ok := card.Other(a, o)
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

// turnedDraft draws another draft, or another page of a draft.
func (h *Handler) turnedDraft(
	ctx context.Context, p payload, o card.OtherDraft, page int,
) (slack.ModalViewRequest, error) {
	o.Page = page
	v, _, err := h.reading(ctx, p.click(o.TaskID, o.ID))
	if err != nil {
		return slack.ModalViewRequest{}, err
	}
	return h.otherDraft(ctx, v, o)
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
	c.Authors = true
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

// takeBest ends the contest that drafts a policy with its best draft so far.
func (h *Handler) takeBest(ctx context.Context, c click) {
	scored := false
	x, err := h.Rows.Load(ctx, c.Ref)
	if a, is := x.(*task.Aggregate); is && a.Contesting() != nil {
		scored, err = h.Contests.Scored(ctx, c.Ref.Tenant, a.Contesting().Contest.ExecutionID)
	}
	v := h.spoken(ctx, c, decide.Verdict{Err: err})
	if err == nil || errors.Is(err, aggregate.ErrNotFound) {
		v = h.decide(ctx, c, decide.TakeBest(scored))
	}
	early := early{c.User, c.ID, h.Now()}
	if !errors.Is(v.Err, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotScored}) {
		h.tell(ctx, c, v)
	} else if last := h.early.Load(); last == nil || !last.repeats(early) {
		h.early.Store(&early)
		h.tell(ctx, c, v)
	}
}

// early is a press of the button that ends a contest, before a draft is scored.
type early struct {
	user, version string
	at            time.Time
}

// repeats reports whether the same person, who still has the note, pressed again within a minute.
func (e *early) repeats(next early) bool {
	return e.user == next.user && e.version == next.version && next.at.Sub(e.at) < time.Minute
}
