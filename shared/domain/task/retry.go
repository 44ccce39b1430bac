package task

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// RetryGeneration retries a failed generation in a new run. While that runs, a second click changes nothing for the
// same person and returns ErrDecided for anybody else. It returns ErrNothingToRetry if nothing has failed or a retry
// can't help, and ErrMaxRetries after MaxRetries retries.
func (a *Aggregate) RetryGeneration(by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if err := p.Retry(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	if a.Head.Ended != nil {
		return aggregate.Change{}, a.ended()
	}
	if a.Head.Parked == nil {
		return aggregate.Change{}, a.Head.Retried.again(by)
	}
	if a.Head.Hopeless() {
		return aggregate.Change{}, ErrNothingToRetry
	}
	if !a.Head.RetriesLeft() {
		return aggregate.Change{}, ErrMaxRetries
	}
	c := a.begin(now)
	layer := a.Head.Parked.Layer
	a.relyOnStage(c)
	c.progress()
	c.startRun()
	c.Head.Retries = a.Head.Retries + 1
	c.Head.Retried = &Retried{By: by.ID, At: c.Now}
	c.audit(by, AuditGenerationRetried, a.Layer().resource(), a.layerID(), map[string]any{"layer": layer})
	return c.done()
}

// RetryExecution starts the next attempt at the same process, with the steps that earlier attempts completed. If people
// settled the steps too long ago, it first asks them again. If it
// finds a write with unknown outcome, it only records that and sets Change.Then to ErrUncovered: the person must check
// and click again. It returns ErrDecided if somebody else was faster, and ErrMaxAttempts if no attempt is left.
func (a *Aggregate) RetryExecution(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	e := a.Execution()
	if e == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if e.ID != id {
		return aggregate.Change{}, a.retried(id, by)
	}
	if err := p.Retry(by, a.Head.Requester); err != nil {
		return aggregate.Change{}, err
	}
	if a.Head.Ended != nil && a.Head.Ended.As != TaskFailed {
		return aggregate.Change{}, a.ended()
	}
	if a.Head.Ended == nil {
		return aggregate.Change{}, ErrNothingToRetry
	}
	process := a.ProcessOf(e)
	if e.Status != ExecutionFailed || process == nil {
		return aggregate.Change{}, aggregate.ErrConflict
	}
	if !e.AttemptsLeft() {
		return aggregate.Change{}, ErrMaxAttempts
	}
	c := a.begin(now)
	a.recordCrashedCalls(c)
	if slices.ContainsFunc(c.Rows, func(r aggregate.Row) bool {
		s, ok := r.(*StepResult)
		return ok && s.Status == StepUnknown
	}) {
		c.Then = aggregate.ErrUncovered
		return c.done()
	}
	c.progress()
	c.startRun()
	c.Head.Ended = nil
	c.moveTask(a.Task, TaskRunning)
	n := &Execution{
		TaskID: e.TaskID, ProcessID: e.ProcessID, ProcessVersion: e.ProcessVersion, Attempt: e.Attempt + 1, Status: ExecutionPending,
		Number:  e.Number,
		Results: []ResultEntry{}, RetriedBy: by.ID, CreatedAt: c.Now, Terms: e.Terms,
	}
	n.ID = a.rowID(n.Key(), c.Now)
	c.Put(n)
	c.askAgain(n)
	for _, step := range process.Steps {
		if done := a.lastDone(e, step.Order); done != nil {
			c.Put(done.carried(n))
		}
	}
	c.RelyOn(e)
	a.relyOnStep(c, e)
	a.relyOnEarlierCalls(c, e)
	c.audit(by, AuditExecutionRetried, "execution", n.ID, map[string]any{"attempt": n.Attempt})
	return c.done()
}
