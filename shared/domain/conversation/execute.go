package conversation

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

// Result is what an execution came to.
type Result struct {
	Status      ActionStatus     `json:"status"` // ActionSucceeded or ActionFailed
	Summary     string           `json:"summary,omitempty"`
	Error       aggregate.Reason `json:"error_code,omitempty"`
	ErrorDetail string           `json:"error_detail,omitempty"`
	ExitCode    *int             `json:"exit_code,omitempty"`
	Version     string           `json:"version,omitempty"` // of the workspace that it left; empty: as it was
	Lines       int              `json:"lines"`
	Dropped     int              `json:"dropped"`
	At          time.Time        `json:"at"`
	Held        []string         `json:"held,omitempty"` // the isolation that held, as the sandbox says
	Tail        string           `json:"-"`              // of the output, for the agent
	Gone        bool             `json:"-"`              // the workspace that it was to begin with is no more: the next begins with none
}

const (
	// mostSummary and mostDetail are how much of a result's texts a row keeps, in characters.
	mostSummary = 500
	mostDetail  = 2000
	// mostNotBegun is how often a sandbox is asked for before the action fails: as often as the state machine tries, some
	// two minutes. A network that was idle for weeks is made anew meanwhile.
	mostNotBegun = 9
	// mostHeld and mostHeldText bound what a sandbox says of its isolation.
	mostHeld, mostHeldText = 10, 60
)

