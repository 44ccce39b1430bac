package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/model"
	"ringi/shared/pipeline"
	"ringi/shared/task"
	"ringi/shared/tenancy"
	"ringi/shared/tool"
)

const (
	// spare is what a claim needs beside the call itself: to keep the result and to commit it.
	spare = 15 * time.Second
	// least is how much of the function's time must be left for a turn, or for a fresh invocation's claim, to be worth it.
	least = 20 * time.Second
	// claimWithin bounds a claim: the call's time runs from before it.
	claimWithin = 3 * time.Second
	// keepWithin bounds the first try to keep a result; each further one may take twice as long.
	keepWithin = 6 * time.Second
	// commitWithin is left of a lease when keeping a result is given up, to commit what became of the call.
	commitWithin = 6 * time.Second
	// summaryWithin bounds the last words, and finishWithin is left to write them down.
	summaryWithin, finishWithin = 30 * time.Second, 5 * time.Second
	// pollEvery is how often a call looks whether its task was cancelled.
	pollEvery = 3 * time.Second
)

// Store is what execute-process reads and commits.
type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error)
	Head(ctx context.Context, ref aggregate.Ref) (task.Head, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error)
	DecideOn(ctx context.Context, a *task.Aggregate, decide task.Decision) (*task.Aggregate, error)
	ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error)
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	SaveAgent(ctx context.Context, t tenancy.Tenant, agent, environment string, now time.Time) (tenancy.Tenant, error)
}

// Shelf keeps and opens values that are too large for a row.
type Shelf interface {
	Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Tools calls a tool.
type Tools interface {
	Run(ctx context.Context, c tool.Call) (json.RawMessage, error)
}

// Handler executes approved steps.
type Handler struct {
	Store   Store
	Shelf   Shelf
	Tools   Tools
	Catalog *tool.Catalog
	Open    func(name string) (model.Generator, error)
	Model   string // overrides the tenant's, when not empty
	Now     func() time.Time
	NewID   func() string

	Sessions Sessions
	// A session is polled so often, and by one invocation for so long; one that dies keeps others from it for HoldFor.
	PollEvery, PollFor, HoldFor time.Duration
}

// job is one invocation's work.
type job struct {
	*Handler
	in       pipeline.Input
	settings tenancy.Settings
	used     bool // it has called, or waited: another invocation would have more time
}

// maxStill is how often in a row a turn may find something else to be next than what the rows say, though nothing moved.
const maxStill = 10

// errStill: turn after turn finds the same, and does nothing. That is our own fault, and a person must see it.
var errStill = errors.New("the execution does not move")

// errNoTime: the call would not have its tool's whole timeout here, but it would in another invocation.
var errNoTime = errors.New("no time for the call")

// Handle runs the approved steps one after another, or takes turns with the managed
// session that goes through them. Each claim commits on the rows as they are: a
// cancel, a gate, another run or too little time ends the loop, and whatever is next
// then is where the run goes. It reads the rows anew only when it doesn't know them
// from its own commit.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (task.Change, error) {
		if a.OpenSession() != nil && a.Head.Run == in.Run { // an attempt begins when the session before is closed
			return task.Change{}, nil
		}
		return a.StartExecution(in.Run, h.Now())
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("start the execution: %w", err)
	}
	settings, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	j := &job{Handler: h, in: in, settings: settings}
	invocation, turn := "", j.advance
	if a.Execution().Managed() {
		s := j.host(a.Execution())
		invocation, turn = s.invocation, s.turn
	}
	for still := 0; ; {
		if a.Head.Run != in.Run {
			return aggregate.Next{}, aggregate.ErrSuperseded
		}
		next := a.NextOf(invocation, h.Now())
		if next.State != task.StateExecuteProcess || left(ctx) < least {
			return next, nil
		}
		rev := a.Head.Rev
		a, err = turn(ctx, a)
		if errors.Is(err, errNoTime) {
			return next, nil
		}
		if stop := (task.StopError{}); errors.As(err, &stop) {
			a, err = j.fail(ctx, stop)
		}
		if err != nil && !errors.Is(err, aggregate.ErrMoved) && !errors.Is(err, aggregate.ErrInFlight) {
			return aggregate.Next{}, err
		}
		if err == nil && a != nil {
			continue
		}
		moved := err
		if a, err = h.Store.Load(ctx, in.Ref()); err != nil {
			return aggregate.Next{}, fmt.Errorf("load the task: %w", err)
		}
		if still++; moved == nil || a.Head.Rev != rev {
			still = 0
		}
		if still >= maxStill {
			return aggregate.Next{}, fmt.Errorf("%w: %w", errStill, moved)
		}
	}
}

