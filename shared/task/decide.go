package task

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/aggregate"
)

// MaxReason is how long a rejection's reason may be, in characters.
const MaxReason = 1000

// ApprovePrompt stamps the newest prompt. It returns ErrDecided, ErrNotLatest,
// ErrNotAllowed or ErrNotFound; the same person stamping twice is no change.
func (a *Aggregate) ApprovePrompt(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	row, err := a.promptByID(id)
	if err != nil {
		return Change{}, err
	}
	c, ok, err := a.stamp(row.Status, row.Verdict, row.Terms, by, p, now)
	if !ok {
		return Change{}, err
	}
	if err := moveGate(c, row, aggregate.Approved, func(n *Prompt) { n.ApprovedBy, n.ApprovedAt = by.ID, &c.Now }); err != nil {
		return Change{}, err
	}
	c.audit(by, PromptApproved, "prompt", row.ID, map[string]any{"version": row.Version})
	return c.done(), nil
}

// ApproveProcess stamps the newest steps: the task runs, and an execution is
// there from now on that can fail or be cancelled. It relies on the approved prompt.
func (a *Aggregate) ApproveProcess(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	row, err := a.processByID(id)
	if err != nil {
		return Change{}, err
	}
	c, ok, err := a.stamp(row.Status, row.Verdict, row.Terms, by, p, now)
	if !ok {
		return Change{}, err
	}
	prompt := a.Prompt()
	if prompt == nil || prompt.Status != aggregate.Approved {
		return Change{}, aggregate.ErrConflict
	}
	hash := Hash(row.Steps)
	err = moveGate(c, row, aggregate.Approved, func(n *Process) { n.ApprovedBy, n.ApprovedAt, n.ApprovedHash = by.ID, &c.Now, hash })
	if err != nil {
		return Change{}, err
	}
	if err := c.moveTask(a.Task, TaskRunning); err != nil {
		return Change{}, err
	}
	e := &Execution{
		TaskID: a.Head.TaskID, ProcessID: row.ID, ProcessVersion: row.Version, Attempt: 1, Status: ExecutionPending,
		Results: []ResultEntry{}, CreatedAt: c.Now, Terms: row.Terms,
	}
	e.ID = a.rowID(e.Key(), c.Now)
	c.Put(e)
	c.card(a, CardExecution, "EXECUTION")
	c.RelyOn(prompt)
	c.audit(by, ProcessApproved, "process", row.ID, map[string]any{"version": row.Version, "hash": hash})
	return c.done(), nil
}

// ApproveStep lets one step run with the arguments that the gate showed.
func (a *Aggregate) ApproveStep(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	g, e, err := a.gateByID(id)
	if err != nil {
		return Change{}, err
	}
	c, ok, err := a.stamp(g.Status, g.Verdict, g.Terms, by, p, now)
	if !ok {
		return Change{}, err
	}
	if err := moveGate(c, g, aggregate.Approved, func(n *Gate) { n.ApprovedBy, n.ApprovedAt = by.ID, &c.Now }); err != nil {
		return Change{}, err
	}
	ex := *e
	ex.WaitedMS += c.Now.Sub(g.CreatedAt).Milliseconds()
	c.Put(&ex)
	c.audit(by, StepApproved, "execution", e.ID, map[string]any{"step": g.StepID, "arguments_hash": g.ArgumentsHash})
	return c.done(), nil
}

// stamp opens the Change of an approval; ok is false when there is none to make.
// The system stamps only what was opened with approvals switched off.
func (a *Aggregate) stamp(status aggregate.GateStatus, v aggregate.Verdict, t aggregate.Terms, by aggregate.Actor, p aggregate.Policy, now time.Time) (c *change, ok bool, err error) {
	if status == aggregate.Approved && v.ApprovedBy == by.ID && v.ApprovedAt != nil {
		return nil, false, nil
	}
	if err := a.undecided(status, v); err != nil {
		return nil, false, err
	}
	if err := p.Approve(by, a.Head.Requester); err != nil {
		return nil, false, err
	}
	if by.Type == aggregate.ActorSystem && t.ApprovalRequired {
		return nil, false, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed}
	}
	if !settled(1) {
		return nil, false, fmt.Errorf("a gate that needs more than one stamp")
	}
	c = a.begin(now)
	c.progress()
	return c, true, nil
}

// RejectPrompt sends the newest policy back with a reason. A next version is
// generated, until max_versions are used up: then the task is cancelled.
func (a *Aggregate) RejectPrompt(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	row, err := a.promptByID(id)
	if err != nil {
		return Change{}, err
	}
	c, reason, ok, err := a.refuse(row.Status, row.Verdict, reason, by, p, now)
	if !ok {
		return Change{}, err
	}
	if err := moveGate(c, row, aggregate.Rejected, func(n *Prompt) { n.Reject(by, reason, c.Now) }); err != nil {
		return Change{}, err
	}
	c.audit(by, PromptRejected, "prompt", row.ID, map[string]any{"version": row.Version, "reason": reason})
	return a.afterRejection(c, row.Version, row.Terms)
}

