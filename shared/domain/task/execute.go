package task

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// StopError says that an execution cannot go on, and why: it must be failed.
// FailExecution looks again whether that is so.
type StopError struct {
	Reason aggregate.Reason
	Detail string
}

func (e StopError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

// StartExecution moves the pending execution to running. Doing it again is no change. The audit entry is written
// here; with a managed session BindSession writes it, once the session exists.
func (a *Aggregate) StartExecution(run int, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil || e.Status == ExecutionRunning {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	c.moveExecution(e, ExecutionRunning, func(n *Execution) { n.StartedAt = &c.Now })
	if !e.Managed() {
		c.audit(aggregate.System(), AuditExecutionStarted, "execution", e.ID, map[string]any{"attempt": e.Attempt})
	}
	return c.done()
}

// over reports whether the attempt has ended, one way or another.
func (e *Execution) over() bool { return len(ExecutionMoves[e.Status]) == 0 }

// executing returns the execution that run may work on, of an approved process.
func (a *Aggregate) executing(run int) (*Execution, error) {
	if err := a.working(run); err != nil {
		return nil, err
	}
	e := a.Execution()
	if e == nil || e.over() { // a torn read: by the head the execution still goes on
		return nil, aggregate.ErrConflict
	}
	if p := a.ProcessOf(e); p == nil || p.Status != aggregate.Approved {
		return nil, aggregate.ErrConflict
	}
	return e, nil
}

// NextStep returns the first step that has not completed, nil when all have.
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

// limit is how long the execution may take.
func (e *Execution) limit() time.Duration {
	return time.Duration(e.Terms.L4TimeoutSeconds) * time.Second
}

// Deadline is when the time of a managed session is up: it works also while nobody asks how far it is. Waiting for
// people, for dead leases and for room to ask in is excluded.
func (a *Aggregate) Deadline(e *Execution) time.Time {
	if e.StartedAt == nil {
		return e.CreatedAt.Add(1000 * time.Hour) // its time has not begun
	}
	return e.StartedAt.Add(e.limit() + time.Duration(e.WaitedMS+a.SessionLease(e).WaitedMS)*time.Millisecond)
}

// called is how long the calls of an attempt that have completed took. What an earlier attempt did is not its time.
func (a *Aggregate) called(e *Execution) (sum time.Duration) {
	for _, s := range a.StepsOf(e) {
		if s.Status == StepCompleted && !s.Reused {
			sum += time.Duration(s.DurationMS) * time.Millisecond
		}
	}
	return sum
}

// TimeUp reports whether the execution's time is up at now. It is the time of its calls: between them it waits for
// people, for leases, or for a function that there is no room to run, which is nobody's failure. Of a managed session
// it is all the time until Deadline; a call whose lease ran out stops that clock until it is made again or settled.
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

// ToolRef names the revision of a tool permission as read; 0: there is no such row.
type ToolRef struct {
	Name   string
	Rev    int
	Beside []aggregate.Owned // what else says that it may be called
}

// Call is what a claim is for.
type Call struct {
	Order         int
	Arguments     aggregate.Blob
	ArgumentsHash string
	NeedsGate     bool // see NeedsGate
	Claim         Claim
	Tool          ToolRef
	ToolRequest   string // the session's that it answers
}

// NeedsGate reports whether a person must see a step's resolved arguments first.
// dynamic says that a write's destination comes from an earlier result.
func NeedsGate(s Step, t aggregate.Terms, dynamic bool) bool {
	return s.RequiresHumanCheck || s.Access == aggregate.Write && (!t.AutoApproveTools || dynamic)
}

// MaxCrashes is how many calls of one read may be lost before it is not called again.
const MaxCrashes = 3

// ClaimStep gives an invocation the right to make a step's call. Claiming again what the same invocation holds is no
// change. It relies on the approved prompt and process, the gate, and the tool's permission; it writes the execution,
// so that a cancel in between makes it fail. It returns StopError when the execution must be failed, ErrInFlight when
// another's lease lives, ErrMoved when another step is next.
func (a *Aggregate) ClaimStep(run int, call Call, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	process, prompt := a.ProcessOf(e), a.Prompt()
	if e.Status != ExecutionRunning || process != a.Process() || prompt == nil || prompt.Status != aggregate.Approved {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if Hash(process.Steps) != process.ApprovedHash {
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
	number, from := a.callNumber(e, step.Order)
	if from != nil {
		c.RelyOn(from)
	}
	n := *e
	held := a.StepOf(e, step.Order)
	if held != nil {
		if held.Status == StepRunning && held.Claim.Invocation == call.Claim.Invocation {
			return aggregate.Change{}, nil // the answer to the first claim was lost
		}
		if err := reclaimable(held, now); err != nil {
			return aggregate.Change{}, err
		}
		n.WaitedMS += now.Sub(held.StartedAt).Milliseconds()
	}
	a.passGate(c, e, *step, call)
	row := StepResult{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order, StepID: step.StepID,
		Tool: step.Tool, Access: step.Access, Status: StepRunning, Call: number,
		Claim: &call.Claim, ToolRequest: call.ToolRequest, Arguments: call.Arguments, StartedAt: c.Now,
	}
	c.claim(row, held)
	n.CurrentStep = step.Order
	c.Put(&n)
	c.RelyOn(process, prompt)
	c.Owned = append(c.Owned, aggregate.Owned{Key: tenancy.ToolKey(call.Tool.Name), Rev: call.Tool.Rev})
	c.Owned = append(c.Owned, call.Tool.Beside...)
	return c.done()
}

// passGate relies on the gate before a step, if there is one, being approved with the very arguments of the call.
func (a *Aggregate) passGate(c *change, e *Execution, step Step, call Call) {
	g := a.GateOf(e, step.Order)
	switch {
	case g == nil && (call.NeedsGate || NeedsGate(step, e.Terms, false)):
		c.Fail(aggregate.ErrMoved) // a gate is next
	case g == nil:
	case g.Status != aggregate.Approved:
		c.Fail(aggregate.ErrMoved)
	case g.ArgumentsHash != call.ArgumentsHash:
		c.Fail(StopError{ReasonStepsChanged, step.StepID})
	default:
		c.RelyOn(g)
	}
}

// claim writes a claimed step, over the claim that crashed if there is one.
func (c *change) claim(row StepResult, crashed *StepResult) {
	if crashed == nil {
		c.Put(&row)
		return
	}
	row.Meta, row.Crashes = crashed.Meta, crashed.Crashes+1
	c.moveStep(crashed, row.Status, func(n *StepResult) { *n = row })
}

// reclaimable says whether a claimed step may be claimed again: a read whose lease
// is over, unless it ended its function each time.
func reclaimable(held *StepResult, now time.Time) error {
	if err := held.Stop(); err != nil {
		return err
	}
	switch {
	case now.Before(held.Claim.LeaseUntil):
		return aggregate.ErrInFlight
	case held.Access == aggregate.Write:
		return StopError{ReasonToolUnknown, held.StepID}
	case held.Crashes+1 >= MaxCrashes:
		return StopError{ReasonInterruptedRead, held.StepID}
	}
	return nil
}

// Outstanding is why a step that was claimed before must not be called now, whatever its tool, its constraints and its
// gate have become: StopError for what failed, and for a write that crashed; ErrInFlight while its lease lives.
func (a *Aggregate) Outstanding(e *Execution, order int, now time.Time) error {
	if row := a.StepOf(e, order); row != nil {
		return reclaimable(row, now)
	}
	return nil
}

// Stop is the StopError of a call that had no result; nil while it may have one.
func (s *StepResult) Stop() error {
	switch s.Status {
	case StepFailed:
		return StopError{s.Error, s.ErrorDetail}
	case StepUnknown:
		return StopError{ReasonToolUnknown, s.StepID}
	}
	return nil
}

// callNumber is n of the idempotency key: it grows after a definite failure, never
// after an unknown outcome. An attempt that did not come to the step changes
// nothing. from is the row that says so, nil for the first call.
func (a *Aggregate) callNumber(e *Execution, order int) (n int, from *StepResult) {
	if row := a.StepOf(e, order); row != nil {
		return row.Call, row
	}
	for attempt := e.Attempt - 1; attempt > 0; attempt-- {
		switch prev := aggregate.Find(a.Steps, StepKey(e.ProcessVersion, attempt, order)); {
		case prev == nil:
		case prev.Status == StepFailed:
			return prev.Call + 1, prev
		default:
			return prev.Call, prev
		}
	}
	return 1, nil
}

// IdempotencyKey is sent to vendors that honour one. Once the step is claimed it stays as it is.
func (a *Aggregate) IdempotencyKey(e *Execution, s Step) string {
	n, _ := a.callNumber(e, s.Order)
	return fmt.Sprintf("%s/%s/%d", e.ProcessID, s.StepID, n)
}

// OpenStepGate asks people about the next step with its resolved arguments. Doing it
// again is no change. It returns ErrMoved when another step is next, or its call has begun: see Outstanding.
func (a *Aggregate) OpenStepGate(run int, order int, args aggregate.Blob, hash string, now time.Time) (aggregate.Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return aggregate.Change{}, err
	}
	if e.Status != ExecutionRunning {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	step := a.NextStep(e)
	if step == nil || step.Order != order {
		return aggregate.Change{}, aggregate.ErrMoved
	}
	if a.GateOf(e, order) != nil {
		return aggregate.Change{}, nil
	}
	if a.StepOf(e, order) != nil { // called already, or being called
		return aggregate.Change{}, aggregate.ErrMoved
	}
	c := a.begin(now)
	g := &StepGate{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: order, StepID: step.StepID,
		Arguments: args, ArgumentsHash: hash, CreatedAt: c.Now, Gate: aggregate.Gate{Status: aggregate.PendingApproval, Terms: e.Terms},
	}
	g.ID = a.rowID(g.Key(), c.Now)
	by := c.Now.Add(time.Duration(e.Terms.ApprovalHours) * time.Hour)
	g.Terms.ApprovalRequired, g.Terms.DecideBy = true, &by
	n := *e
	n.CurrentStep = order
	c.Put(g, &n)
	a.relyOnStep(c, e)
	c.card(a, CardStep, g.Key())
	return c.done()
}

// Outcome is what became of a call.
type Outcome struct {
	Status StepStatus // completed, failed or unknown
	Result *aggregate.Blob
	Reason aggregate.Reason
	Detail string
}

// FinishStep records a call's outcome on its claim alone, whatever the execution has become meanwhile, because a late
// outcome is still what happened. It returns ErrSuperseded when the claim is another's, or was settled for good.
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
