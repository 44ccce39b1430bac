package task

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/store/large"
)

// otherTeams is another team's draft, whole, with the button that picks it if the viewer may.
type otherTeams struct {
	Draft
	Path     string // that picks it
	Text     string
	Feedback string // the evaluators' comments
	Gone     bool   // its retention is over
	Diff     []web.Line
	Hash     string // of what is shown
	No       string // why this viewer can't pick it
}

// otherDraft returns the version in the address and another team's submission for it, or aggregate.ErrNotFound. The
// address has the version's id, or that of the contest that drafted it.
func otherDraft(r *http.Request, a *task.Aggregate) (*task.Prompt, contest.Place, error) {
	for _, p := range a.Prompts {
		for _, e := range p.Others() {
			version := r.PathValue("version")
			if (p.ID == version || p.Contest.ExecutionID == version) && contest.TeamHash(e.TeamID) == r.PathValue("team") {
				return p, e, nil
			}
		}
	}
	return nil, contest.Place{}, fmt.Errorf("another draft: %w", aggregate.ErrNotFound)
}

// showOtherDraft shows a complete draft on the request's page.
func (c *Pages) showOtherDraft(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loaded) error {
	p, e, err := otherDraft(r, t.task)
	if err != nil {
		return err
	}
	words, x := v.Texts("task"), otherTeams{Draft: t.reader.draft(e), Hash: e.Hash}
	x.Path = tasksPath + "/" + t.task.Head.TaskID + "/drafts/" + p.ID + "/" + x.Key
	draft, err := c.Contests.Submission(r.Context(), t.task.Ref().Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if x.Gone = errors.Is(err, large.ErrExpired); err != nil && !x.Gone {
		return err
	}
	text := draft.SubmissionContent
	x.Feedback = card.Prose(contest.InPoints(draft.EvaluationFeedback, v.Locale))
	called := web.Identified(c.Called(r.Context(), v, task.Mentioned(text+p.Content)...))
	x.Text = web.Mentions(card.Prose(text), called)
	x.Diff = web.Diff(web.Mentions(card.Prose(p.Content), called), x.Text)
	who := c.Likely(c.asking(v, t), aggregate.Offer{Act: aggregate.ActReject, ID: p.ID, Kind: task.CardPrompt,
		Hash: t.task.Asked(p.ID).Hash})
	switch {
	case !t.task.Asked(p.ID).Open:
		x.No = words.Say("draft_over")
	case x.Gone:
		x.No = words.Say("text_gone")
	case !card.Stampable(text):
		x.No = words.Say("draft_not_whole")
	case who != nil:
		x.No = t.surface.Note(who)
	}
	return c.showPage(w, r, v, t, &x)
}

// pickDraft replaces the waiting version with a draft that was shown, as the button in Slack does.
func (c *Pages) pickDraft(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	p, e, err := otherDraft(r, a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	ref := a.Ref()
	draft, err := c.Contests.Submission(ctx, ref.Tenant, p.Contest.ExecutionID, e.TeamID, e.Hash)
	if err != nil {
		return err
	}
	if r.PostFormValue("hash") != e.Hash {
		return aggregate.ErrMoved
	}
	click := c.Click(v, ref, p.ID)
	verdict := c.Maker().Decide(ctx, click, decide.Pick(e.TeamID, draft.SubmissionContent, nil))
	return c.Decided(w, r, v, c.page(), click, subject.Tried{}, verdict, "pick_draft")
}
