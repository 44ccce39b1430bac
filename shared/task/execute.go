package task

import (
	"fmt"
	"time"
)

// StopError says that an execution cannot go on, and why: it must be failed.
type StopError struct {
	Reason Reason
	Detail string
}

func (e StopError) Error() string { return fmt.Sprintf("%s: %s", e.Reason, e.Detail) }

// StartExecution moves the pending execution to running. Doing it again is no change.
func (a *Aggregate) StartExecution(run int, now time.Time) (Change, error) {
	e, err := a.executing(run)
	if err != nil || e.Status == ExecutionRunning {
		return Change{}, err
	}
	c := a.begin(now)
	n := *e
	n.Status, n.StartedAt = ExecutionRunning, &c.Now
	c.put(&n)
	c.audit(System(), ExecutionStarted, "execution", e.ID, map[string]any{"attempt": e.Attempt})
	return c, nil
}

// executing returns the execution that run may work on.
func (a *Aggregate) executing(run int) (*Execution, error) {
	if err := a.working(run); err != nil {
		return nil, err
	}
	e := a.Execution()
	if e == nil || e.Status != ExecutionPending && e.Status != ExecutionRunning {
		return nil, ErrSuperseded
	}
	return e, nil
}

// NextStep returns the first step that has not completed, nil when all have.
func (a *Aggregate) NextStep(e *Execution) *Step {
	p := a.ProcessOf(e)
	for i := range p.Steps {
		if row := a.StepOf(e, p.Steps[i].Order); row == nil || row.Status != StepCompleted {
			return &p.Steps[i]
		}
	}
	return nil
}

// Deadline is when the execution's time is up; waiting for people and for dead leases is excluded.
func (a *Aggregate) Deadline(e *Execution) time.Time {
	if e.StartedAt == nil {
		return e.CreatedAt.Add(1000 * time.Hour) // its time has not begun
	}
	return e.StartedAt.Add(time.Duration(e.Terms.L4TimeoutSeconds)*time.Second + time.Duration(e.WaitedMS)*time.Millisecond)
}

// Call is what a claim is for.
type Call struct {
	Order         int
	Arguments     Blob
	ArgumentsHash string
	NeedsGate     bool // see NeedsGate
	Claim         Claim
	Tool          ToolRef
}

// NeedsGate reports whether a person must see a step's resolved arguments first.
// dynamic says that a write's destination comes from an earlier result.
func NeedsGate(s Step, t Terms, dynamic bool) bool {
	return s.RequiresHumanCheck || s.Effect == Write && (!t.AutoApproveTools || dynamic)
}

// ClaimStep is where a call begins. It relies on the approved prompt and process,
// the gate, and the tool's permission; it writes the execution, so that a cancel in between makes it fail.
// It returns StopError when the execution must be failed, ErrInFlight when another's lease lives, ErrMoved when another step is next.
func (a *Aggregate) ClaimStep(run int, call Call, now time.Time) (Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return Change{}, err
	}
	process, prompt := a.ProcessOf(e), a.Prompt()
	if e.Status != ExecutionRunning || process != a.Process() || process.Status != Approved || prompt.Status != Approved {
		return Change{}, ErrSuperseded
	}
	if Hash(process.Steps) != process.ApprovedHash {
		return Change{}, StopError{Reason: ReasonStepsChanged}
	}
	step := a.NextStep(e)
	if step == nil || step.Order != call.Order {
		return Change{}, ErrMoved
	}
	if now.After(a.Deadline(e)) {
		return Change{}, StopError{ReasonTimeout, fmt.Sprint(e.Terms.L4TimeoutSeconds)}
	}
	c := a.begin(now)
	row := &StepResult{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: step.Order, StepID: step.StepID,
		Tool: step.Tool, Effect: step.Effect, Call: a.callNumber(e, step.Order),
	}
	n := *e
	if held := a.StepOf(e, step.Order); held != nil {
		if err := reclaimable(held, now); err != nil {
			return Change{}, err
		}
		n.WaitedMS += now.Sub(held.StartedAt).Milliseconds()
		row.Rev, row.Call = held.Rev, held.Call
	}
	if call.NeedsGate {
		g := a.GateOf(e, step.Order)
		if g == nil || g.Status != Approved || g.ArgumentsHash != call.ArgumentsHash {
			return Change{}, StopError{ReasonStepsChanged, step.StepID}
		}
		c.rely(g)
	}
	row.Status, row.Claim, row.Arguments, row.StartedAt = StepRunning, &call.Claim, call.Arguments, c.Now
	n.CurrentStep = step.Order
	c.put(row, &n)
	c.rely(process, prompt)
	c.Tool = &call.Tool
	return c, nil
}

// reclaimable says whether a claimed step may be claimed again: a read whose lease is over.
func reclaimable(held *StepResult, now time.Time) error {
	switch {
	case held.Status == StepFailed:
		return StopError{held.Error, held.ErrorDetail}
	case held.Status == StepUnknown:
		return StopError{ReasonToolUnknown, held.StepID}
	case now.Before(held.Claim.LeaseUntil):
		return ErrInFlight
	case held.Effect == Write:
		return StopError{ReasonToolUnknown, held.StepID}
	}
	return nil
}

