package task

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// Refill is a form as one of its askers filled it in again, with its text and all its files.
type Refill struct {
	Content string
	Matter  *Matter
	Files   []aggregate.SharedFile
}

// Returned returns the form's steps that were given back and wait for one of their askers, without end, or nil.
func (a *Aggregate) Returned() *Process {
	p, steps := a.Prompt(), a.Process()
	if a.Head.Ended != nil || p == nil || p.Status != aggregate.Approved || steps == nil ||
		!a.GivenBack(steps.ID) {
		return nil
	}
	return steps
}

// GivenBack reports whether what the gate with this id asks about is a form that was sent back: no model makes another
// version, one of the askers fills it in again.
func (a *Aggregate) GivenBack(id string) bool {
	g := a.Asked(id).Gate
	return g != nil && g.SentBack() && a.Follows(id) == FollowsAsker
}

// RefilledBy returns who filled the form in again after the steps with this key were given back; "" if nobody did.
func (a *Aggregate) RefilledBy(key string) (user string, version int) {
	if p := aggregate.Find(a.Processes, key); p != nil {
		if n := a.filledAfter(p); n != nil {
			return n.EditedBy, p.Version + 1
		}
	}
	return "", 0
}

// Withdrawn reports whether a person ended the request.
func (a *Aggregate) Withdrawn() bool {
	return a.Head.Ended != nil && a.Head.Ended.Reason == ReasonByPerson
}

// AsksFor returns nil if the steps with this id are this person's own request, ErrNotFound or ErrNotAllowed.
func (a *Aggregate) AsksFor(id string, by aggregate.Actor, p aggregate.Policy) error {
	steps, is := a.gateOf(id).(*Process)
	switch {
	case !is:
		return aggregate.ErrNotFound
	case by.Type != aggregate.ActorUser || !steps.IsAsker(by.ID):
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	}
	return p.Request(by)
}

// MayRefill returns nil if the steps with this id wait until this person fills in their form again. It returns the
// errors of AsksFor, ErrDecided, ErrNotLatest or ErrMoved.
func (a *Aggregate) MayRefill(id string, by aggregate.Actor, p aggregate.Policy) error {
	if err := a.AsksFor(id, by, p); err != nil {
		return err
	}
	switch row := a.gateOf(id); {
	case a.Head.Ended != nil:
		return a.ended()
	case a.superseding(row) > 0:
		return aggregate.ErrNotLatest{Latest: a.superseding(row)}
	case a.Returned() == nil || a.Returned().ID != id:
		return aggregate.ErrMoved
	}
	return nil
}

// RefilledBefore returns aggregate.ErrDecided with whoever filled in the form of the steps with this id before; nil if
// nobody did.
func (a *Aggregate) RefilledBefore(id string) error {
	if p, is := a.gateOf(id).(*Process); is {
		if n := a.filledAfter(p); n != nil {
			return aggregate.ErrDecided{Status: DecidedRefilled, By: n.EditedBy, At: n.CreatedAt}
		}
	}
	return nil
}

// DecidedRefilled is the status of steps whose form an asker filled in again, for whoever else does so later.
const DecidedRefilled = "refilled"

// Refill makes the next version of a form that was given back, in a new run and with a new route: no stamp carries
// over. It is the next policy, from which the next steps are made. A second click with the same content changes
// nothing. It returns the errors of MayRefill, or Problem.
func (a *Aggregate) Refill(id string, e Refill, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	row, is := a.gateOf(id).(*Process)
	if is && a.refilledSo(row, e, by) {
		return aggregate.Change{}, nil
	}
	if err := a.MayRefill(id, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if len(e.Files) > MaxAttached {
		return aggregate.Change{}, aggregate.Problem{Field: "files", Code: fmt.Sprintf("must be at most %d", MaxAttached)}
	}
	c := a.begin(now)
	c.progress()
	c.Head.Run++
	c.Made = c.fillIn(a, row, e, by)
	return c.done()
}

// refilledSo reports whether a form that was given back became what this person makes of it.
func (a *Aggregate) refilledSo(was *Process, e Refill, by aggregate.Actor) bool {
	n := a.filledAfter(was)
	return n != nil && n.EditedBy == by.ID && n.Content == e.Content && // which says all that was typed
		slices.EqualFunc(a.filesOf(n), e.Files, func(x, y aggregate.SharedFile) bool { return x.ID == y.ID })
}

// Refilled returns the newest policy if one of its askers filled in its form again; nil otherwise.
func (a *Aggregate) Refilled() *Prompt {
	if p := a.Prompt(); p != nil && p.EditedBy != "" {
		return p
	}
	return nil
}
