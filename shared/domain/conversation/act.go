package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Act does on the action with this id what its hand does along its route; at, form and surface it adds itself. The
// stamp that settles the gate approves the action. Sending it back rejects it, and the agent has a turn for the reason;
// of one that is denied the agent is told and has no turn. by is the hand, whose delegation, row of the organisation
// and place in a channel, or right to put in a successor, the caller has looked up: on are the rows on which that
// depends.
//
// Act returns ErrDecided, ErrNotAllowed, ErrNotFound or a *circulation.Refusal, and ErrConflict if the payload is not
// the one that is asked about. If the same hand does the very same again, nothing changes.
func (a *Aggregate) Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	x, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	act, denied := p.Act(&x.Gate, act, by, c.Now)
	g, refused := x.Gate.Acted(act)
	switch s := x.Gate.Status; {
	case aggregate.Again(refused) && (x.asks() || s == aggregate.Approved && x.Status != ActionCancelled ||
		s == aggregate.Rejected):
		return aggregate.Change{}, nil
	case !x.asks():
		return aggregate.Change{}, x.decided()
	case a.Head.AsOpened(x.Key(), &x.Gate) != nil:
		return aggregate.Change{}, a.Head.AsOpened(x.Key(), &x.Gate)
	case denied != nil:
		return aggregate.Change{}, denied
	case refused != nil:
		return aggregate.Change{}, refused
	case act.Kind == circulation.Stamp && x.deletedBy(a.Inbox) != nil:
		return aggregate.Change{}, errDeleted(id)
	case act.Kind == circulation.Stamp && x.sum() != g.Asked:
		return aggregate.Change{}, fmt.Errorf("action %s has another content than is asked: %w", id,
			aggregate.ErrConflict)
	}
	c.Owned = append(c.Owned, on...)
	return c.acted(x, g, by)
}

// acted writes an action whose gate has one more act, and what follows from it.
func (c *change) acted(x *Action, g aggregate.Gate, by aggregate.Actor) (aggregate.Change, error) {
	switch {
	case g.ApprovedAt != nil:
		if err := c.Head.Settle(x.Key(), &g); err != nil {
			c.Fail(err)
		}
		c.approve(x, g)
	case g.RejectedAt != nil && g.Acts[len(g.Acts)-1].Kind == circulation.Deny:
		c.reject(x, g, ReasonDenied)
	case g.RejectedAt != nil:
		c.reject(x, g, ReasonRejected)
	default:
		c.active()
		n := *x
		n.Gate = g
		c.Put(&n)
	}
	c.auditAction(by, onRoute.Entry(&g), x, g.ActDetails(map[string]any{}))
	return c.done()
}

// open has people asked about a new action along a route, under a rule with the entry that says so. It fails with
// ErrOnRoute for a route that nobody could settle.
func (c *change) open(x *Action, o aggregate.Opening) {
	must := c.of.AskersOf(x)
	if o.Rule.ID != "" {
		must = c.of.RouteAskersOf(x)
	}
	g, err := x.Gate.Under(o, must, func(g *aggregate.Gate) string {
		x.Gate = *g
		return x.sum()
	})
	if err != nil {
		c.Fail(err)
	}
	x.Gate = g
	if c.Head.Opens(x.Key(), &g); g.Ruled() {
		c.auditAction(aggregate.System(), AuditRouted, x, g.OpenedDetails(map[string]any{}))
	}
}
