package task

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// ApproveUnasked approves the gate with this id, about which nobody is asked, as the system. It returns ErrDecided,
// ErrNotLatest, ErrNotAllowed or ErrNotFound. What follows is what follows from Act.
func (a *Aggregate) ApproveUnasked(id string, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	c, g := a.begin(now), *row.gate()
	if g.Status == aggregate.Approved && g.ApprovedBy == "" {
		return aggregate.Change{}, nil
	}
	if err := a.mustWait(row); err != nil {
		return aggregate.Change{}, err
	}
	if g, err = g.Unasked(c.Now); err != nil {
		return aggregate.Change{}, err
	}
	return a.acted(c, row, g, aggregate.System())
}

// Askers returns the people whose own request is waiting: the requester, and the person who picked another draft.
func (a *Aggregate) Askers() []string {
	if p := a.Prompt(); p != nil && p.Status == aggregate.PendingApproval && p.Author != "" {
		return []string{a.Head.Requester, p.Author}
	}
	return []string{a.Head.Requester}
}

// approved adds what follows from a settled gate to the Change.
func (a *Aggregate) approved(c *change, row Gated) {
	switch row := row.(type) {
	case *Prompt:
		if a.Process() == nil {
			c.beginProcess(row, 1, 0)
		}
	case *Process:
		prompt := a.Prompt()
		if prompt == nil || prompt.Status != aggregate.Approved {
			c.Fail(aggregate.ErrConflict)
			return
		}
		c.moveTask(a.Task, TaskRunning)
		e := &Execution{
			TaskID: a.Head.TaskID, ProcessID: row.ID, ProcessVersion: row.Version, Attempt: 1, Status: ExecutionPending,
			Results: []ResultEntry{}, CreatedAt: c.Now, Terms: row.Terms,
		}
		e.ID = a.rowID(e.Key(), c.Now)
		c.Put(e)
		c.card(a, CardExecution, "EXECUTION")
		c.RelyOn(prompt)
	case *StepGate:
		e := *a.executionOf(row)
		e.WaitedMS += c.Now.Sub(row.CreatedAt).Milliseconds()
		c.Put(&e)
	case *Again:
		c.RelyOn(a.attemptOf(row))
	}
}

// afterRejection ends the task if the maximum number of versions has been generated.
func (a *Aggregate) afterRejection(c *change, row Gated) (aggregate.Change, error) {
	if !a.Last(row) {
		return c.done()
	}
	c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonMaxVersions, "max_versions": row.gate().Terms.MaxVersions})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonMaxVersions)
}

// Undecided returns nil while the gate with this id waits, under a rule or not, else the error for whoever tries to
// decide now: ErrDecided, ErrNotLatest, ErrSuperseded or ErrNotFound.
func (a *Aggregate) Undecided(id string) error {
	row, err := a.decidable(id)
	if err != nil {
		return err
	}
	return a.mustWait(row)
}

// mustWait returns an error unless the gate waits, as it opened.
func (a *Aggregate) mustWait(row Gated) error {
	g := row.gate()
	if err := g.Decided(); err != nil {
		return a.replaced(g, err)
	}
	switch {
	case a.Head.Ended != nil:
		return a.ended()
	case g.Status == aggregate.Expired || g.Status == aggregate.Cancelled:
		return aggregate.ErrConflict // the head was read before the commit that ended the task
	case g.Status != aggregate.PendingApproval:
		return aggregate.ErrNotFound // still generating: no button was shown yet
	}
	return a.Head.AsOpened(row.Key(), g)
}

// ended returns ErrDecided for a task that is over.
func (a *Aggregate) ended() error {
	e := a.Head.Ended
	return aggregate.ErrDecided{Status: string(e.As), By: e.By, At: e.At, Reason: e.Reason}
}

// decidable returns the gate with this id. It returns ErrNotLatest for a waiting version that is not the newest,
// ErrEdited for one that closed because its request is drafted anew, and ErrSuperseded for a step that an earlier call
// turned out to have done.
func (a *Aggregate) decidable(id string) (Gated, error) {
	row := a.gateOf(id)
	if row == nil {
		return nil, aggregate.ErrNotFound
	}
	waits, closed := row.gate().Status == aggregate.PendingApproval, row.gate().Status == aggregate.Cancelled
	switch newest := a.superseding(row); {
	case newest > 0 && (waits || closed):
		return nil, aggregate.ErrNotLatest{Latest: newest}
	case closed && a.redrafted(row):
		return nil, ErrEdited
	}
	if step, ok := row.(*StepGate); ok {
		e := a.executionOf(step)
		if e == nil {
			return nil, aggregate.ErrConflict
		}
		if done := a.StepOf(e, step.Order); step.Status == aggregate.Cancelled && a.Head.Ended == nil && done != nil && done.CompletedAt != nil {
			return nil, aggregate.ErrSuperseded
		}
	}
	if again, ok := row.(*Again); ok && a.attemptOf(again) == nil {
		return nil, aggregate.ErrConflict
	}
	return row, nil
}

// attemptOf returns the attempt that a gate belongs to, or nil if it was not read.
func (a *Aggregate) attemptOf(g *Again) *Execution {
	return aggregate.Find(a.Executions, ExecutionKey(g.ProcessVersion, g.Attempt))
}

// executionOf returns the attempt that a step's gate belongs to, or nil if it was not read.
func (a *Aggregate) executionOf(g *StepGate) *Execution {
	return aggregate.Find(a.Executions, ExecutionKey(g.ProcessVersion, g.Attempt))
}
