package conversation

import (
	"maps"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Numbering returns the conversation for a claim that gives its action the next number of a series, if it needs one.
func (a *Aggregate) Numbering(of task.Series) *Aggregate {
	n := *a
	n.Last = of
	return &n
}

// Unnumbered reports whether the approved action gets a number when it is claimed, and when it was settled: the day says
// of which fiscal year.
func (a *Aggregate) Unnumbered() (settled time.Time, ok bool) {
	if x := a.Current(); x != nil && x.unnumbered() {
		return *x.Gate.ApprovedAt, true
	}
	return time.Time{}, false
}

func (x *Action) unnumbered() bool {
	rule := x.Gate.Terms.Rule
	return x.DecisionNumber == "" && x.Claim == nil && x.ApprovedBy == ApprovedByUser && rule != nil && rule.Numbered &&
		x.Gate.ApprovedAt != nil
}

// number returns the number of an action that is claimed. One that needs a number and has none takes the next of the
// series; without one c fails with what the series lacks.
func (c *change) number(x *Action) string {
	if !x.unnumbered() {
		return x.DecisionNumber
	}
	of := c.of.Last
	if err := of.Lacks(); err != nil {
		c.Fail(err)
		return ""
	}
	n := of.Next()
	n.SessionID, n.ActionID, n.GateKey, n.Rule, n.Round = c.Head.SessionID, x.ActionID, x.Key(), *x.Gate.Terms.Rule, 1
	n.SettledAt, n.BegunAt = *x.Gate.ApprovedAt, c.Now
	c.Beside = append(c.Beside, aggregate.Listed{List: task.NumbersList, Of: of.Of(), Row: &n, Err: task.ErrNumber})
	return n.String()
}

// withNumber returns what an audit entry says with the action's number, if it has one.
func (x *Action) withNumber(details map[string]any) map[string]any {
	if x.DecisionNumber == "" {
		return details
	}
	details = maps.Clone(details)
	details["number"] = x.DecisionNumber
	return details
}
