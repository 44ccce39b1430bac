package task

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// OpenOnRoute opens the gate of the row with this key, whose content has been made, under the rule and along the route
// that were found for it. It relies on the settings s and on the tenant's rows in on. Nothing changes if the gate is
// open already. If nobody could settle the route of a step's gate, it ends the task, as OpenStepGate does; of any other
// it returns ErrOnRoute. It returns ErrMoved if there is nothing to open.
func (a *Aggregate) OpenOnRoute(run int, key string, o aggregate.Opening, s tenancy.Settings,
	now time.Time, on ...aggregate.Owned) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	row := aggregate.Find(a.gates(), key)
	switch {
	case row == nil:
		return aggregate.Change{}, aggregate.ErrMoved
	case row.gate().Status != aggregate.Generating:
		return aggregate.Change{}, nil
	case !a.openable(row):
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	c.progress()
	c.Owned = append(c.Owned, on...)
	if step, ok := row.(*StepGate); ok {
		e := a.executionOf(step)
		if !a.settles(c, step, o) {
			c.under(s.Rev)
			return a.nobodyChecks(c, e, step)
		}
		c.RelyOn(e, a.inForce(e))
	}
	a.openUnder(c, row, o, s, func(n Gated) {
		if step, ok := n.(*StepGate); ok {
			step.Calls = nil
		}
	})
	return c.done()
}

// openable reports whether a gate that doesn't wait yet has what people are asked about.
func (a *Aggregate) openable(row Gated) bool {
	switch row := row.(type) {
	case *Process:
		return len(row.Steps) > 0 && a.Prompt() != nil && a.Prompt().Status == aggregate.Approved
	case *StepGate:
		e := a.Execution()
		if e == nil || a.executionOf(row) != e || e.Status != ExecutionRunning || row.ArgumentsHash == "" {
			return false
		}
		step := a.NextStep(e)
		return step != nil && step.Order == row.Order // else a call of an earlier attempt turned out to have done it
	case *Again:
		e := a.Execution()
		return e != nil && a.AgainOf(e) == row && e.Status == ExecutionPending
	}
	return false
}

// askersOfAll are the people who never count on a route, the requester first: whoever's messages led to the request or
// were shown with it, and who picked the draft that is the policy in force, also once it is approved.
func (a *Aggregate) askersOfAll() []string {
	others := []string{}
	if a.Request != nil {
		others = append(others, a.Request.RouteAskers...)
	}
	if p := a.Prompt(); p != nil {
		others = append(others, p.Author)
	}
	return append([]string{a.Head.Requester}, Others(a.Head.Requester, others...)...)
}

// Others returns the people among users beside one of them, each once. Apps, which Slack names by ids of bots,
// and Slack itself are none.
func Others(than string, users ...string) (others []string) {
	for _, user := range users {
		if user != "" && user != than && !strings.HasPrefix(user, "B") && user != "USLACKBOT" &&
			!slices.Contains(others, user) {
			others = append(others, user)
		}
	}
	return others
}

// openUnder opens a gate along a route and under these settings, after fill has edited its row.
func (a *Aggregate) openUnder(c *change, row Gated, o aggregate.Opening, s tenancy.Settings, fill func(n Gated)) Gated {
	opened := a.along(c, row, o, func(n Gated) {
		if fill != nil {
			fill(n)
		}
		if _, step := n.(*StepGate); !step { // a step's gate has those of its execution
			n.gate().Terms = a.terms(true, s, c.Now)
		}
	})
	c.under(s.Rev)
	return opened
}

// along opens a gate along the route of an opening, after fill has edited its row, with the entry that says so.
func (a *Aggregate) along(c *change, row Gated, o aggregate.Opening, fill func(n Gated)) (opened Gated) {
	c.moveGate(row, aggregate.PendingApproval, func(n Gated) {
		if fill != nil {
			fill(n)
		}
		g := n.gate()
		g.AskedAt = &c.Now
		if o.Seen != nil {
			seen := *o.Seen
			seen.Round = a.roundOf(n)
			o.Seen = &seen
		}
		under, err := g.Under(o, a.mustAsk(o), func(g *aggregate.Gate) string {
			*n.gate() = *g
			return a.sum(n)
		})
		if err != nil {
			c.Fail(err)
		}
		*g, opened = under, n
	})
	if on, typ, id, about := a.onRoute(opened); opened.gate().Ruled() {
		c.audit(aggregate.System(), on.Routed, typ, id, opened.gate().OpenedDetails(about))
	}
	return opened
}

// mustAsk are users who may not be missing among the askers of an opening.
func (a *Aggregate) mustAsk(o aggregate.Opening) []string {
	if o.Rule.ID == "" {
		return []string{a.Head.Requester}
	}
	return a.askersOfAll()
}
