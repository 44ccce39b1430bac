package task

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// Refusal is why a tenant's rules refuse a request.
type Refusal struct {
	Why    aggregate.Reason // one of byRule
	Rule   circulation.Rule
	Detail string // what the rule says, or the name of the stage that finds nobody
	Lacks  string // of ReasonNoRoute, a code; of too few hands also how many are needed and found
	Of     string // the account of whom nobody is found above
}

// Found is what a tenant's rules say about a gate: one of Opening, LookUp and Refused.
type Found struct {
	Opening *aggregate.Opening
	LookUp  *circulation.Rule // whose people only Slack or the organisation knows
	Refused *Refusal
}

// UnderRules reports whether the tenant's rules decide who is asked about the request's steps.
func (a *Aggregate) UnderRules(s tenancy.Settings) bool {
	return s.RulesRev > 0 && a.Request != nil
}

// AskersOfSteps returns whose own request the steps are.
func (a *Aggregate) AskersOfSteps() (people []circulation.Person) {
	for _, user := range a.askersOfAll() {
		people = append(people, circulation.Person{User: user})
	}
	return people
}

// FinishProcessUnder is FinishProcess for steps that are under a rule whose route must be looked up: they are saved,
// and OpenOnRoute opens their gate.
func (a *Aggregate) FinishProcessUnder(run int, steps []Step, remarks string, rule circulation.Rule,
	s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	p := a.Process()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || p.Terms.Rule != nil {
		return aggregate.Change{}, err
	}
	if err := checkSteps(steps); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	c.Head.TryingFrom = &c.Now // to look people up
	n := *p
	n.Steps, n.Remarks, n.Terms = steps, remarks, a.terms(s, c.Now)
	n.Terms.Rule, n.Terms.DecideBy = &rule, nil // nobody is asked yet
	c.Put(&n)
	c.Made = &n
	c.under(s.Rev)
	return c.done()
}

// Unrouted returns the gate whose content is made and whose route must be looked up, or nil.
func (a *Aggregate) Unrouted() Gated {
	if a.Head.Ended != nil {
		return nil
	}
	for _, row := range a.gates() {
		if row.gate().Status == aggregate.Generating && row.gate().Terms.Rule != nil && a.openable(row) {
			return row
		}
	}
	return nil
}

// StepsAsked returns the steps about whose calls the gate of a version or an attempt asks.
func (a *Aggregate) StepsAsked(row Gated) []Step {
	switch row := row.(type) {
	case *Process:
		return row.Steps
	}
	return nil
}

// WaitForRoute pauses the run until it is asked again whom the gate of the row with this key asks. Nothing changes if
// the gate has opened.
func (a *Aggregate) WaitForRoute(run int, key string, until, now time.Time) (aggregate.Change, error) {
	row := a.Unrouted()
	if err := a.working(run); err != nil || row == nil || row.Key() != key || a.Head.Parked != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	a.relyOnStage(c)
	c.RelyOn(row)
	until = until.UTC().Truncate(time.Millisecond)
	c.Head.PausedUntil, c.Head.PausedFor = &until, ""
	return c.done()
}

// OpenUnruled opens the gate of a version that waits for a route, as FinishProcess does, because the tenant has no
// rules any more. Nothing changes if the gate has opened.
func (a *Aggregate) OpenUnruled(run int, key string, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	p, ok := a.Unrouted().(*Process)
	if err := a.working(run); err != nil || !ok || p.Key() != key {
		return aggregate.Change{}, err
	}
	return a.openGate(p, a.asksForSteps(s), s, now, func(Gated) {})
}

// RefuseByRule ends a request that the rules refuse, whether it was accepted or not, or runs already. It relies on the
// settings s and on the tenant's rows in on.
func (a *Aggregate) RefuseByRule(run int, r Refusal, s tenancy.Settings, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.under(s.Rev)
	c.Owned = append(c.Owned, on...)
	return a.stopByRule(c, r)
}

// stopByRule ends a request that the rules refuse. As after a refused step, what was done stays.
func (a *Aggregate) stopByRule(c *change, r Refusal) (aggregate.Change, error) {
	why := r.Why
	if e := a.Execution(); e != nil && !e.over() {
		why = r.whileRunning()
		a.cancelExecution(c, e, aggregate.System())
	}
	about := map[string]any{"reason": why, "rule": r.Rule}
	if r.Lacks != "" {
		about["lacks"] = r.Lacks
	}
	switch {
	case a.Waiting():
		c.end(nil, TaskRefused, aggregate.System(), why)
		about["requester"] = a.Head.Requester
		c.audit(aggregate.System(), AuditTaskRefused, "task", a.Head.TaskID, about)
	case a.Task != nil:
		c.end(a.Task, TaskCancelled, aggregate.System(), why)
		c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, about)
	default:
		return aggregate.Change{}, nil
	}
	c.Head.Ended.Detail = r.detail()
	return c.done()
}

// whileRunning is Why of a request whose execution is stopped by it.
func (r *Refusal) whileRunning() aggregate.Reason {
	switch r.Why {
	case ReasonRuleRefuses:
		return ReasonStepRefused
	case ReasonNoRoute:
		return ReasonStepNoRoute
	}
	return r.Why
}

// byRule are the reasons for which rules refuse a request.
var byRule = []aggregate.Reason{
	ReasonRuleRefuses, ReasonNoRoute, ReasonNoDepartment, ReasonNoRow, ReasonNoRowOther,
	ReasonUnknownPost, ReasonStepRefused, ReasonStepNoRoute,
}

// ByRun reports whether a run ended the task at its own commit: with a plain reply, or because the rules refuse it.
func (e *Ended) ByRun() bool {
	return e.As == TaskAnswered || slices.Contains(byRule, e.Reason)
}

// detail is kept of how the task ended: of a refusal the rule's name and what it says, on two lines; of a stage that
// finds nobody its name, why, above whom nobody is, and the rule's name, on four.
func (r *Refusal) detail() string {
	switch {
	case r.Why == ReasonRuleRefuses:
		return r.Rule.Name + "\n" + r.Detail
	case r.Why == ReasonNoRoute && r.Lacks != "", r.Of != "":
		return strings.Join([]string{r.Detail, r.Lacks, r.Of, r.Rule.Name}, "\n")
	}
	return r.Detail
}
