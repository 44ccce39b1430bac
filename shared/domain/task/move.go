package task

import (
	"fmt"

	"ringi/shared/domain/aggregate"
)

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
	if to == aggregate.PendingApproval {
		c.Head.Opens(row.Key(), n.gate())
	}
	if err := c.Head.OnRoute(row.Key(), n.gate()); err != nil {
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
