package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// finishStep writes what became of a call into its row, and into the results of an execution that is over.
func (a *Aggregate) finishStep(c *change, s *StepResult, o Outcome) {
	done := c.moveStep(s, o.Status, func(n *StepResult) {
		n.Result, n.Error, n.ErrorDetail = o.Result, o.Reason, o.Detail
		n.CompletedAt, n.DurationMS = &c.Now, c.Now.Sub(s.StartedAt).Milliseconds()
	})
	a.recordLate(c, done)
	a.carryLate(c, done)
}

// recordCrashedCalls records that calls whose lease is over crashed: a read failed, a
// write's outcome is unknown. While a lease lives, c fails with ErrInFlight.
func (a *Aggregate) recordCrashedCalls(c *change) {
	for _, s := range a.Steps {
		if s.Status != StepRunning {
			continue
		}
		if c.Now.Before(s.Claim.LeaseUntil) {
			c.Fail(aggregate.ErrInFlight)
			return
		}
		o := Outcome{Status: StepFailed, Reason: ReasonInterruptedRead, Detail: s.StepID}
		if s.Access == aggregate.Write {
			o = Outcome{Status: StepUnknown, Reason: ReasonToolUnknown, Detail: s.StepID}
		}
		a.finishStep(c, s, o)
	}
}

// RecordCrashedCalls is for the sweeper: the calls that were in flight when a task was cancelled.
// It returns ErrNotDue when there are none or the execution goes on, ErrInFlight while a lease lives.
func (a *Aggregate) RecordCrashedCalls(now time.Time) (aggregate.Change, error) {
	if e := a.Execution(); e == nil || !e.over() {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	a.recordCrashedCalls(c)
	if len(c.Rows) == 0 {
		c.Fail(aggregate.ErrNotDue)
	}
	return c.done()
}

// recordLate keeps the results of an execution that is over in step with its rows; an execution that goes on writes
// them at its end. The audit log may already say that the write ended otherwise, so another entry corrects that.
func (a *Aggregate) recordLate(c *change, s *StepResult) {
	e := aggregate.Find(a.Executions, ExecutionKey(s.ProcessVersion, s.Attempt))
	switch {
	case e == nil:
		c.RelyOn(&Execution{ProcessVersion: s.ProcessVersion, Attempt: s.Attempt})
		return
	case !e.over():
		c.RelyOn(e)
		return
	}
	n, was := *e, StepRunning
	n.Results = slices.Clone(e.Results)
	i := slices.IndexFunc(n.Results, func(r ResultEntry) bool { return r.StepID == s.StepID })
	if i < 0 {
		i, n.Results = len(n.Results), append(n.Results, ResultEntry{})
	} else {
		was = n.Results[i].Status
	}
	n.Results[i] = s.entry()
	c.Put(&n)
	if s.Access == aggregate.Write {
		c.audit(aggregate.System(), AuditExecutionLate, "execution", e.ID, map[string]any{"attempt": e.Attempt, "step": s.StepID, "status": s.Status, "was": was})
	}
}

// carryLate gives the newest attempt what a call of an earlier one turns out to have done, so that it is not done
// again. Nobody is asked about that step any more. A step that the newest attempt has called itself stays as it is.
func (a *Aggregate) carryLate(c *change, s *StepResult) {
	e := a.Execution()
	if e == nil || e.ProcessVersion != s.ProcessVersion {
		return
	}
	c.RelyOn(&Execution{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1}) // it is the newest
	if s.Status != StepCompleted || e.Attempt <= s.Attempt || e.over() || a.StepOf(e, s.Order) != nil {
		return
	}
	c.Put(s.carried(e))
	n := *e
	g := a.GateOf(e, s.Order)
	if g == nil {
		c.RelyOn(&StepGate{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: s.Order})
	}
	if g != nil && g.Status == aggregate.PendingApproval {
		c.moveGate(g, aggregate.Cancelled, nil)
		n.WaitedMS += c.Now.Sub(g.CreatedAt).Milliseconds()
	}
	c.Put(&n)
}

// carried is a completed step's row in a later attempt.
func (s *StepResult) carried(to *Execution) *StepResult {
	n := *s
	n.Meta, n.Attempt, n.Reused = aggregate.Meta{}, to.Attempt, true
	return &n
}

// lastDone is the newest attempt's row of a step that completed, in any attempt at the process of e; nil when none did.
func (a *Aggregate) lastDone(e *Execution, order int) *StepResult {
	for attempt := e.Attempt; attempt > 0; attempt-- {
		if s := aggregate.Find(a.Steps, StepKey(e.ProcessVersion, attempt, order)); s != nil && s.Status == StepCompleted {
			return s
		}
	}
	return nil
}

// results is what the execution's row keeps of its steps, with rows of this Change over those of the aggregate.
func (a *Aggregate) results(e *Execution, c *change) []ResultEntry {
	out := []ResultEntry{}
	for _, s := range a.StepsOf(e) {
		for _, r := range c.Rows {
			if n, ok := r.(*StepResult); ok && n.Key() == s.Key() {
				s = n
			}
		}
		out = append(out, s.entry())
	}
	return out
}

func (s *StepResult) entry() ResultEntry {
	return ResultEntry{
		StepID: s.StepID, Tool: s.Tool, Status: s.Status, Result: s.Result, DurationMS: s.DurationMS,
		StartedAt: s.StartedAt, CompletedAt: s.CompletedAt, Reused: s.Reused,
	}
}
