package contest

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// drafted is the version of a task that a contest drafts.
type drafted struct {
	task     *task.Aggregate
	version  *task.Prompt
	settings tenancy.Settings
	surface  explain.Surface
}

// draftedBy returns the version that a contest drafts, or nil if it drafts none, or none that the viewer may read.
func (c *Pages) draftedBy(ctx context.Context, v *web.Viewer, k *contest.Contest) (*drafted, error) {
	if k.ForKind != task.Kind.Name {
		return nil, nil
	}
	a, err := c.Store.Load(ctx, task.RefOf(v.Tenant, k.ForID))
	d := &drafted{task: a}
	if err == nil {
		d.settings, err = c.Readable(ctx, v, a)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(a.Prompts, func(p *task.Prompt) bool {
		return p.Contest != nil && p.Contest.ExecutionID == k.ExecutionID
	})
	if i < 0 {
		return nil, nil
	}
	d.version = a.Prompts[i]
	person := func(id string) string { return c.Called(ctx, v, id)(id) }
	channel := func(string) string { return c.ChannelOf(ctx, v, a.Origin(), v.Texts("task").Say("that_channel")) }
	d.surface = subject.SurfaceOf(v, person, channel)
	return d, nil
}

// addTaking offers the best draft so far as the task's card does, and says who has taken it.
func (c *Pages) addTaking(ctx context.Context, v *web.Viewer, p *contestPage, k *contest.Contest, refused error) error {
	d, err := c.draftedBy(ctx, v, k)
	if err != nil || d == nil {
		return err
	}
	if refused != nil {
		p.Problem = d.surface.Refused(refused, d.settings, d.task.Origin(), d.task.Askers()...)
	}
	switch x := d.version.Contest; {
	case x.TakenAt != nil:
		p.Taken = &subject.RouteAct{By: c.Called(ctx, v, x.TakenBy)(x.TakenBy), At: *x.TakenAt}
	case d.task.Contesting() == d.version && len(p.Board) > 0:
		p.Take = true
		if err := subject.Likely(d.task, d.settings, v, aggregate.Offer{Act: aggregate.ActReject}); err != nil {
			p.NotTake = d.surface.Why(err, d.settings, d.task.Origin(), d.task.Askers()...)
		}
	}
	return nil
}

// takeBest ends a contest with its best draft so far, as the button of the task's card does.
func (c *Pages) takeBest(w http.ResponseWriter, r *http.Request, v *web.Viewer, a opened) error {
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	d, err := c.draftedBy(ctx, v, a.Contest)
	if err == nil && d == nil {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return err
	}
	scored, err := c.Contests.Scored(ctx, v.Tenant, a.Contest.ExecutionID)
	if err != nil {
		return err
	}
	click := c.Click(v, d.task.Ref(), d.version.ID)
	verdict := c.Maker().Decide(ctx, click, decide.TakeBest(scored))
	on := subject.Page{To: contestPath(a.Contest.ExecutionID), Refused: c.notTaken}
	return c.Decided(w, r, v, on, click, subject.Tried{}, verdict, card.TakeBest)
}

// notTaken shows the contest as it is now, with the reason why its best draft was not taken.
func (c *Pages) notTaken(w http.ResponseWriter, r *http.Request, v *web.Viewer, x subject.Tried, why error) error {
	status, _ := subject.NotDone(r, v, x, why)
	return c.show(w, r, v, why, status)
}