// advance takes the next step as far as it goes, or completes the execution. It
// returns the task as it left it, nil when it doesn't know.
// StopError: the execution must be failed.
func (j *job) advance(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	e := a.Execution()
	step := a.NextStep(e)
	if step == nil {
		return j.complete(ctx, a)
	}
	if limit := j.settings.MaxCost(); a.CostReached(limit) {
		return nil, a.CostStop(limit)
	}
	if err := a.Outstanding(e, step.Order, j.Now()); err != nil {
		return nil, err
	}
	return j.take(ctx, a, *step, "")
}

// take calls a step's tool, or asks people first. request is the session's that it answers, if any.
func (j *job) take(ctx context.Context, a *task.Aggregate, step task.Step, request string) (*task.Aggregate, error) {
	e := a.Execution()
	t, err := j.find(ctx, a.Head.TenantID, step)
	if err != nil {
		return nil, err
	}
	call, arguments, err := j.prepare(ctx, a, e, step, t)
	if err != nil {
		return nil, err
	}
	call.ToolRequest = request
	if call.NeedsGate && a.GateOf(e, step.Order) == nil {
		return j.Store.DecideOn(ctx, a, func(a *task.Aggregate) (task.Change, error) {
			return a.OpenStepGate(j.in.Run, step.Order, call.Arguments, call.ArgumentsHash, j.Now())
		})
	}
	within, err := j.within(ctx, t.spec.Timeout)
	if err != nil {
		return nil, err
	}
	deadline := j.Now().Add(within)
	call.Claim = task.Claim{Invocation: j.NewID(), LeaseUntil: deadline.Add(spare)}
	key := a.IdempotencyKey(e, step)
	if a, err = j.claim(ctx, a, call); err != nil {
		return nil, fmt.Errorf("claim %s: %w", step.StepID, err)
	}
	j.used = true
	return j.call(ctx, a, step, call.Claim, deadline, t, tool.Call{
		Tenant: j.in.Tenant, Tool: step.Tool, Arguments: arguments, Key: key, Locale: j.settings.Locale, Bounds: t.spec.Bounds, Pin: t.spec.Pin,
		Thread: tool.Thread{Channel: a.Request.Channel, TS: a.Request.ThreadTS},
	})
}

// within is how long a call may take: its tool's whole timeout, or in a fresh invocation
// what there is. It returns errNoTime where another invocation would have more.
func (j *job) within(ctx context.Context, timeout time.Duration) (time.Duration, error) {
	switch room := left(ctx) - spare; {
	case room >= timeout:
		return timeout, nil
	case j.used, left(ctx) < least:
		return 0, errNoTime
	default:
		return room, nil
	}
}

// complete ends the execution with a summary.
func (j *job) complete(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	summary, usage := j.summary(ctx, a)
	return j.Store.DecideOn(ctx, a, task.Charge(usage, j.Now(), func(a *task.Aggregate) (task.Change, error) {
		return a.CompleteExecution(j.in.Run, summary, j.Now())
	}))
}

func (j *job) fail(ctx context.Context, why task.StopError) (*task.Aggregate, error) {
	return j.Store.Decide(ctx, j.in.Ref(), func(a *task.Aggregate) (task.Change, error) {
		return a.FailExecution(j.in.Run, why.Reason, why.Detail, j.Now())
	})
}

// left is how much of the invocation's time there is; a day when nobody limits it.
func left(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 24 * time.Hour
	}
	return time.Until(deadline)
}
