package task

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// UnderRules reports whether the tenant's rules decide who is asked about the request's steps.
func (a *Aggregate) UnderRules(s tenancy.Settings) bool {
	return s.RulesRev > 0 && a.Request != nil
}

// Unopened returns the gate whose content is made and whose people must be looked up before it opens, or nil.
func (a *Aggregate) Unopened() Gated {
	if a.Head.Ended != nil {
		return nil
	}
	return aggregate.First(a.gates(), func(row Gated) bool {
		return row.gate().Status == aggregate.Generating && a.openable(row)
	})
}

// PutOff pauses the run until it is asked again whom the gate of the row with this key asks. Nothing changes if the
// gate has opened.
func (a *Aggregate) PutOff(run int, key string, until, now time.Time) (aggregate.Change, error) {
	row := a.Unopened()
	if err := a.working(run); err != nil || row == nil || row.Key() != key || a.Head.Parked != nil {
		return aggregate.Change{}, err
	}
	c := a.pause(until, now)
	c.RelyOn(row)
	return c.done()
}

// RefuseByRule ends a task whose gate doesn't open because the rules refuse what it asks. As after a refused step, what
// was done stays. It relies on the settings s and on the tenant's rows in on.
func (a *Aggregate) RefuseByRule(run int, r aggregate.Refusal, s tenancy.Settings, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	if err := a.working(run); err != nil || a.Task == nil {
		return aggregate.Change{}, err
	}
	c, detail := a.begin(now), detailOf(&r)
	c.Owned = append(c.Owned, tenancy.SettingsAt(s.Rev))
	c.Owned = append(c.Owned, on...)
	if e := a.Execution(); e != nil && !e.over() {
		stopped := map[aggregate.Reason]aggregate.Reason{ReasonRuleRefuses: ReasonStepRefused,
			ReasonNoRoute: ReasonStepNoRoute}
		r.Why = cmp.Or(stopped[r.Why], r.Why)
		a.cancelExecution(c, e, aggregate.System())
	}
	return c.refused(a.Task, r.Why, detail, r.Details())
}

// refused ends a task about which nobody is asked. Its row has no such status: nobody cancelled it all the same.
func (c *change) refused(t *Task, why aggregate.Reason, detail string, about map[string]any) (aggregate.Change, error) {
	c.end(t, TaskCancelled, aggregate.System(), why)
	c.Head.Ended.As, c.Head.Ended.Detail = TaskRefused, detail
	c.audit(aggregate.System(), AuditTaskRefused, "task", c.Head.TaskID, about)
	return c.done()
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

// detailOf is kept of how the task ended: of a refusal the rule's name and what it says, on two lines; of a stage that
// finds nobody its name, why, above whom nobody is, and the rule's name, on four.
func detailOf(r *aggregate.Refusal) string {
	switch {
	case r.Why == ReasonRuleRefuses:
		return r.Rule.Name + "\n" + r.Detail
	case r.Why == ReasonNoRoute && r.Lacks != "", r.Of != "":
		return strings.Join([]string{r.Detail, r.Lacks, r.Of, r.Rule.Name}, "\n")
	}
	return r.Detail
}
