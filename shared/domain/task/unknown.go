package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// recordCrashedCalls records calls with an expired lease as crashed: a read failed, the outcome of a write is unknown.
// While a lease is live, c fails with ErrInFlight.
func (a *Aggregate) recordCrashedCalls(c *change) {
	for _, s := range a.Steps {
		if s.Status != StepRunning {
			continue
		}
		if s.Claim.Live(c.Now) {
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
// a write it adds an audit entry, because an earlier entry may state another outcome; by is a person who confirmed it.
func (a *Aggregate) recordLate(c *change, s *StepResult, by aggregate.Actor) {
	e := aggregate.Find(a.Executions, ExecutionKey(s.ProcessVersion, s.Attempt))
	switch {
	case e == nil:
		c.RelyOn(&Execution{ProcessVersion: s.ProcessVersion, Attempt: s.Attempt})
		return
	case !e.over():
		c.RelyOn(e)
		return
	}
	if earlier, is := c.Written(e.Key()).(*Execution); is { // another call's
		e = earlier
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
		c.Record(&c.Head, by, AuditExecutionLate, "execution", e.ID,
			map[string]any{"attempt": e.Attempt, "step": s.StepID, "status": s.Status, "was": was})
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

// Confirm is RetryExecution for a person who saw that the writes of unknown outcome arrived: the next attempt
// goes on after them. A late answer to such a call changes nothing any more. It returns ErrNothingToRetry if no outcome
// is unknown, since an answer came meanwhile, or if other steps need what the call returned.
func (a *Aggregate) Confirm(id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	return a.goOn(id, by, p, now, true)
}

// confirmed completes the newest attempt's writes of unknown outcome, and returns the task as it is then.
func (a *Aggregate) confirmed(c *change, by aggregate.Actor) *Aggregate {
	then, e := *a, a.Execution()
	then.Steps = slices.Clone(a.Steps)
	for i, s := range a.Steps {
		if s.ProcessVersion == e.ProcessVersion && s.Attempt == e.Attempt && s.Status == StepUnknown {
			then.Steps[i] = c.moveStep(s, StepCompleted, func(n *StepResult) {
				n.Result, n.Error, n.ErrorDetail = &aggregate.Blob{JSON: "{}", Bytes: len("{}")}, "", ""
				n.CompletedAt, n.ConfirmedBy = &c.Now, by.ID
			})
			a.recordLate(c, then.Steps[i], by)
		}
	}
	if len(a.unsure()) == 0 || !a.goesOn() {
		c.Fail(ErrNothingToRetry)
	}
	return &then
}

// FindStep completes a write of unknown outcome that Ringi itself saw arrive. A write that crashed is one once its
// lease is over. It returns ErrInFlight before that, and ErrMoved if the outcome is known.
func (a *Aggregate) FindStep(run, order int, result aggregate.Blob, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	row := a.StepOf(e, order)
	switch {
	case row == nil || row.Access != aggregate.Write || row.Status != StepUnknown && row.Status != StepRunning:
		return aggregate.Change{}, aggregate.ErrMoved
	case row.Status == StepRunning && row.Claim.Live(now):
		return aggregate.Change{}, aggregate.ErrInFlight
	}
	c := a.begin(now)
	c.Head.Restarts = 0
	c.RelyOn(e)
	c.moveStep(row, StepCompleted, func(n *StepResult) {
		n.Result, n.Error, n.ErrorDetail, n.CompletedAt, n.Found = &result, "", "", &c.Now, true
	})
	c.Record(&c.Head, aggregate.System(), AuditExecutionLate, "execution", e.ID,
		map[string]any{"attempt": e.Attempt, "step": row.StepID, "status": StepCompleted, "was": StepUnknown, "found": true})
	return c.done()
}
