package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// StopError says why an execution can't go on. The caller must then call FailExecution, which checks the reason again.
type StopError struct {
	Reason aggregate.Reason
	Detail string
}

func (e StopError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

// StartExecution moves the pending execution to running; if it runs already, nothing changes. One that needs a number
// takes the next of the series, and keeps it in later attempts; ErrNumber says that the series must be read again. For
// a managed session the audit entry is written by BindSession, once the session exists.
func (a *Aggregate) StartExecution(run int, of Series, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil || e.Status == ExecutionRunning {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.moveExecution(e, ExecutionRunning, func(n *Execution) {
		n.StartedAt = &c.Now
		c.number(n, of)
		e = n
	})
	if !e.Managed() {
		c.Record(&c.Head, aggregate.System(), AuditExecutionStarted, "execution", e.ID, e.about())
	}
	return c.done()
}

// over reports whether the attempt has ended.
func (e *Execution) over() bool { return len(ExecutionMoves[e.Status]) == 0 }

// executing returns the execution if this run may work on it and its process is approved.
func (a *Aggregate) executing(run int) (*Execution, error) {
	if err := a.working(run); err != nil {
		return nil, err
	}
	e := a.Execution()
	if e == nil || e.over() { // a torn read: the head says that the execution goes on
		return nil, aggregate.ErrConflict
	}
	if p := a.ProcessOf(e); p == nil || p.Status != aggregate.Approved {
		return nil, aggregate.ErrConflict
	}
	return e, nil
}

// NextStep returns the first step that has not completed, or nil.
func (a *Aggregate) NextStep(e *Execution) *Step {
	p := a.ProcessOf(e)
	if p == nil {
		return nil
	}
	for i := range p.Steps {
		if row := a.StepOf(e, p.Steps[i].Order); row == nil || row.Status != StepCompleted {
			return &p.Steps[i]
		}
	}
	return nil
}

// CurrentStep returns the order of the step that the attempt reached last, 0 before the first. The row has it only as
// of its own last commit: a claim doesn't write the row.
func (a *Aggregate) CurrentStep(e *Execution) int {
	at := e.CurrentStep
	for _, s := range a.StepsOf(e) {
		if !s.Reused {
			at = max(at, s.Order)
		}
	}
	return at
}

// limit is the execution's time limit.
func (e *Execution) limit() time.Duration {
	return time.Duration(e.Terms.L4TimeoutSeconds) * time.Second
}

// Deadline returns when a managed session's time is up. Its time counts even between polls, because the session keeps
// working. Excluded are waits for people, for the leases of dead invocations and for free capacity to poll.
func (a *Aggregate) Deadline(e *Execution) time.Time {
	if e.StartedAt == nil {
		return e.CreatedAt.Add(1000 * time.Hour) // not started yet
	}
	return e.StartedAt.Add(e.limit() + time.Duration(e.WaitedMS+a.SessionLease(e).WaitedMS)*time.Millisecond)
}

// called returns the total duration of the attempt's completed calls, without results reused from earlier attempts.
func (a *Aggregate) called(e *Execution) (sum time.Duration) {
	for _, s := range a.StepsOf(e) {
		if s.Status == StepCompleted && !s.Reused {
			sum += time.Duration(s.DurationMS) * time.Millisecond
		}
	}
	return sum
}

// TimeUp reports whether the execution's time is up at now. Only its calls count: between them it waits for people,
// leases or free capacity. For a managed session all time until Deadline counts, except while a call with an expired
// lease is not yet repeated or settled.
func (a *Aggregate) TimeUp(e *Execution, now time.Time) bool {
	if !e.Managed() {
		return a.called(e) > e.limit()
	}
	deadline := a.Deadline(e).Add(a.late(e, now))
	for _, s := range a.StepsOf(e) {
		if s.Status == StepRunning {
			deadline = deadline.Add(now.Sub(s.StartedAt))
		}
	}
	return now.After(deadline)
}

// ToolRef is the revision of a tool permission as it was read; 0 means that the row is absent.
type ToolRef struct {
	Name string
	Rev  int
}

// Call is a tool call that an invocation wants to claim.
type Call struct {
	Order         int
	Arguments     aggregate.Blob
	ArgumentsHash string
	NeedsGate     bool // see NeedsGate
	Claim         aggregate.Claim
	Tool          ToolRef
	ToolRequest   string // id of the managed session's request that the call answers
}

// NeedsGate reports whether a person must see a step's resolved arguments first: those of each write if nobody was
// asked about the steps. dynamic says that the target of a write comes from an earlier result.
func NeedsGate(s Step, t aggregate.Terms, dynamic bool) bool {
	if s.Tool == tenancy.DecideTool { // its arguments are those that were stamped
		return false
	}
	return s.RequiresHumanCheck || s.Access == aggregate.Write && (!t.AutoApproveTools || !t.ApprovalRequired || dynamic)
}

// MaxCrashes is how often a read may crash before it is no longer repeated.
const MaxCrashes = 3

// ClaimStep gives an invocation the right to make a step's call. If that invocation already holds the claim, nothing
// changes. The Change relies on the execution, so that it conflicts with a concurrent cancellation, the approved prompt
// and process, the gate, and the tool's permission. A step that records a decision is completed by it: its call is the
// commit. ClaimStep returns StopError if the execution must be failed, ErrInFlight while another's lease is live, and
// ErrMoved if another step is next.
func (a *Aggregate) ClaimStep(run int, call Call, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	process, prompt := a.ProcessOf(e), a.Prompt()
	if e.Status != ExecutionRunning || process != a.Process() || prompt == nil || prompt.Status != aggregate.Approved {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	stand := a.stands(process) && a.stands(prompt)
	if Hash(process.Steps) != process.ApprovedHash || !stand {
		return aggregate.Change{}, StopError{Reason: ReasonStepsChanged}
	}
	step := a.NextStep(e)
	if step == nil || step.Order != call.Order {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if a.TimeUp(e, now) {
		return aggregate.Change{}, StopError{ReasonTimeout, fmt.Sprint(e.Terms.L4TimeoutSeconds)}
	}
	c := a.begin(now)
	number, read := a.callNumber(e, step.Order)
	c.RelyOn(read...)
	held := a.StepOf(e, step.Order)
	if held != nil {
		if held.Status == StepRunning && held.Claim.Invocation == call.Claim.Invocation {
			return aggregate.Change{}, nil // the answer to the first claim was lost
		}
		if err := reclaimable(held, now); err != nil {
			return aggregate.Change{}, err
		}
		n := *e
		n.WaitedMS += now.Sub(held.StartedAt).Milliseconds()
		c.Put(&n)
	}
	if held == nil {
		c.Fail(a.mayBegin(e, step.Order, c.Now))
	}
	a.passGate(c, e, *step, call)
	row := StepResult{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order, StepID: step.StepID,
		Tool: step.Tool, Access: step.Access, Status: StepRunning, Call: number,
		Claim: &call.Claim, ToolRequest: call.ToolRequest, Arguments: call.Arguments, StartedAt: c.Now,
	}
	if step.Tool == tenancy.DecideTool {
		c.decided(&row, e.Number)
	} else {
		c.claim(row, held)
	}
	c.RelyOn(e, process, prompt)
	c.Owned = append(c.Owned, aggregate.Owned{Key: tenancy.ToolKey(call.Tool.Name), Rev: call.Tool.Rev})
	return c.done()
}

// ClaimAfter adds the claim of the next step to first, the Change of a step's result or of the execution's start, so
// that one commit makes both. It returns ErrMoved if anything but that step's first call follows first, and the errors
// of ClaimStep. After an error first must be committed alone.
func (a *Aggregate) ClaimAfter(first aggregate.Change, run int, call Call) (aggregate.Change, error) {
	if first.Head == nil {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	then := a.clone()
	then.Head = *first.Head.(*Head)
	then.Head.ChangedAt = a.Head.ChangedAt // one commit at one time
	for _, r := range first.Rows {
		then.Add(r) // with the revision that was read
	}
	e := then.Execution()
	if e == nil || e.Managed() || then.StepOf(e, call.Order) != nil || then.Next(first.Now).State != StateExecuteProcess {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c, err := then.ClaimStep(run, call, first.Now)
	if err != nil {
		return aggregate.Change{}, err
	}
	first.Head = c.Head
	first.Put(c.Rows...)
	first.RelyOn(c.Rely...)
	first.Owned = append(first.Owned, c.Owned...)
	return first, nil
}

// passGate requires that the step's gate, if it needs one, is approved with exactly the call's arguments.
func (a *Aggregate) passGate(c *change, e *Execution, step Step, call Call) {
	g := a.GateOf(e, step.Order)
	switch {
	case g == nil && (call.NeedsGate || NeedsGate(step, e.Terms, false)):
		c.Fail(aggregate.ErrMoved) // a gate is next
	case g == nil:
	case g.Status != aggregate.Approved:
		c.Fail(aggregate.ErrMoved)
	case g.ArgumentsHash != call.ArgumentsHash, !c.of.stands(g):
		c.Fail(StopError{ReasonStepsChanged, step.StepID})
	default:
		c.RelyOn(g)
	}
}

// claim writes the claimed step; crashed is an earlier claim to replace, or nil.
func (c *change) claim(row StepResult, crashed *StepResult) {
	if crashed == nil {
		c.Put(&row)
		return
	}
	row.Meta, row.Crashes = crashed.Meta, crashed.Crashes+1
	c.moveStep(crashed, row.Status, func(n *StepResult) { *n = row })
}

// reclaimable returns nil if a claimed step may be claimed again. That is only a read with an expired lease and fewer
// than MaxCrashes crashes.
func reclaimable(held *StepResult, now time.Time) error {
	if err := held.Stop(); err != nil {
		return err
	}
	switch {
	case held.Claim.Live(now):
		return aggregate.ErrInFlight
	case held.Access == aggregate.Write:
		return StopError{ReasonToolUnknown, held.StepID}
	case held.Crashes+1 >= MaxCrashes:
		return StopError{ReasonInterruptedRead, held.StepID}
	}
	return nil
}

// Outstanding returns why a step that was claimed before must not be called now: StopError if it failed, or was a write
// that crashed, and ErrInFlight while its lease is live. It is checked before the tool, its constraints and its gate,
// which may have changed since.
func (a *Aggregate) Outstanding(e *Execution, order int, now time.Time) error {
	if row := a.StepOf(e, order); row != nil {
		return reclaimable(row, now)
	}
	return nil
}

// Stop returns the StopError of a call without a result, or nil while it may still get one.
func (s *StepResult) Stop() error {
	switch s.Status {
	case StepFailed:
		return StopError{s.Error, s.ErrorDetail}
	case StepUnknown:
		return StopError{ReasonToolUnknown, s.StepID}
	}
	return nil
}

// callNumber returns the number in the idempotency key. It grows after a definite failure but never after an unknown
// outcome, and attempts that did not reach the step don't count. read are the rows that say so, also absent ones.
func (a *Aggregate) callNumber(e *Execution, order int) (n int, read []aggregate.Row) {
	for attempt := e.Attempt; attempt > 0; attempt-- {
		row := aggregate.Find(a.Steps, StepKey(e.ProcessVersion, attempt, order))
		switch {
		case row == nil && attempt < e.Attempt:
			read = append(read, &StepResult{ProcessVersion: e.ProcessVersion, Attempt: attempt, Order: order})
		case row == nil: // the claim writes it
		case row.Status == StepFailed && attempt < e.Attempt:
			return row.Call + 1, append(read, row)
		default:
			return row.Call, append(read, row)
		}
	}
	return 1, read
}

// IdempotencyKey is sent to vendors that support one. It doesn't change once the step is claimed.
func (a *Aggregate) IdempotencyKey(e *Execution, s Step) string {
	n, _ := a.callNumber(e, s.Order)
	return fmt.Sprintf("%s/%s/%d", e.ProcessID, s.StepID, n)
}

// Outcome is the result of a call.
type Outcome struct {
	Status StepStatus // completed, failed or unknown
	Result *aggregate.Blob
	Reason aggregate.Reason
	Detail string
}

// FinishStep records a call's outcome, even if the execution has ended meanwhile, because the call still happened. It
// returns ErrSuperseded if another invocation holds the claim or the step already has a final status.
func (a *Aggregate) FinishStep(key, invocation string, o Outcome, now time.Time) (aggregate.Change, error) {
	row := aggregate.Find(a.Steps, key)
	if row == nil || row.Claim == nil || row.Claim.Invocation != invocation {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	switch {
	case row.Status == o.Status:
		return aggregate.Change{}, nil
	case len(StepMoves[row.Status]) == 0:
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	c := a.begin(now)
	c.Head.Restarts = 0
	a.finishStep(c, row, o)
	return c.done()
}

// mayBegin returns nil if a call of a step that has none yet may begin at now by the gate of its steps and, if there is
// one, its own. It returns StopError if a gate is not as it was settled, or was settled too long ago, or if a number is
// missing.
func (a *Aggregate) mayBegin(e *Execution, order int, now time.Time) error {
	steps := a.ProcessOf(e)
	if !a.stands(steps) || e.Number == "" && a.numberedBy(e) != nil {
		return StopError{Reason: ReasonStepsChanged}
	}
	gates := []Gated{steps}
	if g := a.GateOf(e, order); g != nil {
		gates = append(gates, g)
	}
	for _, row := range gates {
		if until := row.gate().GoodUntil(); until != nil && now.After(*until) {
			return StopError{ReasonApprovalAged, fmt.Sprint(aggregate.ApprovalDays)}
		}
	}
	return nil
}

// aged reports whether calls of an attempt may no longer begin because they were settled too long ago.
func (a *Aggregate) aged(e *Execution, now time.Time) bool {
	step := a.NextStep(e)
	if step == nil {
		return false
	}
	stop, is := a.mayBegin(e, step.Order, now).(StopError)
	return is && stop.Reason == ReasonApprovalAged
}