// Claim gives invocation the right to execute the approved action: it begins with the workspace as it is now. What
// executes must be what was stamped. It returns ErrSuperseded for a run that is not the head's, ErrMoved when nothing
// is to be executed, and ErrInFlight while another's claim holds.
func (a *Aggregate) Claim(run int, invocation string, leaseUntil, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || a.Head.Resting {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	x := a.Current()
	switch {
	case x == nil || x.Status == ActionPending:
		return aggregate.Change{}, aggregate.ErrMoved
	case x.Claim != nil:
		return aggregate.Change{}, aggregate.ErrInFlight
	case !x.approved():
		return aggregate.Change{}, fmt.Errorf("action %s has no approval: %w", x.ActionID, aggregate.ErrConflict)
	}
	c := a.begin(now)
	claim := func(n *Action) {
		n.Claim = &Claim{Invocation: invocation, LeaseUntil: leaseUntil.UTC().Truncate(time.Millisecond)}
		n.BaseVersion = c.Session.WorkspaceVersion
	}
	if x.Status == ActionExecuting { // nothing had begun when it was claimed before
		n := *x
		claim(&n)
		c.Put(&n)
		if n.BaseVersion != x.BaseVersion {
			c.auditStart(&n)
		}
		return c.done()
	}
	started := c.move(x, ActionExecuting, func(n *Action) { claim(n); n.StartedAt = &c.Now })
	c.to(Executing)
	c.Head.Acting = x.ActionID
	c.active()
	c.auditStart(started)
	return c.done()
}

// auditStart records who, or which rule, approved the action, its hash, and the version of the files it begins with.
func (c *change) auditStart(x *Action) {
	c.auditAction(aggregate.System(), AuditStarted, x, map[string]any{
		"approved_by": x.ApprovedBy, "by": x.Gate.ApprovedBy, "rule": x.Rule, "base_version": x.BaseVersion,
	})
}

// approved reports whether the row says by whom, or by which rule, its very content was approved.
func (x *Action) approved() bool {
	switch x.ApprovedBy {
	case ApprovedByAuto:
		return x.ActionType == TestRun && x.Rule != "" && x.Gate.ApprovedAt != nil
	case ApprovedByUser:
		for _, s := range x.Gate.Stamps {
			if s.Withdrawn == nil && s.Hash != x.Payload.Hash() {
				return false
			}
		}
		return x.Gate.Status == aggregate.Approved && aggregate.Settled(x.Gate.Route, x.Gate.Stamps)
	}
	return false
}

// Release gives a claim back under which nothing began: the action may be claimed again. After several times it fails.
func (a *Aggregate) Release(id, invocation string, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Status != ActionExecuting || x.Claim == nil || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if x.NotBegun+1 >= mostNotBegun {
		return a.failUnbegun(x, ReasonNotBegun, now)
	}
	c := a.begin(now)
	n := *x
	n.Claim = nil
	n.NotBegun++
	c.Put(&n)
	return c.done()
}

// failUnbegun fails an action that executes by its status, but of which nothing was ever begun.
func (a *Aggregate) failUnbegun(x *Action, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	return a.end(x, Result{Status: ActionFailed, Error: why}, now)
}

// failApproved fails an action that was approved and could not be started.
func (a *Aggregate) failApproved(x *Action, why aggregate.Reason, detail string, now time.Time) (aggregate.Change, error) {
	return a.end(x, Result{Status: ActionFailed, Error: why, ErrorDetail: detail}, now)
}

// FailApproved is for whoever finds, before the claim, that an approved action can't be executed: a command that is not
// there, files that the workspace refuses. The claim may be a second one, after one under which nothing began.
func (a *Aggregate) FailApproved(run int, id string, r Result, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if a.Head.Run != run || x.Status != ActionApproved && (x.Status != ActionExecuting || x.Claim != nil) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	r.Status = ActionFailed
	return a.end(x, r, now)
}

// Finish records what the call under invocation's claim came to, whatever became of the run. It decides an action that
// executes, and one whose outcome was unknown; of one that was cancelled it is kept beside the status, and the
// workspace stays as it was. Recording it twice is no change. It returns ErrMoved for another's claim.
func (a *Aggregate) Finish(id, invocation string, r Result, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Claim == nil || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	switch {
	case x.Status == ActionExecuting:
		return a.end(x, r, now)
	case x.Status == ActionFailed && x.Outcome == OutcomeUnknown:
		return a.truth(x, r, now)
	case x.Status == ActionCancelled && x.Late == nil:
		c := a.begin(now)
		n := *x
		r = r.bounded()
		r.At = c.Now
		n.Late, n.Lines, n.Dropped = &r, r.Lines, r.Dropped
		c.Put(&n)
		c.auditAction(aggregate.System(), AuditLate, x, map[string]any{"status": r.Status, "was": x.Status, "version": r.Version})
		return c.done()
	}
	return aggregate.Change{}, nil
}

// end ends an action with a result.
func (a *Aggregate) end(x *Action, r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	c.active()
	c.over(x, r.Status, r.into)
	c.takeVersion(x, r)
	as := AuditCompleted
	if r.Status == ActionFailed {
		as = AuditFailed
	}
	c.auditAction(aggregate.System(), as, x, map[string]any{"error": r.Error, "version": r.Version})
	return c.done()
}

// truth is what an action of unknown outcome turns out to have come to.
func (a *Aggregate) truth(x *Action, r Result, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	is := c.move(x, r.Status, func(n *Action) { r.into(n); n.Outcome = "" })
	c.takeVersion(x, r)
	m := c.say(is.told(c.Session.Locale, r.Tail))
	if c.Session.Status != Closed {
		c.tell(m)
	}
	c.auditAction(aggregate.System(), AuditLate, x, map[string]any{"status": r.Status, "was": OutcomeUnknown, "version": r.Version})
	return c.done()
}

// takeVersion moves the workspace to what the action left, unless it has moved on from where the action began.
func (c *change) takeVersion(x *Action, r Result) {
	if (r.Version != "" || r.Gone) && c.Session.WorkspaceVersion == x.BaseVersion {
		c.Session.WorkspaceVersion = r.Version
	}
}

// into writes a result into the action's row.
func (r Result) into(n *Action) {
	r = r.bounded()
	n.ResultSummary, n.Error, n.ErrorDetail, n.ExitCode = r.Summary, r.Error, r.ErrorDetail, r.ExitCode
	n.Version, n.Lines, n.Dropped, n.Held = r.Version, r.Lines, r.Dropped, r.Held
	n.tail = r.Tail
}

func (r Result) bounded() Result {
	r.Summary, r.ErrorDetail = legible.First(r.Summary, mostSummary), legible.First(r.ErrorDetail, mostDetail)
	r.Held = slices.Clone(r.Held[:min(len(r.Held), mostHeld)])
	for i, s := range r.Held {
		r.Held[i] = legible.First(s, mostHeldText)
	}
	return r
}

// Crashed settles an action whose claim is over without a word of whoever had it. What runs in a sandbox may have done
// anything: its outcome is unknown, and it is never run again. Files that were to be written were not: the workspace
// moves with the result alone. It returns ErrNotDue when there is none, ErrInFlight while the claim holds.
func (a *Aggregate) Crashed(now time.Time) (aggregate.Change, error) {
	x := a.Current()
	switch {
	case x == nil || x.Status != ActionExecuting || x.Claim == nil:
		return aggregate.Change{}, aggregate.ErrNotDue
	case x.leased(now):
		return aggregate.Change{}, aggregate.ErrInFlight
	}
	return a.lost(x, now)
}

func (a *Aggregate) lost(x *Action, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	why, outcome := ReasonUnknown, OutcomeUnknown
	if x.ActionType == CodeGenerate {
		why, outcome = ReasonInterrupted, ""
	}
	c.progress()
	c.over(x, ActionFailed, func(n *Action) { n.Outcome, n.Error = outcome, why })
	c.auditAction(aggregate.System(), AuditFailed, x, map[string]any{"error": why, "outcome": outcome})
	return c.done()
}

const (
	// mostKept is how many actions that are over stay in the conversation's partition.
	mostKept = 20
	// mostLeave is how many of them leave it at once: with each go the copies of its card, and a transaction has a hundred
	// rows.
	mostLeave = 2
	// truthWithin is how long the truth of an action may yet come whose outcome is unknown: run-action ends within 13
	// minutes.
	truthWithin = time.Hour
)

// stays reports whether more may be known of an action than its row says.
func (x *Action) stays(now time.Time) bool {
	return !x.Status.Over() || x.Outcome != "" && (x.CompletedAt == nil || now.Before(x.CompletedAt.Add(truthWithin)))
}

// archive moves the oldest of many actions that are over into a list of their own. One whose outcome is unknown stays
// while the truth may yet come.
func (c *change) archive() {
	n := 0
	for _, x := range c.of.Actions {
		if !x.stays(c.Now) && c.Written(x.Key()) == nil {
			n++
		}
	}
	least := max(mostKept, n-mostLeave)
	for _, x := range c.of.Actions {
		if n <= least {
			return
		}
		if x.stays(c.Now) || c.Written(x.Key()) != nil {
			continue
		}
		old := *x
		if old.ApprovedBy == "" {
			old.DeleteAfter = c.Session.keep(c.Now)
		}
		c.Beside = append(c.Beside, aggregate.Listed{List: ActionsList, Of: c.Session.ID, Row: &old})
		c.Remove(x)
		if card := c.of.Card("CARD#" + string(CardAction) + "#" + ActionKey(x.Number)[len("ACTION#"):]); card != nil {
			c.Remove(card)
		}
		for _, card := range c.of.CopiesOf(x.Key()) {
			c.Remove(card)
		}
		n--
	}
}

// Lost settles an action whose call ended without a result, by whoever made that call: what it did is not known.
func (a *Aggregate) Lost(id, invocation string, now time.Time) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if x.Status != ActionExecuting || x.Claim == nil || x.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.lost(x, now)
}
