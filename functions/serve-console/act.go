package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/people"
	"ringi/shared/store/kinds"
	"ringi/shared/words/legible"
)

// decideWithin is how long one decision may take.
const decideWithin = 10 * time.Second

// maxTyped is how much of a form's reason is kept when nothing was decided.
const maxTyped = 10_000

// checkApprovers names what is done in the place of a new try where nobody may approve what comes next.
const checkApprovers = "check_approvers"

// subjectPage is the page on which people decide about one kind of subject.
type subjectPage struct {
	path  string // before the subject's id
	refOf func(r *http.Request, v *viewer) (aggregate.Ref, error)
	ends  aggregate.Act // the act that ends the subject
	// whole refuses to approve what the page could not show whole: it has no button for that.
	whole func(ctx context.Context, v *viewer, a decide.Subject, x wanted) error
	// refused shows the page as it is now, why nothing was decided, and what was typed.
	refused func(w http.ResponseWriter, r *http.Request, v *viewer, ref aggregate.Ref, x wanted, why error) error
}

func (c *Console) taskPage() subjectPage {
	return subjectPage{"/console/tasks/", refOf, task.ActCancelTask, c.wholeStep, c.taskRefused}
}

func (c *Console) sessionPage() subjectPage {
	return subjectPage{"/console/sessions/", sessionRef, conversation.ActClose, c.wholeAction, c.talkRefused}
}

// wanted is what a form asks for. It carries what was shown: a decision on anything else is refused.
type wanted struct {
	aggregate.Offer
	reason string
}

func wantedBy(r *http.Request) wanted {
	return wanted{
		Offer: aggregate.Offer{
			Act: aggregate.Act(r.PostFormValue("act")), ID: r.PostFormValue("id"),
			Kind: aggregate.CardType(r.PostFormValue("kind")), Hash: r.PostFormValue("hash"),
		},
		reason: strings.ReplaceAll(r.PostFormValue("reason"), "\r\n", "\n"),
	}
}

// button is the same as a card's. ok is false for an act that there is not, or not on this page. An id that nothing has any
// more has no kind either: the decision itself says so, and gives a typed reason back.
func (x wanted) button(on subjectPage) (b decide.Button, ok bool) {
	switch x.Act {
	case aggregate.ActApprove:
		return decide.Button{Act: decide.Shown(x.Kind, x.Hash, decide.Approve)}, true
	case aggregate.ActReject:
		return decide.Button{Act: decide.Shown(x.Kind, x.Hash, decide.Reject(x.reason))}, x.Kind == "" || kinds.Asks(x.Kind)
	case on.ends:
		return decide.End(), true
	}
	b, ok = decide.Buttons()[string(x.Act)]
	return b, ok
}

// subject is what an address names, for somebody who may read it.
func (c *Console) subject(r *http.Request, v *viewer, on subjectPage) (decide.Subject, error) {
	ref, err := on.refOf(r, v)
	if err != nil {
		return nil, err
	}
	x, err := c.Store.Of.Store.Load(r.Context(), ref)
	if err != nil {
		return nil, err
	}
	a, asks := x.(decide.Subject)
	if !asks {
		return nil, fmt.Errorf("%s asks nobody: %w", ref, aggregate.ErrNotFound)
	}
	_, err = c.readable(r.Context(), v, a)
	return a, err
}

// act decides as a click on the card does. Whoever may not read the subject finds none, whatever they want of it: some acts are
// any member's, and what was decided before is no refusal.
func (c *Console) act(on subjectPage) page {
	return func(w http.ResponseWriter, r *http.Request, v *viewer) error {
		a, err := c.subject(r, v, on)
		if err != nil {
			return err
		}
		x := wantedBy(r)
		x.Kind = cmp.Or(x.Kind, a.AskedBy(x.ID))
		ctx, cancel := context.WithTimeout(r.Context(), decideWithin)
		defer cancel()
		click := v.click(a.Ref(), cmp.Or(x.ID, a.Ref().ID))
		verdict, err := c.decide(ctx, v, on, a, click, x)
		if err != nil {
			return err
		}
		done := string(x.Act)
		if t, is := verdict.Task(); is && x.Act == task.ActRetryGeneration && t.Head.Undecidable() {
			done = checkApprovers
		}
		return c.decided(w, r, v, on, click, x, verdict, done)
	}
}

// click is an act of the viewer's.
func (v *viewer) click(ref aggregate.Ref, id string) decide.Click {
	return decide.Click{Ref: ref, ID: id, Want: people.Want{User: v.User, Team: v.Team, Surface: aggregate.SurfaceConsole}}
}

func (c *Console) maker() decide.Maker {
	return decide.Maker{Store: c.Store.Of.Store, People: c.People, Results: c.Results, Now: c.Now}
}

func (c *Console) decide(ctx context.Context, v *viewer, on subjectPage, a decide.Subject, click decide.Click, x wanted) (decide.Verdict, error) {
	if x.Act == task.ActTakeAsReason {
		verdict, _, refused := c.maker().TakeAsReason(ctx, click)
		if refused != nil {
			verdict.Err = refused
		}
		return verdict, nil
	}
	b, ok := x.button(on)
	if !ok {
		return decide.Verdict{}, errorclass.ErrMalformedForm
	}
	if x.Act == aggregate.ActApprove {
		if err := on.whole(ctx, v, a, x); err != nil {
			return decide.Verdict{}, err
		}
	}
	click.Withdraws, click.Retries = b.Withdraws, b.Retries
	return c.maker().Decide(ctx, click, b.Act), nil
}

// decided answers a form: it leads back to the page, or shows there why nothing was decided.
func (c *Console) decided(
	w http.ResponseWriter, r *http.Request, v *viewer, on subjectPage, click decide.Click, x wanted, verdict decide.Verdict, done string,
) error {
	log := slog.With(click.Ref.Kind+"_id", click.Ref.ID, "user", v.User, "surface", aggregate.SurfaceConsole)
	switch {
	case verdict.Err == nil:
		log.InfoContext(r.Context(), "decided", "id", click.ID, "act", done, "before", verdict.Empty)
		if !verdict.Empty {
			verdict.Measure(c.Now())
		}
		return c.done(w, r, on.path+click.Ref.ID, "act_"+done)
	case errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Of == nil:
		return verdict.Err
	}
	verdict.Log(r.Context(), log)
	metric.Count(metric.InteractionNoted, 1)
	return on.refused(w, r, v, click.Ref, x, verdict.Err)
}

// notDone is how a page is answered on which nothing was decided, and what was typed.
func notDone(r *http.Request, v *viewer, x wanted, why error) (status int, typed string) {
	status, _, refused := faultOf(why)
	if refused {
		refuse(r, v, why.Error())
	}
	return status, legible.First(x.reason, maxTyped)
}

// openBeginning leads to the message in Slack with which a subject began.
func (c *Console) openBeginning(on subjectPage) page {
	return func(w http.ResponseWriter, r *http.Request, v *viewer) error {
		a, err := c.subject(r, v, on)
		if err != nil {
			return err
		}
		if c.Links == nil {
			return aggregate.ErrNotFound
		}
		message, _ := a.Beginning()
		link, err := c.Links.Permalink(r.Context(), a.Origin().Channel, message)
		if err != nil {
			return fmt.Errorf("where the message is: %w", err)
		}
		http.Redirect(w, r, link, http.StatusSeeOther)
		return nil
	}
}
