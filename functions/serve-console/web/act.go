package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// Within bounds one decision.
const Within = 10 * time.Second

// checkApprovers is reported instead of a retry's success if nobody may approve the next version.
const checkApprovers = "check_approvers"

// SubjectPage is the page on which people decide about one kind of subject.
type SubjectPage struct {
	Path  string // before the subject's id
	RefOf func(r *http.Request, v *Viewer) (aggregate.Ref, error)
	Ends  aggregate.Act // the act that ends the subject
	// Whole refuses an approval if the page could not show everything; such a page has no button to approve.
	Whole func(r *http.Request, v *Viewer, a decide.Subject, x Tried) error
	// Show shows the page as it is now; not is of what the viewer tried in vain.
	Show func(w http.ResponseWriter, r *http.Request, v *Viewer, not Ask) error
}

// Read is the page of a subject.
func (on SubjectPage) Read(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	return on.Show(w, r, v, Ask{})
}

// Tried is the act that a form asks for. It has the hash of the content that the page showed, and the stage; the
// decision is refused if the content has changed, or another stage is asked.
type Tried struct {
	aggregate.Offer
	stage  int // of a gate under a rule; 0: the page showed none
	reason string
}

func triedBy(r *http.Request) Tried {
	stage, _ := strconv.Atoi(r.PostFormValue("stage"))
	return Tried{
		stage: stage,
		Offer: aggregate.Offer{Act: aggregate.Act(r.PostFormValue("act")), ID: r.PostFormValue("id"),
			Kind: aggregate.CardType(r.PostFormValue("kind")), Hash: r.PostFormValue("hash")},
		reason: strings.ReplaceAll(r.PostFormValue("reason"), "\r\n", "\n"),
	}
}

// button returns the card's button for the same act. ok is false if the act doesn't exist or isn't on this page. A
// rejection whose subject is gone has no kind; it is still ok, so that the decision refuses it and the page shows the
// typed reason again.
func (x Tried) button(on SubjectPage) (b decide.Button, ok bool) {
	if kind := circulation.Doing(string(x.Act)); kind != "" {
		return decide.Button{Act: decide.Shown(x.Kind, x.Hash, decide.Does(kind, x.reason))},
			!kind.Does().Ends || x.Kind == "" || store.Asks(x.Kind)
	}
	if x.Act == on.Ends {
		return decide.End(), true
	}
	b, ok = decide.Buttons()[string(x.Act)]
	return b, ok
}

// Loaded is a subject that the viewer may read, with what its page needs besides.
type Loaded struct {
	Of       decide.Subject
	Settings tenancy.Settings
	log      store.Page[aggregate.AuditEntry] // the newest entries about it
}

func (c *Site) read(r *http.Request, v *Viewer, on SubjectPage) (l Loaded, err error) {
	ref, err := on.RefOf(r, v)
	if err != nil {
		return l, err
	}
	x, err := c.Store.KindStore.Store.Load(r.Context(), ref)
	if err != nil {
		return l, err
	}
	var asks bool
	if l.Of, asks = x.(decide.Subject); !asks {
		return l, fmt.Errorf("%s asks nobody: %w", ref, aggregate.ErrNotFound)
	}
	l.Settings, err = c.Readable(r.Context(), v, l.Of)
	return l, err
}

// Load returns the subject in the address with what its page needs, if the viewer may read it.
func (c *Site) Load(r *http.Request, v *Viewer, on SubjectPage) (Loaded, error) {
	l, err := c.read(r, v, on)
	if err == nil {
		ref := l.Of.Ref()
		l.log, err = c.Store.Audit(r.Context(), ref.Tenant, store.AuditFilter{Resource: ref.ID}, "", mostEntries)
	}
	return l, err
}

// Of returns what reads the subject in the address of a page, if the viewer may.
func (c *Site) Of(on SubjectPage) func(*http.Request, *Viewer) (decide.Subject, error) {
	return func(r *http.Request, v *Viewer) (decide.Subject, error) {
		l, err := c.read(r, v, on)
		return l.Of, err
	}
}

