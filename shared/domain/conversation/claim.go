package conversation

import (
	"fmt"
	"strconv"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Claim gives the invocation the right to execute the approved action. It checks that the stamped content is unchanged
// and that the conversation's files are those for which it was proposed. It returns ErrSuperseded if the head names
// another run, ErrMoved if there is nothing to execute, ErrInFlight if the action is already claimed, ErrFilesLost,
// ErrAged, ErrBase, and task.ErrNumber if the action needs a number; see Numbering. Calls of tools have a claim of their own; see ClaimCall.
func (a *Aggregate) Claim(run int, invocation string, leaseUntil, now time.Time) (aggregate.Change, error) {
	if x := a.Current(); x != nil && x.ActionType == ToolCall {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	return a.claim(run, invocation, leaseUntil, now)
}

// ClaimCall is Claim for calls of tools. The claim also relies on rows of the tenant: the tool's permission as it was
// read and, for a listed read, the settings.
func (a *Aggregate) ClaimCall(run int, invocation string, leaseUntil, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if x := a.Current(); x == nil || x.ActionType != ToolCall {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c, err := a.claim(run, invocation, leaseUntil, now)
	c.Owned = append(c.Owned, on...)
	return c, err
}

func (a *Aggregate) claim(run int, invocation string, leaseUntil, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || a.Head.Resting {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	x := a.Current()
	switch {
	case x == nil || x.Status == ActionPending:
		return aggregate.Change{}, aggregate.ErrMoved
	case x.Claim != nil:
		return aggregate.Change{}, aggregate.ErrInFlight
	case a.FilesLost():
		return aggregate.Change{}, ErrFilesLost
	case !a.approved(x):
		return aggregate.Change{}, fmt.Errorf("action %s has no approval: %w", x.ActionID, aggregate.ErrConflict)
	case x.aged(now):
		return aggregate.Change{}, ErrAged
	}
	c := a.begin(now)
	if x.Base != c.Conversation.WorkspaceVersion || !c.Conversation.onCommit(x.Pushed) {
		c.Fail(fmt.Errorf("claim action %s: %w", x.ActionID, ErrBase))
	}
	decision := c.number(x)
	claim := func(n *Action) {
		n.DecisionNumber = decision
		n.Claim = &Claim{Invocation: invocation, LeaseUntil: leaseUntil.UTC().Truncate(time.Millisecond)}
		n.BaseVersion = c.Conversation.WorkspaceVersion
	}
	if x.Status == ActionExecuting { // an earlier claim was released before anything began
		n := *x
		claim(&n)
		c.Put(&n)
		if n.BaseVersion != x.BaseVersion || n.DecisionNumber != x.DecisionNumber {
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

// auditStart records who or which rule approved the action, its hash, and the version of the files on which it starts.
func (c *change) auditStart(x *Action) {
	c.auditAction(aggregate.System(), AuditStarted, x, x.withNumber(map[string]any{
		"approved_by": x.ApprovedBy, "by": x.Gate.ApprovedBy, "rule": x.Rule, "base_version": x.BaseVersion,
	}))
}

// approved reports whether row and head prove the approval of exactly this payload.
func (a *Aggregate) approved(x *Action) bool {
	if !a.Head.Stands(x.Key(), &x.Gate, x.sum()) {
		return false
	}
	if len(x.Gate.Route.Stages) == 0 {
		return x.ApprovedBy == ApprovedByAuto && x.mayGoUnasked() && x.Rule != ""
	}
	return x.ApprovedBy == ApprovedByUser
}

// asked returns what is asked at an action under a rule.
func (x *Action) asked() []string {
	return []string{"action", x.SessionID, strconv.Itoa(x.Number), x.Payload.Hash()}
}

// sum returns what the stamps on an action are on: without a rule the payload alone.
func (x *Action) sum() string {
	if !x.Gate.Ruled() {
		return x.Payload.Hash()
	}
	return circulation.Sum(x.Gate.Terms.Rule, x.Gate.Route, x.asked()...)
}

// AskedText returns the text whose hash is stamped at an action under a rule.
func (x *Action) AskedText() string {
	return circulation.AskedText(x.Gate.Terms.Rule, x.Gate.Route, x.asked()...)
}
