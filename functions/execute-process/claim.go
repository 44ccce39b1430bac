package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/tool"
)

// joinWithin bounds what a read's result waits for while the next step's arguments are read or stored.
const joinWithin = 500 * time.Millisecond

// ready is a step's call with all that its claim needs.
type ready struct {
	found
	step      task.Step
	call      task.Call // with the arguments' hash
	arguments tool.Resolved
	deadline  time.Time // of the call; the lease ends later
}

// ready returns a call whose lease begins now. It returns errNoTime as within does.
func (j *job) ready(ctx context.Context, t found, step task.Step, call task.Call,
	arguments tool.Resolved) (*ready, error) {
	within, err := j.within(ctx, t.spec.Timeout)
	if err != nil {
		return nil, err
	}
	deadline := j.Now().Add(within)
	call.Claim = aggregate.Claim{Invocation: j.NewID(), LeaseUntil: deadline.Add(claimSpare)}
	return &ready{found: t, step: step, call: call, arguments: arguments, deadline: deadline}, nil
}

// within returns how long a call may take: its tool's timeout or, in an invocation that has done nothing yet, at most
// the remaining time. It returns errNoTime if a new invocation would have more.
func (j *job) within(ctx context.Context, timeout time.Duration) (time.Duration, error) {
	switch room := timeLeft(ctx) - claimSpare; {
	case room >= timeout:
		return timeout, nil
	case j.used, timeLeft(ctx) < minTurn:
		return 0, errNoTime
	default:
		return room, nil
	}
}

// claim commits that this invocation makes the step's call. If the commit's answer was lost, it reads the rows to learn
// whether the claim was saved. It returns aggregate.ErrMoved when the task changed meanwhile.
func (j *job) claim(ctx context.Context, a *task.Aggregate, x *ready) (*task.Aggregate, error) {
	within, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	a, err := j.Store.DecideOn(within, a, j.in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ClaimStep(j.in.Run, x.call, j.Now())
	}))
	if errors.Is(err, aggregate.ErrConflict) {
		return nil, aggregate.ErrMoved
	}
	return j.confirm(ctx, a, x, err)
}

// confirm returns a if err is nil. If the answer to a commit that claims x was lost, it reads whether that was saved.
func (j *job) confirm(ctx context.Context, a *task.Aggregate, x *ready, err error) (*task.Aggregate, error) {
	if stop := (task.StopError{}); err == nil || errors.As(err, &stop) || pipeline.Name(err) != pipeline.Unavailable {
		return a, err
	}
	a, again := j.Store.Load(ctx, j.in.Ref())
	if again != nil || x.held(a, j.Now()) == nil {
		return nil, err
	}
	return a, nil
}

// held returns x if a says that this invocation may make its call, else nil.
func (x *ready) held(a *task.Aggregate, now time.Time) *ready {
	if x == nil || a == nil || a.Head.Ended != nil || a.Execution() == nil || !now.Before(x.deadline) {
		return nil
	}
	row := a.StepOf(a.Execution(), x.step.Order)
	if row == nil || row.Claim == nil || row.Claim.Invocation != x.call.Claim.Invocation {
		return nil
	}
	return x
}

// start commits the execution's start, together with the first step's claim if nothing stands between, and makes that
// step's call.
func (j *job) start(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if a.Matter() != nil {
		return j.decide(ctx, a)
	}
	j.readAhead(ctx, a)
	var x *ready
	a, err := pipeline.Numbering(ctx, j.Store, j.in.Ref(), func(of task.Series) (*task.Aggregate, error) {
		begin := j.in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.StartExecution(j.in.Run, of, j.Now())
		})
		x = j.next(ctx, a, begin, keepWithin)
		after, err := j.join(ctx, a, begin, x)
		if x != nil && !errors.Is(err, task.ErrNumber) {
			after, err = j.confirm(ctx, after, x, err)
		}
		return after, err
	})
	if err != nil {
		return nil, fmt.Errorf("start the execution: %w", err)
	}
	return j.calls(ctx, a, x.held(a, j.Now()))
}

