package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// AskAgainFor is how long what a request was asked again as is known: within it, every click finds the same request.
const AskAgainFor = 24 * time.Hour

// becauseOfOthers are reasons for which a request is refused because of whose words it was made of.
var becauseOfOthers = []aggregate.Reason{ReasonNoRowWords, ReasonAskersRoute, ReasonManyAskers}

// Alone returns the request as a message of its own: without the thread's words, what it forwards, and the files that
// came with a forward. Who wrote the text, if the requester didn't, still asks. others reports whether anybody's words
// are left out.
func (a *Aggregate) Alone() (r Request, others bool) {
	if a.Request == nil {
		return r, false
	}
	r = *a.Request
	if len(r.Forwarded) > 0 { // then it is the requester's own message, and RouteAskers are those of the forwards
		r.RouteAskers, r.Forwarded, r.Files = nil, nil, nil
	}
	return r, slices.ContainsFunc(a.askersOfAll()[1:], func(user string) bool {
		return !slices.Contains(r.RouteAskers, user) && (a.Prompt() == nil || user != a.Prompt().Author)
	})
}

// AsksAgain reports whether the requester may ask again without the words of others: they are why the request was
// refused, or its gate waits under a rule, and no execution has begun. It stays so once they did, as long as making the
// new request may be tried again.
func (a *Aggregate) AsksAgain() bool {
	if _, others := a.Alone(); !others || a.Execution() != nil {
		return false
	}
	if e := a.Head.Ended; e != nil {
		return e.Reason == ReasonAskedAgain || slices.Contains(becauseOfOthers, e.Reason)
	}
	open, waits := a.OpenGate()
	return waits && open.Terms.Rule != nil
}

// AskAgain withdraws what waits, because the requester asks again without the words of others. Only the requester may.
// It changes nothing if the request is over for that reason, or was refused because of these words, and returns
// ErrNothingToRetry if there is nothing to ask again.
func (a *Aggregate) AskAgain(by aggregate.Actor, _ aggregate.Policy, now time.Time) (aggregate.Change, error) {
	e := a.Head.Ended
	late := e != nil && e.Reason == ReasonAskedAgain && now.Sub(e.At) > AskAgainFor
	switch {
	case by.ID != a.Head.Requester:
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	case e != nil && (late || !a.AsksAgain()):
		return aggregate.Change{}, a.ended()
	case !a.AsksAgain():
		return aggregate.Change{}, ErrNothingToRetry
	case e != nil:
		return aggregate.Change{}, nil
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonAskedAgain})
	return c.ended(a.Task, TaskCancelled, by, ReasonAskedAgain)
}
