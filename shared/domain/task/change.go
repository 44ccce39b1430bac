package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// Decision is a Decision on a task.
type Decision = aggregate.Decision[*Aggregate]

type change struct {
	aggregate.Draft
	Head   Head // as it will be written
	was    Head // as it was read
	of     *Aggregate
	limits tenancy.Settings // that apply when a task is accepted
}

// begin opens a change at now, or just after the task's last change if that is later.
func (a *Aggregate) begin(now time.Time) *change {
	c := &change{Head: a.Head, was: a.Head, of: a}
	c.Now = a.Head.Moment(now)
	c.Head.ChangedAt = c.Now
	return c
}

// done returns the finished Change, or the first error.
func (c *change) done() (aggregate.Change, error) {
	head := c.Head
	if head.PausedUntil == nil {
		head.PausedFor = ""
	}
	out, err := c.Done(&head)
	if err == nil {
		out.Counts = append(c.Counts[:len(c.Counts):len(c.Counts)], c.counts()...)
		c.note(&out)
	}
	return out, err
}

// progress records that the task moved on by a decision, a finished generation or a step's result. It resets the count
// of restarts, and clears a pause, a parked failure and its retries.
func (c *change) progress() {
	c.Head.Restarts, c.Head.PausedUntil, c.Head.TryingFrom, c.Head.Parked, c.Head.Retried, c.Head.Retries = 0, nil, nil,
		nil, nil, 0
}

// end closes the task. Only a failed task can be retried.
func (c *change) end(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) {
	c.Head.Ended = &Ended{As: as, By: by.ID, At: c.Now, Reason: reason}
	c.Head.Parked, c.Head.PausedUntil, c.Head.TryingFrom, c.Head.Retried = nil, nil, nil, nil
	if t == nil {
		c.untasked()
		return
	}
	c.moveTask(t, as)
}

// untasked makes c fail if there is a task by then.
func (c *change) untasked() {
	if c.of != nil && c.of.Listing != nil {
		c.RelyOn(c.of.Listing)
		return
	}
	c.RelyOn(&Task{})
}

func (c *change) ended(t *Task, as TaskStatus, by aggregate.Actor, reason aggregate.Reason) (aggregate.Change, error) {
	c.end(t, as, by, reason)
	return c.done()
}

// card adds a row for a card that shows subject, unless there is one. The card updater posts its message later.
func (c *change) card(a *Aggregate, typ aggregate.CardType, subject string) {
	card := &aggregate.Card{
		ID: aggregate.Derive(c.Now, "card", a.Head.TaskID, string(typ),
			subject), AggregateID: a.Head.TaskID, CardType: typ, Subject: subject,
		Channel: a.Request.Channel, State: aggregate.CardNone, CreatedAt: c.Now,
	}
	if a.Request.Matter != nil && typ == CardTask { // the message that asks for the decision shows all of it
		card.MessageTS, card.State = a.Request.MessageTS, aggregate.CardPosted
	}
	if a.Card(card.Key()) == nil && (a.Request.Matter == nil || typ == CardTask || typ == CardStep) {
		c.Put(card)
	}
}

func (a *Aggregate) rowID(key string, now time.Time) string {
	return aggregate.Derive(now, "row", a.Head.TenantID, a.Head.TaskID, key)
}

// Only the functions in this file change a status. A new row gets its first status where it is created.

// moveGate writes a gate's next status, after fill has edited its row. Only moves in aggregate.GateMoves are allowed.
func (c *change) moveGate(row Gated, to aggregate.GateStatus, fill func(n Gated)) {
	if from := row.gate().Status; !aggregate.GateMoves.Allows(from, to) {
		c.Fail(errMove(row.Key(), from, to))
	}
	n := row.At(row.Revision()).(Gated)
	if fill != nil {
		fill(n)
	}
	n.gate().Status = to
	if err := n.gate().Walked(); err != nil {
		c.Fail(err)
	}
	c.Put(n)
}

// moveExecution is moveGate for executions, with ExecutionMoves.
func (c *change) moveExecution(e *Execution, to ExecutionStatus, fill func(n *Execution)) {
	if !ExecutionMoves.Allows(e.Status, to) {
		c.Fail(errMove(e.Key(), e.Status, to))
	}
	n := *e
	n.Status, n.CurrentStep = to, c.of.CurrentStep(e)
	fill(&n)
	c.Put(&n)
}

// moveStep is moveGate for steps, with StepMoves. It returns the row that it writes.
func (c *change) moveStep(s *StepResult, to StepStatus, fill func(n *StepResult)) *StepResult {
	if !StepMoves.Allows(s.Status, to) {
		c.Fail(errMove(s.Key(), s.Status, to))
	}
	n := *s
	n.Status = to
	fill(&n)
	c.Put(&n)
	return &n
}

// moveTask is moveGate for the task's row, with TaskMoves.
func (c *change) moveTask(t *Task, to TaskStatus) {
	if t == nil {
		c.Fail(aggregate.ErrConflict)
		return
	}
	if !TaskMoves.Allows(t.Status, to) {
		c.Fail(errMove(t.Key(), t.Status, to))
	}
	n := *t
	n.Status, n.UpdatedAt = to, c.Now
	c.Put(&n)
}

// errMove reports a move that is not allowed. It is an ErrConflict because the rows may come from two commits, so
// reading them again may help. If it persists, the caller has a bug.
func errMove[S ~string](what string, from, to S) error {
	return fmt.Errorf("%s: %s cannot become %s: %w", what, from, to, aggregate.ErrConflict)
}

const (
	AuditTaskCreated        aggregate.Action = "task.created"
	AuditRequestAnswered    aggregate.Action = "request.answered" // by a plain reply, without a task
	AuditTaskCancelled      aggregate.Action = "task.cancelled"
	AuditTaskExpired        aggregate.Action = "task.expired"
	AuditTaskRefused        aggregate.Action = "task.refused"
	AuditPromptApproved     aggregate.Action = "prompt.approved"
	AuditPromptRejected     aggregate.Action = "prompt.rejected"
	AuditPromptPicked       aggregate.Action = "prompt.picked" // replaced by another team's submission
	AuditPromptEdited       aggregate.Action = "prompt.edited" // by one of the askers: a form was filled in again
	AuditProcessApproved    aggregate.Action = "process.approved"
	AuditProcessRejected    aggregate.Action = "process.rejected"
	AuditProcessRouted      aggregate.Action = "process.routed" // opened under a rule
	AuditExecutionStarted   aggregate.Action = "execution.started"
	AuditExecutionCompleted aggregate.Action = "execution.completed"
	AuditExecutionFailed    aggregate.Action = "execution.failed"
	AuditExecutionCancelled aggregate.Action = "execution.cancelled"
	AuditExecutionRetried   aggregate.Action = "execution.retried"
	AuditExecutionLate      aggregate.Action = "execution.late" // a write's outcome became known after it was said
	AuditGenerationFailed   aggregate.Action = "generation.failed"
	AuditGenerationRetried  aggregate.Action = "generation.retried"
)
