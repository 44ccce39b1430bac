package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// finishStep saves a call's outcome in its row, and in the results of the execution if that is over.
func (a *Aggregate) finishStep(c *change, s *StepResult, o Outcome) {
	done := c.moveStep(s, o.Status, func(n *StepResult) {
		n.Result, n.Error, n.ErrorDetail = o.Result, o.Reason, o.Detail
		n.CompletedAt, n.DurationMS = &c.Now, c.Now.Sub(s.StartedAt).Milliseconds()
	})
	a.recordLate(c, done)
	a.carryLate(c, done)
}

// recordCrashedCalls records calls with an expired lease as crashed: a read failed, the outcome of a write is unknown.
// While a lease is live, c fails with ErrInFlight.
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

// RecordCrashedCalls is called by the sweeper for calls that were in flight when the task ended. It returns ErrNotDue
// if there are none or the execution goes on, and ErrInFlight while a lease is live.
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

// recordLate updates the results of an execution that is already over; otherwise results are written when it ends. For
// a write it adds an audit entry, because an earlier entry may state another outcome.
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

// carryLate copies the result of an earlier attempt's call to the newest attempt, so that the step is not done twice.
// The step's open gate is cancelled. A step that the newest attempt has already called is unchanged.
func (a *Aggregate) carryLate(c *change, s *StepResult) {
	e := a.Execution()
	if e == nil || e.ProcessVersion != s.ProcessVersion {
		return
	}
	c.RelyOn(&Execution{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1}) // e must still be the newest
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

// carried returns a copy of a completed step's row for a later attempt.
func (s *StepResult) carried(to *Execution) *StepResult {
	n := *s
	n.Meta, n.Attempt, n.Reused = aggregate.Meta{}, to.Attempt, true
	return &n
}

// lastDone returns the newest completed row of a step among all attempts at the process of e, or nil.
func (a *Aggregate) lastDone(e *Execution, order int) *StepResult {
	for attempt := e.Attempt; attempt > 0; attempt-- {
		if s := aggregate.Find(a.Steps, StepKey(e.ProcessVersion, attempt, order)); s != nil && s.Status == StepCompleted {
			return s
		}
	}
	return nil
}

// results returns the results of an execution's steps, preferring rows that c writes.
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
