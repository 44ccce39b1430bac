package task

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

// End cancels a task in any stage, also one that failed over a write of unknown outcome: that stays unknown. A call in
// flight is not aborted; its outcome is recorded when it is known. End returns ErrDecided if the task is over, and
// ErrNotAllowed with the rule that refused.
func (a *Aggregate) End(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if stop, err := a.cancelled(by, p); stop {
		return aggregate.Change{}, err
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	about := map[string]any{"reason": ReasonByPerson}
	if e := a.Execution(); e != nil && !e.over() {
		about["execution"] = e.ID
	} else if e != nil && a.failedUnsure() {
		a.relyOnStep(c, e)
		about["execution"], about["ends"] = e.ID, map[StepStatus][]string{StepUnknown: a.unsure()}
	}
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, about)
	return c.ended(a.Task, TaskCancelled, by, ReasonByPerson)
}

// CancelExecution ends the task, as End does, when somebody presses the button on the card of an execution. id must be
// that of the newest execution.
func (a *Aggregate) CancelExecution(id string, by aggregate.Actor, p aggregate.Policy,
	now time.Time) (aggregate.Change, error) {
	switch e := a.Execution(); {
	case e == nil:
		return aggregate.Change{}, aggregate.ErrNotFound
	case e.ID != id:
		return aggregate.Change{}, a.otherExecution(id)
	case e.over():
		return a.End(by, p, now)
	}
	if stop, err := a.cancelled(by, p); stop {
		return aggregate.Change{}, err
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	return c.ended(a.Task, TaskCancelled, by, ReasonByPerson)
}

// cancelled reports whether End must stop, and with which error. Cancelling twice is no error for the same person.
func (a *Aggregate) cancelled(by aggregate.Actor, p aggregate.Policy) (stop bool, err error) {
	if e := a.Head.Ended; e != nil && !a.failedUnsure() {
		if e.As == TaskCancelled && e.By == by.ID && by.ID != "" {
			return true, nil
		}
		return true, a.ended()
	}
	if err := a.mayWithdraw(by, p); err != nil {
		return true, err
	}
	return false, nil
}

// mayWithdraw returns ErrNotAllowed with the rule by which somebody may not cancel the task: the gate that waits, or
// else the steps' gate that was settled, says who may.
func (a *Aggregate) mayWithdraw(by aggregate.Actor, p aggregate.Policy) error {
	var g *aggregate.Gate
	if open, waits := a.OpenGate(); waits {
		g = a.Asked(open.ID).Gate
	}
	if steps := a.Process(); steps != nil && g == nil {
		g = &steps.Gate
	}
	return p.WithdrawFrom(g, by, a.Head.Requester)
}

// withdraw closes an open gate and a running execution. It relies on the task's stage, so the commit fails if another
// gate or execution was opened meanwhile.
func (a *Aggregate) withdraw(by aggregate.Actor, to aggregate.GateStatus, now time.Time) *change {
	c := a.begin(now)
	if open, ok := a.OpenGate(); ok {
		c.moveGate(a.gateOf(open.ID), to, nil)
	}
	if e := a.Execution(); e != nil && !e.over() {
		a.cancelExecution(c, e, by)
	}
	a.relyOnStage(c)
	return c
}

func (a *Aggregate) cancelExecution(c *change, e *Execution, by aggregate.Actor) {
	results := a.results(e, c)
	c.moveExecution(e, ExecutionCancelled, func(n *Execution) {
		n.CancelledBy, n.CancelledAt, n.Results = by.ID, &c.Now, results
	})
	a.relyOnStep(c, e)
	c.audit(by, AuditExecutionCancelled, "execution", e.ID, a.writesOf(e, c, results, map[string]any{}))
}

// Expire ends a task whose gate was not decided in time. It returns ErrNotDue before decide_by, or if nothing waits.
// Only the sweeper calls it.
func (a *Aggregate) Expire(now time.Time) (aggregate.Change, error) {
	open, ok := a.OpenGate()
	if !ok || open.Terms.DecideBy == nil || !now.After(*open.Terms.DecideBy) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.withdraw(aggregate.System(), aggregate.Expired, now)
	kind, id := string(open.Kind), open.ID
	if e := a.Execution(); open.Kind == CardStep && e != nil {
		kind, id = "execution", e.ID
	}
	c.audit(aggregate.System(), AuditTaskExpired, kind, id, map[string]any{"hours": open.Terms.ApprovalHours})
	return c.ended(a.Task, TaskCancelled, aggregate.System(), ReasonExpired)
}

// otherExecution returns the error for an execution id that is not the newest one's.
func (a *Aggregate) otherExecution(id string) error {
	for _, e := range a.Executions {
		if e.ID == id {
			return aggregate.ErrNotLatest{Latest: a.Execution().Attempt}
		}
	}
	return aggregate.ErrNotFound
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

// recordCrashedCalls records calls with an expired lease as crashed: a read failed, the outcome of a write is unknown.
// While a lease is live, c fails with ErrInFlight.
func (a *Aggregate) recordCrashedCalls(c *change) {
	for _, s := range a.Steps {
		if s.Status != StepRunning {
			continue
		}
		if s.Claim.Live(c.Now) {
			c.Fail(aggregate.ErrInFlight)
			return
		}
		o := Outcome{Status: StepFailed, Reason: ReasonInterruptedRead, Detail: s.StepID}
		if s.Access == aggregate.Write {
			o = Outcome{Status: StepUnknown, Reason: ReasonToolUnknown, Detail: s.StepID}
		}
		a.finishStep(c, s, o)
	}
}

// RecordCrashedCalls is called by the sweeper for calls that were in flight when the task ended. It returns ErrNotDue
// if there are none or the execution goes on, and ErrInFlight while a lease is live.
func (a *Aggregate) RecordCrashedCalls(now time.Time) (aggregate.Change, error) {
	if e := a.Execution(); e == nil || !e.over() {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	a.recordCrashedCalls(c)
	if len(c.Rows) == 0 {
		c.Fail(aggregate.ErrNotDue)
	}
	return c.done()
}

// recordLate updates the results of an execution that is already over; otherwise results are written when it ends. For
// a write it adds an audit entry, because an earlier entry may state another outcome; by is a person who confirmed it.
func (a *Aggregate) recordLate(c *change, s *StepResult, by aggregate.Actor) {
	e := aggregate.Find(a.Executions, ExecutionKey(s.ProcessVersion, s.Attempt))
	switch {
	case e == nil:
		c.RelyOn(&Execution{ProcessVersion: s.ProcessVersion, Attempt: s.Attempt})
		return
	case !e.over():
		c.RelyOn(e)
		return
	}
	if earlier, is := c.Written(e.Key()).(*Execution); is { // another call's
		e = earlier
	}
	n, was := *e, StepRunning
	n.Results = slices.Clone(e.Results)
	i := slices.IndexFunc(n.Results, func(r ResultEntry) bool { return r.StepID == s.StepID })
	if i < 0 {
		i, n.Results = len(n.Results), append(n.Results, ResultEntry{})
	} else {
		was = n.Results[i].Status
	}
	n.Results[i] = s.entry()
	c.Put(&n)
	if s.Access == aggregate.Write {
		c.audit(by, AuditExecutionLate, "execution", e.ID,
			map[string]any{"attempt": e.Attempt, "step": s.StepID, "status": s.Status, "was": was})
	}
}

// carryLate copies the result of an earlier attempt's call to the newest attempt, so that the step is not done twice.
// The step's open gate is cancelled. A step that the newest attempt has already called is unchanged.
func (a *Aggregate) carryLate(c *change, s *StepResult) {
	e := a.Execution()
	if e == nil || e.ProcessVersion != s.ProcessVersion {
		return
	}
	c.RelyOn(&Execution{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1}) // e must still be the newest
	if s.Status != StepCompleted || e.Attempt <= s.Attempt || e.over() || a.StepOf(e, s.Order) != nil {
		return
	}
	c.Put(s.carried(e))
	n := *e
	g := a.GateOf(e, s.Order)
	if g == nil {
		c.RelyOn(&StepGate{ProcessVersion: e.ProcessVersion, Attempt: e.Attempt, Order: s.Order})
	}
	if g != nil && g.Status == aggregate.PendingApproval {
		c.moveGate(g, aggregate.Cancelled, nil)
		n.WaitedMS += c.Now.Sub(g.CreatedAt).Milliseconds()
	}
	c.Put(&n)
}

// carried returns a copy of a completed step's row for a later attempt.
func (s *StepResult) carried(to *Execution) *StepResult {
	n := *s
	n.Meta, n.Attempt, n.Reused = aggregate.Meta{}, to.Attempt, true
	return &n
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

// WillAsk reports whether people will be asked about a new request's policy or steps. It ignores gates of single steps,
// and those whose people the tenant's rules name.
func (a *Aggregate) WillAsk(s tenancy.Settings) bool {
	return a.asksForPolicy(s) || a.asksForSteps(s) && !a.UnderRules(s)
}

// Undecidable reports whether the task is parked because nobody could approve the version that was made.
func (h Head) Undecidable() bool { return h.Parked != nil && h.Parked.Sentence == ReasonNobodyApproves }

// Saying returns a hash of what a request says: its text, what it forwards, and which files it has.
func (r *Request) Saying() string {
	all := []string{r.Text, strconv.Itoa(r.MoreFiles)}
	for _, q := range r.Forwarded {
		all = append(all, q.User, q.Name, q.Text)
	}
	for _, f := range r.Files {
		all = append(all, "file", f.ID)
	}
	return aggregate.HashOf(strings.Join(all, "\x00"))
}

// Threaded reports whether the message is a reply in a thread.
func (r *Request) Threaded() bool { return r.ThreadTS != "" && r.ThreadTS != r.MessageTS }

// Edited reports whether an edit of its message by this person is of a request that is theirs and isn't over: nothing
// follows from it, and they are told so.
func (a *Aggregate) Edited(by string) bool { return a.Head.Ended == nil && by == a.Head.Requester }

// Deleted cancels what waits, because the message of this person's request was deleted. Nothing changes once an
// execution has begun. Slack doesn't say who deleted a message: people may also delete those of others
// (https://docs.slack.dev/reference/events/message/message_deleted).
func (a *Aggregate) Deleted(author string, now time.Time) (aggregate.Change, error) {
	switch _, offered := a.OfferedIn(); {
	case a.Request == nil:
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	case offered, a.Head.Ended != nil, a.Execution() != nil, author != a.Head.Requester:
		return aggregate.Change{}, nil
	}
	by := aggregate.System()
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDeleted})
	return c.ended(a.Task, TaskCancelled, by, ReasonDeleted)
}

// Gone keeps that a message was deleted before it was received, so that a later delivery of it makes no request. Nobody
// is shown anything of it.
func Gone(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	r = r.Unsaid()
	r.CreatedAt = now
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.Head.Ended = &Ended{As: TaskCancelled, At: c.Now, Reason: ReasonDeleted}
	c.of = nil // no list has it
	out, err := c.done()
	return out, a.Ref(), err
}