// RejectProcess is RejectPrompt for the steps.
func (a *Aggregate) RejectProcess(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	row, err := a.processByID(id)
	if err != nil {
		return Change{}, err
	}
	c, reason, ok, err := a.refuse(row.Status, row.Verdict, reason, by, p, now)
	if !ok {
		return Change{}, err
	}
	if err := moveGate(c, row, aggregate.Rejected, func(n *Process) { n.Reject(by, reason, c.Now) }); err != nil {
		return Change{}, err
	}
	c.audit(by, ProcessRejected, "process", row.ID, map[string]any{"version": row.Version, "reason": reason})
	return a.afterRejection(c, row.Version, row.Terms)
}

// RejectStep ends the execution and the task: what a person refused is not
// planned anew behind their back. Completed steps stay.
func (a *Aggregate) RejectStep(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (Change, error) {
	g, e, err := a.gateByID(id)
	if err != nil {
		return Change{}, err
	}
	c, reason, ok, err := a.refuse(g.Status, g.Verdict, reason, by, p, now)
	if !ok {
		return Change{}, err
	}
	if err := moveGate(c, g, aggregate.Rejected, func(n *Gate) { n.Reject(by, reason, c.Now) }); err != nil {
		return Change{}, err
	}
	c.audit(by, StepRejected, "execution", e.ID, map[string]any{"step": g.StepID, "reason": reason})
	if err := a.cancelExecution(c, e, by); err != nil {
		return Change{}, err
	}
	return c.ended(a.Task, TaskCancelled, by, ReasonStepRejected)
}

func (a *Aggregate) refuse(status aggregate.GateStatus, v aggregate.Verdict, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (*change, string, bool, error) {
	reason, err := CheckReason(reason)
	if err != nil {
		return nil, "", false, err
	}
	if status == aggregate.Rejected && v.RejectedBy == by.ID {
		return nil, "", false, nil
	}
	if err := a.undecided(status, v); err != nil {
		return nil, "", false, err
	}
	if err := p.Reject(by, a.Head.Requester); err != nil {
		return nil, "", false, err
	}
	c := a.begin(now)
	c.progress()
	return c, reason, true, nil
}

// CheckReason trims a rejection's reason and returns ErrField when it is empty or too long.
func CheckReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n == 0 || n > MaxReason {
		return "", aggregate.ErrField{Field: "rejection_reason", Limit: fmt.Sprintf("must have 1 to %d characters, not %d", MaxReason, n)}
	}
	return reason, nil
}

func (a *Aggregate) afterRejection(c *change, version int, terms aggregate.Terms) (Change, error) {
	if version < terms.MaxVersions {
		return c.done(), nil
	}
	c.audit(aggregate.System(), TaskCancelledAction, "task", a.Head.TaskID, map[string]any{"reason": ReasonMaxVersions, "max_versions": terms.MaxVersions})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonMaxVersions)
}

// undecided returns ErrDecided unless the gate waits.
func (a *Aggregate) undecided(status aggregate.GateStatus, v aggregate.Verdict) error {
	switch {
	case status == aggregate.Approved && v.ApprovedAt != nil:
		return aggregate.ErrDecided{Status: string(status), By: v.ApprovedBy, At: *v.ApprovedAt}
	case status == aggregate.Rejected && v.RejectedAt != nil:
		return aggregate.ErrDecided{Status: string(status), By: v.RejectedBy, At: *v.RejectedAt}
	case a.Head.Ended != nil:
		return a.ended()
	case status == aggregate.Expired || status == aggregate.Cancelled:
		return aggregate.ErrConflict // the head that says so was read before it did
	case status != aggregate.PendingApproval:
		return aggregate.ErrNotFound // not open yet: nobody was shown a button
	}
	return nil
}

// ended is ErrDecided for a task that is over.
func (a *Aggregate) ended() error {
	e := a.Head.Ended
	return aggregate.ErrDecided{Status: string(e.As), By: e.By, At: e.At, Reason: e.Reason}
}

func (a *Aggregate) promptByID(id string) (*Prompt, error) {
	for _, p := range a.Prompts {
		if p.ID == id {
			if newest := a.Prompt(); newest != p && p.Status == aggregate.PendingApproval {
				return nil, aggregate.ErrNotLatest{Latest: newest.Version}
			}
			return p, nil
		}
	}
	return nil, aggregate.ErrNotFound
}

func (a *Aggregate) processByID(id string) (*Process, error) {
	for _, p := range a.Processes {
		if p.ID == id {
			if newest := a.Process(); newest != p && p.Status == aggregate.PendingApproval {
				return nil, aggregate.ErrNotLatest{Latest: newest.Version}
			}
			return p, nil
		}
	}
	return nil, aggregate.ErrNotFound
}

func (a *Aggregate) gateByID(id string) (*Gate, *Execution, error) {
	for _, g := range a.Gates {
		if g.ID == id {
			e := aggregate.Find(a.Executions, ExecutionKey(g.ProcessVersion, g.Attempt))
			if e == nil {
				return nil, nil, aggregate.ErrConflict
			}
			if row := a.StepOf(e, g.Order); g.Status == aggregate.Cancelled && a.Head.Ended == nil && row != nil && row.CompletedAt != nil {
				return nil, nil, aggregate.ErrSuperseded // an earlier call turned out to have done it
			}
			return g, e, nil
		}
	}
	return nil, nil, aggregate.ErrNotFound
}

// settled alone knows how many stamps a gate needs: today one is enough.
func settled(stamps int) bool { return stamps >= 1 }