// Act makes the same decision as a click on the card. First it checks that the viewer may read the subject, since the
// decision itself doesn't: some acts are open to any member, and repeating an earlier decision succeeds.
func (c *Site) Act(on SubjectPage) Page {
	return Of(c.Of(on), func(w http.ResponseWriter, r *http.Request, v *Viewer, a decide.Subject) error {
		x := triedBy(r)
		x.Kind = cmp.Or(x.Kind, a.Asked(x.ID).Kind)
		b, ok := x.button(on)
		if !ok {
			return explain.ErrMalformedForm
		}
		ctx, cancel := context.WithTimeout(r.Context(), Within)
		defer cancel()
		if x.Act == aggregate.ActApprove {
			if err := on.Whole(r.WithContext(ctx), v, a, x); err != nil {
				return err
			}
		}
		click := c.Click(v, a.Ref(), cmp.Or(x.ID, a.Ref().ID))
		click.Stage, click.Withdraws, click.Retries = x.stage, b.Withdraws, b.Retries
		verdict := c.Maker().Decide(ctx, click, b.Act)
		done := string(x.Act)
		if t, is := verdict.Task(); is && x.Act == task.ActRetryGeneration && t.Head.Undecidable() {
			done = checkApprovers
		}
		return c.Decided(w, r, v, on, click, x, verdict, done)
	})
}

// Click returns a click by the viewer.
func (c *Site) Click(v *Viewer, ref aggregate.Ref, id string) decide.Click {
	return decide.Click{Ref: ref, ID: id, Want: people.Want{User: v.User, Surface: aggregate.SurfaceConsole}}
}

func (c *Site) Maker() decide.Maker {
	return decide.Maker{Store: c.Store.KindStore.Store, People: c.People, Results: c.Results, Now: c.Now}
}

// Decided answers a form: it redirects to the page, or shows there why nothing was decided.
func (c *Site) Decided(w http.ResponseWriter, r *http.Request, v *Viewer, on SubjectPage, click decide.Click, x Tried,
	verdict decide.Verdict, done string) error {
	log := slog.With(click.Ref.Kind+"_id", click.Ref.ID, "user", v.User, "surface", aggregate.SurfaceConsole)
	switch {
	case verdict.Err == nil:
		log.InfoContext(r.Context(), "decided", "id", click.ID, "act", done, "before", verdict.Empty)
		return c.Done(w, r, on.Path+click.Ref.ID, "act_"+done)
	case errors.Is(verdict.Err, aggregate.ErrNotFound) && verdict.Subject == nil:
		return verdict.Err
	}
	verdict.Log(r.Context(), log)
	return on.Show(w, r, v, refused(r, v, x, verdict.Err))
}

// OpenBeginning redirects to the Slack message with which a subject began.
func (c *Site) OpenBeginning(on SubjectPage) Page {
	return Of(c.Of(on), func(w http.ResponseWriter, r *http.Request, v *Viewer, a decide.Subject) error {
		message, _ := a.Beginning()
		link, err := c.Links.Permalink(r.Context(), a.Origin().Channel, message)
		if err != nil {
			return fmt.Errorf("where the message is: %w", err)
		}
		http.Redirect(w, r, link, http.StatusSeeOther)
		return nil
	})
}

// RefOf returns what reads from an address its subject, always within the viewer's workspace.
func RefOf(valid func(id string) bool, of func(tenant, id string) aggregate.Ref) func(
	*http.Request, *Viewer) (aggregate.Ref, error) {
	return func(r *http.Request, v *Viewer) (aggregate.Ref, error) {
		id := r.PathValue("id")
		if !valid(id) {
			return aggregate.Ref{}, ErrNoID
		}
		return of(v.Tenant, id), nil
	}
}
