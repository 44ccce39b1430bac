package task

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
)

// MaxReason is how long a rejection's reason may be, in characters.
const MaxReason = 1000

// Approve stamps the gate with this id. Approving a process makes its execution's row, which can fail or be cancelled
// from then on. A stamped step runs with the arguments that its gate showed. It returns ErrDecided, ErrNotLatest,
// ErrNotAllowed or ErrNotFound; the same person stamping twice is no change. The system stamps only what was opened
// with approvals switched off.
func (a *Aggregate) Approve(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	g := row.gate()
	if g.Status == aggregate.Approved && g.ApprovedBy == by.ID && g.ApprovedAt != nil {
		return aggregate.Change{}, nil
	}
	if err := a.mustBeOpen(g); err != nil {
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
	hash := row.hash()
	stamped, settled := g.Approved(by, hash, c.Now)
	if !settled {
		c.Fail(fmt.Errorf("gate %s needs more than one stamp: no release opens such a route yet", id))
	}
	c.moveGate(row, aggregate.Approved, func(n Gated) {
		*n.gate() = stamped
		if p, ok := n.(*Process); ok {
			p.ApprovedHash = hash
		}
	})
	a.approved(c, row, hash, by)
	return c.done()
}

// mayStamp reports, as ErrNotAllowed, why by may not stamp a row: the author of a version counts as who asked for it.
func (a *Aggregate) mayStamp(row Gated, by aggregate.Actor, p aggregate.Policy) error {
	if err := p.Approve(by, a.Head.Requester); err != nil {
		return err
	}
	if n, ok := row.(*Prompt); ok && n.Author != "" {
		return p.Approve(by, n.Author)
	}
	return nil
}

// Askers are the people whose own request it is what waits: who asked for the task, and who put another draft in place.
func (a *Aggregate) Askers() []string {
	askers := []string{a.Head.Requester}
	if p := a.Prompt(); p != nil && p.Author != "" && p.Status == aggregate.PendingApproval {
		askers = append(askers, p.Author)
	}
	return askers
}

// decided adds to an audit entry's details since when the gate asked: its time limit began then. How long people take
// is counted from the audit log alone.
func decided(row Gated, details map[string]any) map[string]any {
	if t := row.gate().Terms; t.DecideBy != nil {
		details["asked_at"] = aggregate.TimeText(t.DecideBy.Add(-time.Duration(t.ApprovalHours) * time.Hour))
	}
	return details
}

// approved is what follows in the Change of a stamp on what has this hash.
func (a *Aggregate) approved(c *change, row Gated, hash string, by aggregate.Actor) {
	switch row := row.(type) {
	case *Prompt:
		details := map[string]any{"version": row.Version, "hash": hash}
		if row.Author != "" {
			details["picked_by"] = row.Author
		}
		c.audit(by, AuditPromptApproved, "prompt", row.ID, decided(row, row.Entry.details(details)))
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
		c.audit(by, AuditProcessApproved, "process", row.ID, decided(row, map[string]any{"version": row.Version, "hash": hash}))
	case *StepGate:
		e := *a.executionOf(row)
		e.WaitedMS += c.Now.Sub(row.CreatedAt).Milliseconds()
		c.Put(&e)
		c.audit(by, AuditStepApproved, "execution", e.ID, decided(row, map[string]any{"step": row.StepID, "arguments_hash": hash}))
	}
}

// Reject sends back, with a reason, what the gate with this id asks about. The next version of a policy or of steps is
// generated, until max_versions are used up: then the task is cancelled. A step that is refused ends the execution
// and the task: it is not planned anew behind people's back, and completed steps stay.
func (a *Aggregate) Reject(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	row, err := a.decidable(id)
	if err != nil {
		return aggregate.Change{}, err
	}
	if reason, err = CheckReason(reason); err != nil {
		return aggregate.Change{}, err
	}
	g := row.gate()
	if g.Status == aggregate.Rejected && g.RejectedBy == by.ID {
		return aggregate.Change{}, nil
	}
	if err := a.mustBeOpen(g); err != nil {
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
		return a.afterRejection(c, generated(a.Prompts, row.Version), g.Terms)
	case *Process:
		c.audit(by, AuditProcessRejected, "process", row.ID, decided(row, map[string]any{"version": row.Version, "reason": reason}))
		return a.afterRejection(c, row.Version, g.Terms)
	}
	step := row.(*StepGate)
	e := a.executionOf(step)
	c.audit(by, AuditStepRejected, "execution", e.ID, decided(step, map[string]any{"step": step.StepID, "reason": reason}))
	a.cancelExecution(c, e, by)
	return c.ended(a.Task, TaskCancelled, by, ReasonStepRejected)
}

// CheckReason trims a rejection's reason and returns ErrField when it is empty or too long.
func CheckReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxReason {
		return "", aggregate.ErrField{Field: "rejection_reason", Limit: fmt.Sprintf("must have 1 to %d characters, not %d", MaxReason, n)}
	}
	return reason, nil
}

// afterRejection ends the task when as many versions were generated as may be.
func (a *Aggregate) afterRejection(c *change, generated int, terms aggregate.Terms) (aggregate.Change, error) {
	if generated < terms.MaxVersions {
		return c.done()
	}
	c.audit(aggregate.System(), AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonMaxVersions, "max_versions": terms.MaxVersions})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonMaxVersions)
}

// Undecided returns nil while the gate with this id waits for a decision, and else what whoever decides now is told:
// ErrDecided, ErrNotLatest, ErrSuperseded or ErrNotFound.
func (a *Aggregate) Undecided(id string) error {
	row, err := a.decidable(id)
	if err != nil {
		return err
	}
	return a.mustBeOpen(row.gate())
}

// mustBeOpen returns ErrDecided unless the gate waits.
func (a *Aggregate) mustBeOpen(g *aggregate.Gate) error {
	if err := g.Decided(); err != nil {
		return a.replaced(g, err)
	}
	switch {
	case a.Head.Ended != nil:
		return a.ended()
	case g.Status == aggregate.Expired || g.Status == aggregate.Cancelled:
		return aggregate.ErrConflict // the head that says so was read before it did
	case g.Status != aggregate.PendingApproval:
		return aggregate.ErrNotFound // not open yet: nobody was shown a button
	}
	return nil
}

// ended is ErrDecided for a task that is over.
func (a *Aggregate) ended() error {
	e := a.Head.Ended
	return aggregate.ErrDecided{Status: string(e.As), By: e.By, At: e.At, Reason: e.Reason}
}

// decidable is the gate with this id. It returns ErrNotLatest for an older version that waits, and ErrSuperseded for a
// step that an earlier call turned out to have done.
func (a *Aggregate) decidable(id string) (Gated, error) {
	row := a.gateOf(id)
	if row == nil {
		return nil, aggregate.ErrNotFound
	}
	if newest := a.superseding(row); newest > 0 && row.gate().Status == aggregate.PendingApproval {
		return nil, aggregate.ErrNotLatest{Latest: newest}
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
	return row, nil
}

// executionOf is the attempt that a step belongs to, nil when it was not read.
func (a *Aggregate) executionOf(g *StepGate) *Execution {
	return aggregate.Find(a.Executions, ExecutionKey(g.ProcessVersion, g.Attempt))
}
