package task

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// relyOnStage makes the commit of c fail unless the task is still at the stage that the rows show. Rows that were not
// found must still be absent. Rows that c writes need no second condition.
func (a *Aggregate) relyOnStage(c *change) {
	if a.Task == nil {
		c.RelyOn(&Task{})
		return
	}
	c.RelyOn(a.Task)
	prompt, process, e := a.Prompt(), a.Process(), a.Execution()
	if prompt == nil {
		c.RelyOn(&Prompt{Version: 1})
		return
	}
	c.RelyOn(prompt)
	if prompt.Status != aggregate.Approved {
		c.RelyOn(&Prompt{Version: prompt.Version + 1})
		return
	}
	if process == nil {
		c.RelyOn(&Process{Version: 1})
		return
	}
	c.RelyOn(process)
	if process.Status != aggregate.Approved {
		c.RelyOn(&Process{Version: process.Version + 1})
		return
	}
	if e == nil {
		c.RelyOn(&Execution{ProcessVersion: process.Version, Attempt: 1})
		return
	}
	c.RelyOn(e, &Execution{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1})
	a.relyOnStep(c, e)
}

// relyOnStep makes the commit of c fail unless the execution is still at the same step: its row and its gate are as
// they were found, or still absent. Steps before it have completed for good.
func (a *Aggregate) relyOnStep(c *change, e *Execution) {
	process := a.ProcessOf(e)
	if process == nil {
		c.RelyOn(&Process{Version: e.ProcessVersion})
		return
	}
	c.RelyOn(process)
	step := a.NextStep(e)
	if step == nil {
		return
	}
	row, gate := a.StepOf(e, step.Order), a.GateOf(e, step.Order)
	if row == nil {
		row = &StepResult{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order}
	}
	if gate == nil {
		gate = &StepGate{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order}
	}
	c.RelyOn(row, gate)
}

// justDecided reports whether a gate's decision, or the end of a contest, is the last thing that happened:
// whatever failed, failed before it.
func (a *Aggregate) justDecided() bool {
	return slices.ContainsFunc(a.gates(), func(row Gated) bool {
		s := row.gate().Status
		p, ok := row.(*Prompt)
		drafted := ok && s == aggregate.Generating && p.Contest.Over()
		return row.Revision() == a.Head.Rev-a.Head.Aside && (s == aggregate.Approved || s == aggregate.Rejected || drafted) && a.superseding(row) == 0
	})
}
