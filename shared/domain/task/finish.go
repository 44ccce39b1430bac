package task

import (
	"maps"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// CompleteExecution ends the execution and the task as completed. It returns ErrMoved unless all steps have completed.
func (a *Aggregate) CompleteExecution(run int, summary string, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	if a.NextStep(e) != nil || e.Status != ExecutionRunning {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	results := a.results(e, c)
	c.moveExecution(e, ExecutionCompleted, func(n *Execution) {
		n.Summary, n.CompletedAt, n.Results = summary, &c.Now, results
		c.Made = n
	})
	c.end(a.Task, TaskCompleted, aggregate.System(), ReasonDone)
	c.Record(&c.Head, aggregate.System(), AuditExecutionCompleted, "execution", e.ID,
		a.writesOf(e, c, results, map[string]any{"steps": len(results), "tools": toolsOf(results)}))
	return c.done()
}

// FailExecution ends the attempt as failed; a person may try again. Crashed calls are recorded with it. It returns
// ErrInFlight while a lease is live, and ErrMoved if the rows no longer support the reason. It changes nothing while a
// gate waits.
func (a *Aggregate) FailExecution(run int, why aggregate.Reason, detail string, now time.Time) (aggregate.Change,
	error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	if _, waits := a.OpenGate(); waits {
		return aggregate.Change{}, nil
	}
	if why == ReasonTimeout && !a.TimeUp(e, now) || why == ReasonApprovalAged && !a.aged(e, now) {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	a.recordCrashedCalls(c)
	results := a.results(e, c)
	has := func(s StepStatus) bool {
		return slices.ContainsFunc(results, func(r ResultEntry) bool { return r.Status == s })
	}
	switch unknown := has(StepUnknown); {
	case why == ReasonToolUnknown && !unknown, why == ReasonInterruptedRead && !unknown && !has(StepFailed):
		c.Fail(aggregate.ErrMoved)
	case unknown && why != ReasonToolUnknown: // a person has to check the unknown write first
		why, detail = ReasonToolUnknown, ""
	}
	c.moveExecution(e, ExecutionFailed, func(n *Execution) {
		n.Error, n.ErrorDetail, n.CompletedAt, n.Results = why, detail, &c.Now, results
	})
	a.relyOnStep(c, e)
	c.Record(&c.Head, aggregate.System(), AuditExecutionFailed, "execution", e.ID,
		a.writesOf(e, c, results, map[string]any{"reason": why, "tools": toolsOf(results)}))
	return c.ended(a.Task, TaskFailed, aggregate.System(), why)
}

// writesOf adds an attempt and its writes to the details of an audit entry: the hash of each write's arguments, its
// status, which writes are reused from earlier attempts, and the gates at which people were asked. It also adds the
// conversation in which an agent offered the request; an empty map records that there was none. Audit entries are
// sealed, but rows of steps and gates are not.
func (a *Aggregate) writesOf(e *Execution, c *change, results []ResultEntry, details map[string]any) map[string]any {
	writes, ends, offered := map[string]string{}, map[StepStatus][]string{}, map[string]string{}
	var reused []string
	for i, s := range a.StepsOf(e) {
		switch {
		case s.Access != aggregate.Write:
		case s.Reused:
			reused = append(reused, s.StepID)
		default:
			end := results[i].Status
			writes[s.StepID], ends[end] = s.Arguments.Hash(), append(ends[end], s.StepID)
		}
	}
	if session, ok := a.OfferedIn(); ok {
		offered["session_id"] = session
	}
	maps.Copy(details, e.about())
	details["writes"], details["ends"], details["offered"] = writes, ends, offered
	details["gates"] = a.gatesOf(e, c)
	if len(reused) > 0 {
		details["reused"] = reused
	}
	return details
}

// gatesOf returns by key at which gates people were asked about an attempt, as they are after c: of one under a rule
// the hashes of how it opened and of the acts on it, of a step's which step. It leaves out a step's without a rule on
// which nobody decided, and the steps' without a rule, of which each receipt needs the entry anyway.
func (a *Aggregate) gatesOf(e *Execution, c *change) map[string]any {
	process := a.ProcessOf(e)
	if process == nil { // not read, and what ends the attempt relies on that
		return map[string]any{}
	}
	rows := []Gated{process}
	for _, s := range process.Steps {
		if g := a.GateOf(e, s.Order); g != nil {
			rows = append(rows, g)
		} else if a.StepOf(e, s.Order) != nil {
			c.RelyOn(&StepGate{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: s.Order})
		}
	}
	out := map[string]any{}
	for _, row := range rows {
		c.RelyOn(row)
		if n, written := c.Written(row.Key()).(Gated); written {
			row = n
		}
		sealed := row.gate().Sealed()
		if g, ofStep := row.(*StepGate); ofStep {
			if sealed == nil && g.ApprovedAt == nil && g.RejectedAt == nil {
				continue
			}
			if sealed == nil {
				sealed = map[string]any{}
			}
			sealed["step"] = g.StepID
		}
		if sealed != nil {
			out[row.Key()] = sealed
		}
	}
	return out
}

// toolsOf counts the attempt's own calls by tool and status for the audit log.
func toolsOf(results []ResultEntry) map[string]map[StepStatus]int {
	out := map[string]map[StepStatus]int{}
	for _, r := range results {
		if r.Reused || r.Tool == "" {
			continue
		}
		if out[r.Tool] == nil {
			out[r.Tool] = map[StepStatus]int{}
		}
		out[r.Tool][r.Status]++
	}
	return out
}

// MaxAttempts limits the attempts at a process. All their rows are read with the task. A retry relies on each attempt's
// row of one step; with up to 59 steps carried over that stays within the 100 actions of a transaction.
const MaxAttempts = 30

// AttemptsLeft reports whether the process may be tried again.
func (e *Execution) AttemptsLeft() bool { return e.Attempt < MaxAttempts }

// relyOnEarlierCalls makes c conflict if a call of an earlier attempt, on the next step of e, begins or succeeds after
// the task was read.
func (a *Aggregate) relyOnEarlierCalls(c *change, e *Execution) {
	step := a.NextStep(e)
	if step == nil || a.lastDone(e, step.Order) != nil {
		return
	}
	for attempt := 1; attempt < e.Attempt; attempt++ {
		row := aggregate.Find(a.Steps, StepKey(e.ProcessVersion, attempt, step.Order))
		if row == nil {
			row = &StepResult{ProcessVersion: e.ProcessVersion, Attempt: attempt, Order: step.Order}
		}
		c.RelyOn(row)
	}
}

// retried returns nil if this person already retried the attempt with this id, and ErrDecided if somebody else did.
func (a *Aggregate) retried(id string, by aggregate.Actor) error {
	for i, e := range a.Executions[:len(a.Executions)-1] {
		if e.ID != id {
			continue
		}
		next := a.Executions[i+1]
		if next.RetriedBy == by.ID {
			return nil
		}
		return aggregate.ErrDecided{Status: "retried", By: next.RetriedBy, At: next.CreatedAt}
	}
	return aggregate.ErrNotFound
}

// MaxRestarts limits restarts of a run without progress.
const MaxRestarts = 3

// RestartRun supersedes a run that died. After MaxRestarts without progress it parks the generation or fails the
// execution instead. A task that is over gets a run only to close an open session. It returns ErrSuperseded if the head
// names another run or there is nothing to run.
func (a *Aggregate) RestartRun(run int, now time.Time) (aggregate.Change, error) {
	switch {
	case a.Head.Ended != nil:
		return a.reclose(run, now)
	case a.working(run) != nil || !a.work(now):
		return aggregate.Change{}, aggregate.ErrSuperseded
	case a.Head.Restarts >= MaxRestarts:
		return a.GiveUp(run, ReasonRunFailed, now)
	}
	return a.restart(now)
}

func (a *Aggregate) restart(now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.Head.Run++
	c.Head.Restarts++
	a.relyOnStage(c)
	return c.done()
}

// GiveUp records that a run can't go on: it fails the execution or, if there is none, parks the generation. While a
// gate waits for people nothing changes, because the decision will start a run; whom LookAgain meant is looked up on
// another day. A gate that needs no person is parked once the restarts are used up. A gate that was just decided gets a
// new run here, because its wake-up reached a run that was already failing. Nothing changes if the head is already
// parked. It returns ErrInFlight while a call's lease is live.
func (a *Aggregate) GiveUp(run int, why aggregate.Reason, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	switch open, waits := a.OpenGate(); {
	case waits && (open.Terms.ApprovalRequired || a.Head.Restarts < MaxRestarts),
		a.Head.Parked != nil, a.Contesting() != nil, a.Returned() != nil: // another event starts the next run
		return a.Looked(run, a.LooksAgain(), a.Head.Left, nil, tenancy.Settings{}, now)
	case a.justDecided():
		return a.restart(now)
	case a.Execution() != nil:
		return a.FailExecution(run, why, "", now)
	}
	return a.park(why, "", now).done()
}

// finishStep saves a call's outcome in its row, and in the results of the execution if that is over.
func (a *Aggregate) finishStep(c *change, s *StepResult, o Outcome) {
	done := c.moveStep(s, o.Status, func(n *StepResult) {
		n.Result, n.Error, n.ErrorDetail = o.Result, o.Reason, o.Detail
		n.CompletedAt, n.DurationMS = &c.Now, c.Now.Sub(s.StartedAt).Milliseconds()
	})
	a.recordLate(c, done, aggregate.System())
	a.carryLate(c, done)
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
		if n, written := c.Written(s.Key()).(*StepResult); written {
			s = n
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