// callNumber is n of the idempotency key: it grows after a definite failure, never after an unknown outcome.
func (a *Aggregate) callNumber(e *Execution, order int) int {
	prev := find(a.Steps, StepKey(e.ProcessVersion, e.Attempt-1, order))
	switch {
	case prev == nil:
		return 1
	case prev.Status == StepFailed:
		return prev.Call + 1
	}
	return prev.Call
}

// IdempotencyKey is sent to vendors that honour one.
func (a *Aggregate) IdempotencyKey(e *Execution, s Step) string {
	return fmt.Sprintf("%s/%s/%d", e.ProcessID, s.StepID, a.callNumber(e, s.Order))
}

// OpenStepGate asks people about the next step with its resolved arguments. Doing it again is no change.
func (a *Aggregate) OpenStepGate(run int, order int, args Blob, hash string, now time.Time) (Change, error) {
	e, err := a.executing(run)
	if err != nil {
		return Change{}, err
	}
	step := a.NextStep(e)
	if step == nil || step.Order != order {
		return Change{}, ErrMoved
	}
	if a.GateOf(e, order) != nil {
		return Change{}, nil
	}
	c := a.begin(now)
	g := &Gate{
		TaskID: a.Head.TaskID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: order, StepID: step.StepID,
		Arguments: args, ArgumentsHash: hash, Status: PendingApproval, CreatedAt: c.Now, Terms: e.Terms,
	}
	g.ID = a.rowID(g.Key(), c.Now)
	by := c.Now.Add(time.Duration(e.Terms.ApprovalHours) * time.Hour)
	g.Terms.ApprovalRequired, g.Terms.DecideBy = true, &by
	n := *e
	n.CurrentStep = order
	c.put(g, &n)
	c.card(a, CardStep, g.Key())
	return c, nil
}

// Outcome is what became of a call.
type Outcome struct {
	Status StepStatus // completed, failed or unknown
	Result *Blob
	Reason Reason
	Detail string
}

// FinishStep records a call's outcome on its claim alone, whatever the execution
// has become meanwhile: late truth is truth. It returns ErrSuperseded when the claim is another's.
func (a *Aggregate) FinishStep(key, invocation string, o Outcome, now time.Time) (Change, error) {
	row := find(a.Steps, key)
	if row == nil || row.Claim == nil || row.Claim.Invocation != invocation {
		return Change{}, ErrSuperseded
	}
	if row.Status == o.Status {
		return Change{}, nil
	}
	if !StepMoves.Allows(row.Status, o.Status) {
		return Change{}, errMove("step", row.Status, o.Status)
	}
	c := a.begin(now)
	c.Head.Restarts = 0
	c.put(row.settled(o, c.Now))
	return c, nil
}

func (s *StepResult) settled(o Outcome, now time.Time) *StepResult {
	n := *s
	n.Status, n.Result, n.Error, n.ErrorDetail = o.Status, o.Result, o.Reason, o.Detail
	n.CompletedAt, n.DurationMS = &now, now.Sub(s.StartedAt).Milliseconds()
	return &n
}

// settleLeases records that calls whose lease is over crashed: a read failed, a
// write's outcome is unknown. It returns the rows as they become, and ErrInFlight while a lease lives.
func (a *Aggregate) settleLeases(c *Change) (unknown bool, err error) {
	for _, s := range a.Steps {
		if s.Status != StepRunning {
			continue
		}
		if c.Now.Before(s.Claim.LeaseUntil) {
			return false, ErrInFlight
		}
		o := Outcome{Status: StepFailed, Reason: ReasonInterruptedRead, Detail: s.StepID}
		if s.Effect == Write {
			o, unknown = Outcome{Status: StepUnknown, Reason: ReasonToolUnknown, Detail: s.StepID}, true
		}
		c.put(s.settled(o, c.Now))
	}
	return unknown, nil
}

// SettleLeases is for the sweeper: the calls that were in flight when a task was cancelled.
// It returns ErrNotDue when there are none, ErrInFlight while a lease lives.
func (a *Aggregate) SettleLeases(now time.Time) (Change, error) {
	c := a.begin(now)
	if _, err := a.settleLeases(&c); err != nil {
		return Change{}, err
	}
	if len(c.Rows) == 0 {
		return Change{}, ErrNotDue
	}
	return c, nil
}

// results is what the execution's row keeps of its steps, with rows of this Change over those of the aggregate.
func (a *Aggregate) results(e *Execution, c Change) []ResultEntry {
	out := []ResultEntry{}
	for _, s := range a.StepsOf(e) {
		for _, r := range c.Rows {
			if n, ok := r.(*StepResult); ok && n.Key() == s.Key() {
				s = n
			}
		}
		out = append(out, ResultEntry{
			StepID: s.StepID, Tool: s.Tool, Status: s.Status, Result: s.Result, DurationMS: s.DurationMS,
			StartedAt: s.StartedAt, CompletedAt: s.CompletedAt, Reused: s.Reused,
		})
	}
	return out
}