// decide commits the start of an execution that only records a decision together with the decision's number and the
// step's result, or nothing of it.
func (j *job) decide(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	step := a.NextStep(a.Execution())
	if step == nil {
		return nil, aggregate.ErrConflict
	}
	t, err := j.find(ctx, a.Head.TenantID, *step)
	if err != nil {
		return nil, err
	}
	call, _, err := j.prepare(ctx, a, j.fill(ctx, a, *step), t)
	if err != nil {
		return nil, err
	}
	return pipeline.Numbering(ctx, j.Store, j.in.Ref(), func(of task.Series) (*task.Aggregate, error) {
		return j.Store.DecideOn(ctx, a, j.in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
			c, err := a.StartExecution(j.in.Run, of, j.Now())
			if err != nil || c.Head == nil {
				return c, err
			}
			return a.ClaimAfter(c, j.in.Run, call)
		}))
	})
}

// following returns the step after a call, ready to be claimed by the commit of the call's result, or nil. A write's
// result waits for nothing, since nobody could make the call again: then only what is in memory is used.
func (j *job) following(ctx context.Context, a *task.Aggregate, x *ready, finish task.Decision) *ready {
	if x.call.ToolRequest != "" || j.Now().Add(2*commitWithin).After(x.call.Claim.LeaseUntil) {
		return nil
	}
	within := joinWithin
	if x.step.Access == aggregate.Write {
		within = 0
	}
	return j.next(ctx, a, finish, within)
}

// next returns the step that is next after first, ready to be claimed by the same commit. It returns nil if first must
// be committed alone: before a gate, a repeated call or a check of the task's cost, with too little time, and wherever
// a turn of its own would find why the call can't be made. It reads and stores within the given time.
func (j *job) next(ctx context.Context, a *task.Aggregate, first task.Decision, within time.Duration) *ready {
	if j.settings.MaxCost() > 0 || timeLeft(ctx) < minTurn {
		return nil
	}
	c, err := first(a)
	if err != nil || c.Head == nil {
		return nil
	}
	a = a.Apply(c)
	step := a.NextStep(a.Execution())
	if step == nil || a.StepOf(a.Execution(), step.Order) != nil {
		return nil
	}
	permission, known := j.permissions[step.Tool]
	t, err := j.permit(*step, permission)
	if !known || err != nil {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	call, arguments, err := j.prepare(soon, a, j.fill(soon, a, *step), t)
	if err != nil || call.NeedsGate {
		return nil
	}
	x, err := j.ready(ctx, t, *step, call, arguments)
	if err != nil {
		return nil
	}
	return x
}

// readAhead reads the permissions of the coming steps' tools, since no result may wait for that. A claim relies on them
// as they were read. It stops at the first that can't be read, and a claim whose permission is unknown is not joined.
func (j *job) readAhead(ctx context.Context, a *task.Aggregate) {
	ctx, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	e := a.Execution()
	for _, s := range a.ProcessOf(e).Steps {
		if _, known := j.permissions[s.Tool]; known || a.StepOf(e, s.Order) != nil {
			continue
		}
		if j.settings.MaxCost() > 0 || task.NeedsGate(s, e.Terms, false) {
			return // nothing is joined from here on
		}
		p, _, err := j.Store.ToolPermission(ctx, j.in.Tenant, s.Tool)
		if err != nil {
			return
		}
		j.permissions[s.Tool] = p
	}
}

// join commits first together with the claim of x. If that is refused, or x is nil, it commits first alone.
func (j *job) join(ctx context.Context, a *task.Aggregate, first task.Decision, x *ready) (*task.Aggregate, error) {
	if x == nil {
		return j.Store.DecideOn(ctx, a, first)
	}
	ctx, cancel := context.WithTimeout(ctx, claimWithin)
	defer cancel()
	tried := false
	after, err := j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (aggregate.Change, error) {
		c, err := first(a)
		if tried || err != nil {
			return c, err
		}
		tried = true // if this commit fails, first is committed alone
		if both, err := a.ClaimAfter(c, j.in.Run, x.call); err == nil {
			return both, nil
		}
		return c, nil
	})
	if err != nil || x.held(after, j.Now()) == nil {
		clear(j.permissions) // one of them may have changed
	}
	return after, err
}
