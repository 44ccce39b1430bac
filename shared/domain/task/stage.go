package task

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// relyOnStage makes c's commit fail if the task has left the stage that the rows show. Rows that were not found must
// still be absent.
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
	a.relyOnAgain(c, e)
	a.relyOnStep(c, e)
}

// relyOnStep makes c's commit fail if the execution has left its current step: the step's row and its gate must be
// unchanged or still absent. Earlier steps have completed and can't change.
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

// justDecided reports whether the latest change was a gate's decision or a contest's end. A failure then belongs to a
// run from before it.
func (a *Aggregate) justDecided() bool {
	return slices.ContainsFunc(a.gates(), func(row Gated) bool {
		s := row.gate().Status
		p, ok := row.(*Prompt)
		drafted := ok && s == aggregate.Generating && p.Contest.Over()
		return row.Revision() == a.Head.Rev && (s == aggregate.Approved || s == aggregate.Rejected || drafted) &&
			a.superseding(row) == 0
	})
}
