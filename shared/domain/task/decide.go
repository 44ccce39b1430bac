package task

import (
	"maps"
	"time"

	"ringi/shared/domain/aggregate"
)

// Approve stamps the gate with this id. Approving a process also creates its execution. A stamped step runs with
// exactly the arguments that its gate showed. Approve returns ErrDecided, ErrNotLatest, ErrNotAllowed or ErrNotFound.
// If the same person stamps twice, the second time changes nothing. The system may only stamp gates for which approvals
// are switched off. A gate under a rule it refuses with ErrOnRoute.
func (a *Aggregate) Approve(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	g := row.gate()
	if g.Status == aggregate.Approved && g.ApprovedBy == by.ID && g.ApprovedAt != nil {
		return aggregate.Change{}, nil
	}
	if err := a.mustBeOpen(row); err != nil {
		return aggregate.Change{}, err
	}
	if err := a.mayStamp(row, by, p); err != nil {
		return aggregate.Change{}, err
	}
	if by.Type == aggregate.ActorSystem && g.Terms.ApprovalRequired {
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed}
	}
	c := a.begin(now)
	c.progress()
	a.approve(c, row, g.Approved(by, row.hash(), c.Now), by, nil)
	return c.done()
}

// approve moves a gate to approved and begins what follows. how are further details of the audit entry.
func (a *Aggregate) approve(c *change, row Gated, g aggregate.Gate, by aggregate.Actor, how map[string]any) {
	hash := row.hash()
	c.moveGate(row, aggregate.Approved, func(n Gated) {
		*n.gate() = g
		if p, ok := n.(*Process); ok {
			p.ApprovedHash = hash
		}
	})
	a.approved(c, row, hash, by, how)
}

// mayStamp returns ErrNotAllowed if by may not stamp the row. A version's author is treated like the requester.
func (a *Aggregate) mayStamp(row Gated, by aggregate.Actor, p aggregate.Policy) error {
	if err := p.Approve(by, a.Head.Requester); err != nil {
		return err
	}
	if n, ok := row.(*Prompt); ok && n.Author != "" {
		return p.Approve(by, n.Author)
	}
	return nil
}

// Askers returns the people whose own request is waiting: the requester, and the person who picked another draft.
func (a *Aggregate) Askers() []string {
	if p := a.Prompt(); p != nil && p.Status == aggregate.PendingApproval && p.Author != "" {
		return []string{a.Head.Requester, p.Author}
	}
	return []string{a.Head.Requester}
}

// decided adds the time when the gate began to wait to an audit entry's details. Statistics on decision times use only
// the audit log.
func decided(row Gated, details map[string]any) map[string]any {
	if t := row.gate().Terms; t.DecideBy != nil {
		details["asked_at"] = aggregate.TimeText(t.DecideBy.Add(-time.Duration(t.ApprovalHours) * time.Hour))
	}
	return details
}

// approved adds what follows from a stamp to the Change.
func (a *Aggregate) approved(c *change, row Gated, hash string, by aggregate.Actor, how map[string]any) {
	switch row := row.(type) {
	case *Prompt:
		details := map[string]any{"version": row.Version, "hash": hash}
		if row.Author != "" {
			details["picked_by"] = row.Author
		}
		c.audit(by, AuditPromptApproved, "prompt", row.ID, decided(row, row.Entry.details(details)))
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
		details := decided(row, map[string]any{"version": row.Version, "hash": hash})
		maps.Copy(details, how)
		c.audit(by, AuditProcessApproved, "process", row.ID, details)
	case *StepGate:
		e := *a.executionOf(row)
		e.WaitedMS += c.Now.Sub(row.CreatedAt).Milliseconds()
		c.Put(&e)
		details := decided(row, map[string]any{"step": row.StepID, "arguments_hash": hash})
		maps.Copy(details, how)
		c.audit(by, AuditStepApproved, "execution", e.ID, details)
	case *Again:
		e := a.attemptOf(row)
		details := decided(row, map[string]any{"version": row.ProcessVersion, "attempt": row.Attempt, "hash": hash})
		maps.Copy(details, how)
		c.RelyOn(e)
		c.audit(by, AuditProcessApproved, "execution", e.ID, details)
	}
}

// Reject rejects the content of the gate with this id. A policy or a process is then generated anew, unless
// max_versions are used up: then the task is cancelled. Rejecting a step ends the execution and the task, without a new
// plan; completed steps are not undone.
func (a *Aggregate) Reject(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if reason, err = aggregate.CheckReason(reason); err != nil {
		return aggregate.Change{}, err
	}
	g := row.gate()
	if g.Status == aggregate.Rejected && g.RejectedBy == by.ID {
		return aggregate.Change{}, nil
	}
	if err := a.mustBeOpen(row); err != nil {
		return aggregate.Change{}, err
	}
	if err := p.Reject(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.progress()
	c.moveGate(row, aggregate.Rejected, func(n Gated) { n.gate().Reject(by, reason, c.Now) })
	switch row := row.(type) {
	case *Prompt:
		c.audit(by, AuditPromptRejected, "prompt", row.ID, decided(row, map[string]any{"version": row.Version, "reason": reason}))
		return a.afterRejection(c, row)
	case *Process:
		c.audit(by, AuditProcessRejected, "process", row.ID, decided(row, map[string]any{"version": row.Version, "reason": reason}))
		return a.afterRejection(c, row)
	}
	step := row.(*StepGate)
	e := a.executionOf(step)
	c.audit(by, AuditStepRejected, "execution", e.ID, decided(step, map[string]any{"step": step.StepID, "reason": reason}))
	a.cancelExecution(c, e, by)
	return c.ended(a.Task, TaskCancelled, by, ReasonStepRejected)
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
	return a.mustWait(row.gate())
}

// mustBeOpen returns an error unless the gate waits, and for a gate under a rule, also if the head alone knows it as
// one.
func (a *Aggregate) mustBeOpen(row Gated) error {
	if err := a.mustWait(row.gate()); err != nil {
		return err
	}
	if row.gate().Ruled() {
		return aggregate.ErrOnRoute
	}
	return a.Head.AsOpened(row.Key(), row.gate())
}

// mustWait returns an error unless the gate waits.
func (a *Aggregate) mustWait(g *aggregate.Gate) error {
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
	return nil
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
