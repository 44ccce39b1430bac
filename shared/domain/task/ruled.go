package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// Refusal is why a tenant's rules refuse a request.
type Refusal struct {
	Why    aggregate.Reason // ReasonRuleRefuses or ReasonNoRoute
	Rule   circulation.Rule
	Detail string // what the rule says, or the name of the stage that finds nobody
	Lacks  string // of ReasonNoRoute, a code
}

// UnderRules reports whether the tenant's rules decide who is asked about the request's steps. In direct messages the
// settings do.
func (a *Aggregate) UnderRules(s tenancy.Settings) bool {
	return s.RulesRev > 0 && a.Request != nil && a.Request.ChannelType != "im"
}

// AskersOfSteps returns whose own request the steps are.
func (a *Aggregate) AskersOfSteps() (people []circulation.Person) {
	for _, user := range a.askersOfAll() {
		people = append(people, circulation.Person{User: user})
	}
	return people
}

// FinishProcessUnder is FinishProcess for steps that are under a rule whose route must be looked up: they are saved, and
// OpenOnRoute opens their gate.
func (a *Aggregate) FinishProcessUnder(run int, steps []Step, remarks string, rule circulation.Rule,
	s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	p := a.Process()
	if err := a.working(run); err != nil || p == nil || p.Status != aggregate.Generating || len(p.Steps) > 0 {
		return aggregate.Change{}, err
	}
	if err := checkSteps(steps); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	n := *p
	n.Steps, n.Remarks, n.Terms = steps, remarks, a.terms(true, s, c.Now)
	n.Terms.Rule = &rule
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
		_, again := row.(*Again) // its rule is looked up, too
		if row.gate().Status == aggregate.Generating && (again || row.gate().Terms.Rule != nil) && a.openable(row) {
			return row
		}
	}
	return nil
}

// RefuseByRule ends a request that the rules refuse, whether it was accepted or not. It relies on the settings s.
func (a *Aggregate) RefuseByRule(run int, r Refusal, s tenancy.Settings, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	about := map[string]any{"reason": r.Why, "rule": r.Rule}
	if r.Lacks != "" {
		about["lacks"] = r.Lacks
	}
	switch action := AuditTaskCancelled; {
	case a.Waiting():
		c.end(nil, TaskRefused, aggregate.System(), r.Why)
		action = AuditTaskRefused
		about["requester"] = a.Head.Requester
		c.audit(aggregate.System(), action, "task", a.Head.TaskID, about)
	case a.Task != nil:
		c.end(a.Task, TaskCancelled, aggregate.System(), r.Why)
		c.audit(aggregate.System(), action, "task", a.Head.TaskID, about)
	default:
		return aggregate.Change{}, nil
	}
	c.Head.Ended.Detail = r.detail()
	c.under(s.Rev)
	return c.done()
}

// ByRun reports whether a run ended the task at its own commit: with a plain reply, or because the rules refuse it.
func (e *Ended) ByRun() bool {
	switch e.Reason {
	case ReasonRuleRefuses, ReasonNoRoute, ReasonNoDepartment:
		return true
	}
	return e.As == TaskAnswered
}

// detail is kept of how the task ended: of a refusal the rule's name and what it says, on two lines.
func (r *Refusal) detail() string {
	if r.Why == ReasonRuleRefuses {
		return r.Rule.Name + "\n" + r.Detail
	}
	return r.Detail
}
