package task

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// AskAgainFor is how long a click tries again to make the new request, if the first made none.
const AskAgainFor = 24 * time.Hour

// becauseOfOthers are reasons for which a request is refused because of whose words it was made of.
var becauseOfOthers = []aggregate.Reason{ReasonNoRowWords, ReasonAskersRoute, ReasonManyAskers}

// Alone returns the request as a message of its own, as its message says it by now: without the thread's words, what it
// forwards, and others' files. Who wrote the text, if the requester didn't, still asks. others reports whether
// anybody's words are left out, and anything is left.
func (a *Aggregate) Alone() (r Request, others bool) {
	if a.Request == nil {
		return r, false
	}
	r = *a.Request
	if c := a.Corrected(); c != nil && c.Author == "" && !c.Deleted {
		r = *c.of(r)
	}
	said := func(user string) bool { return user == r.User || slices.Contains(r.Authors, user) }
	forwards := len(r.Forwarded) > 0
	r.Files = slices.DeleteFunc(slices.Clone(r.Files), func(f aggregate.SharedFile) bool {
		return f.User == "" && forwards || f.User != "" && !said(f.User)
	})
	if forwards {
		r.MoreFiles = 0
	}
	r.Meta, r.EventID, r.SaidAt, r.ByAgent = aggregate.Meta{}, "", r.Written(), a.Spoken()
	r.RouteAskers, r.Forwarded, r.Thread = nil, nil, nil
	r.Asked()
	left := strings.TrimSpace(r.Text) != "" || len(r.Files) > 0
	return r, left && slices.ContainsFunc(a.askersOfAll()[1:], func(user string) bool {
		return !slices.Contains(r.RouteAskers, user) && (a.Prompt() == nil || user != a.Prompt().Author)
	})
}

// AsksAgain reports whether the requester may ask again without the words of others: they are why the request was
// refused, or its gate waits under a rule, and no execution has begun. It stays so once they did: the button leads to
// the new request.
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
	late := e != nil && e.Again == nil && e.Reason == ReasonAskedAgain && now.Sub(e.At) > AskAgainFor
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

// AskedAgainAt records where the requester asked again, so that every later click leads there.
func (a *Aggregate) AskedAgainAt(at Place, now time.Time) (aggregate.Change, error) {
	if a.Head.Ended == nil || a.Head.Ended.Again != nil {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	ended := *a.Head.Ended
	ended.Again = &at
	c.Head.Ended = &ended
	return c.done()
}
