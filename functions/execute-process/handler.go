package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/tool"
)

const (
	// claimSpare is how much longer a claim's lease lasts than the call's timeout, so that the result can be stored and
	// committed.
	claimSpare = 15 * time.Second
	// minTurn is the least remaining time of the invocation for another turn, or for a new invocation's claim.
	minTurn = 20 * time.Second
	// claimWithin bounds the commit of a claim. The call's lease begins before that commit.
	claimWithin = 3 * time.Second
	// keepWithin bounds the first try to store a result. Each further try may take twice as long as the one before.
	keepWithin = 6 * time.Second
	// commitWithin before the lease's end, storing a result stops, so that the call's outcome can still be committed.
	commitWithin = 6 * time.Second
	// summaryWithin bounds the model's call for the summary. It leaves finishWithin of the invocation's time for the
	// commit.
	summaryWithin, finishWithin = 30 * time.Second, 5 * time.Second
	// pollEvery is how often the task's head is read during a call, so that a read ends when its task is cancelled, and
	// how often a session is polled.
	pollEvery = 3 * time.Second
)

type Store interface {
	pipeline.Numbers[*task.Aggregate]
	pipeline.Tasks
	Head(ctx context.Context, ref aggregate.Ref) (task.Head, error)
	Uses(ctx context.Context, ref aggregate.Ref) ([]*aggregate.Use, error)
	PutLease(ctx context.Context, a aggregate.Aggregate, l *aggregate.Lease) error
	ToolPermission(ctx context.Context, tenant, name string) (p tenancy.ToolPermission, found bool, err error)
	ToolPermissions(ctx context.Context, tenant string) ([]tenancy.ToolPermission, error)
	NoteToolChanged(ctx context.Context, p tenancy.ToolPermission, now time.Time) error
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	SaveAgent(ctx context.Context, t tenancy.Tenant, agent, environment string, now time.Time) (tenancy.Tenant, error)
}

// Results stores and reads values that are too large for a row.
type Results interface {
	Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error)
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
	Prompts(ref aggregate.Ref) model.Keep
}

type Handler struct {
	Store   Store
	Results Results
	Tools   tool.Runner
	Catalog *tool.Catalog
	Open    func(name string) (model.Wire, error)
	Model   string // overrides the tenant's model unless empty
	Now     func() time.Time
	NewID   func() string
	// Approvable returns aggregate.ErrNotAllowed if nobody may approve what this person asked for.
	Approvable func(ctx context.Context, ref aggregate.Ref, o aggregate.Origin, s tenancy.Settings, asker string) error

	Sessions  Sessions
	PollEvery time.Duration
	// An invocation polls a session for PollFor. Its lease on the session lasts HoldFor: after a crash, other invocations
	// wait that long.
	PollFor, HoldFor time.Duration
}

// job is the work of one invocation.
type job struct {
	*Handler
	in       pipeline.Input
	settings tenancy.Settings
	results  *remembering
	used     bool // a call or a wait used up time, so that a new invocation would have more
	// permissions by tool, as this invocation read them, so that a step's claim can follow a result without waiting
	permissions map[string]tenancy.ToolPermission
}

// maxIdleTurns is how many turns in a row may fail with ErrMoved or ErrInFlight at the same revision of the task.
const maxIdleTurns = 10

// errNoProgress means that maxIdleTurns was reached, which is a bug. The run fails, and the task's card says so.
var errNoProgress = errors.New("the execution does not move")

// errNoTime means that this invocation has too little time left for the tool's timeout, and a new invocation has
// enough.
var errNoTime = errors.New("no time for the call")

// Handle runs the approved steps one after another, or has a managed session ask for them. Each claim is a commit on
// the newest rows, so the loop ends after a cancel, at a gate, for another run, or for lack of time. The run then
// continues at the next state that the rows name. The rows are read again only after a turn that did not return them.
func (h *Handler) Handle(ctx context.Context, in pipeline.Input) (aggregate.Next, error) {
	a, err := h.begin(ctx, in)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("start the execution: %w", err)
	}
	if next := a.Next(h.Now()); next.State != task.StateExecuteProcess {
		return next, nil
	}
	settings, err := h.Store.Settings(ctx, in.Tenant)
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("read the settings: %w", err)
	}
	settings.Locale = a.Language(settings.Locale)
	j := &job{Handler: h, in: in, settings: settings, permissions: map[string]tenancy.ToolPermission{},
		results: &remembering{Results: h.Results, of: map[string]json.RawMessage{}}}
	invocation, turn := "", j.advance
	if a.Execution().Managed() {
		s := j.sessionJob(a)
		invocation, turn = s.invocation, s.turn
	}
	for still := 0; ; {
		if a.Head.Run != in.Run {
			return aggregate.Next{}, aggregate.ErrSuperseded
		}
		next := a.NextOf(invocation, h.Now())
		if next.State != task.StateExecuteProcess || timeLeft(ctx) < minTurn {
			return next, nil
		}
		before, rev := a, a.Head.Rev
		a, err = turn(ctx, a)
		if errors.Is(err, errNoTime) {
			return next, nil
		}
		if stop := (task.StopError{}); errors.As(err, &stop) {
			a, err = j.stop(ctx, before, stop)
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
		if still >= maxIdleTurns {
			return aggregate.Next{}, fmt.Errorf("%w: %w", errNoProgress, moved)
		}
	}
}

// begin starts an execution with a managed session. Others are started together with their first claim (job.start),
// unless too little time is left for that.
func (h *Handler) begin(ctx context.Context, in pipeline.Input) (*task.Aggregate, error) {
	return pipeline.Numbering(ctx, h.Store, in.Ref(), func(of task.Series) (*task.Aggregate, error) {
		begin := in.Due(task.StateExecuteProcess, func(a *task.Aggregate) (aggregate.Change, error) {
			// A new attempt waits until the previous attempt's session is closed.
			if a.OpenSession() != nil && a.Head.Run == in.Run {
				return aggregate.Change{}, nil
			}
			c, err := a.StartExecution(in.Run, of, h.Now())
			joined := err == nil || errors.Is(err, task.ErrNumber)
			if joined && !a.Execution().Managed() && (timeLeft(ctx) >= minTurn || a.Matter() != nil) {
				return aggregate.Change{}, nil
			}
			return c, err
		}, h.Now)
		return h.Store.Decide(ctx, in.Ref(), in.Entering(begin))
	})
}

// advance starts the execution, runs the next step, or completes the execution when all steps are done. It returns the
// task after its commit, or nil if the rows must be read again. A StopError means that the execution must fail.
func (j *job) advance(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	if e := a.Execution(); e != nil && e.Status == task.ExecutionPending {
		return j.start(ctx, a)
	}
	limit := j.settings.MaxCost()
	// Costs of other invocations don't change the head, so they are read again.
	if limit > 0 {
		uses, err := j.Store.Uses(ctx, a.Ref())
		if err != nil {
			return nil, fmt.Errorf("read what the task has cost before its next step: %w", err)
		}
		paid := *a
		paid.Uses, a = uses, &paid
	}
	e := a.Execution()
	if e == nil {
		return nil, aggregate.ErrConflict
	}
	step := a.NextStep(e)
	if step == nil {
		summary, usage := j.summary(ctx, a)
		return pipeline.Charged(ctx, j.Store, a, usage, j.Now(), func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(j.in.Run, summary, j.Now())
		})
	}
	if a.CostReached(limit) {
		return nil, a.CostStop(limit)
	}
	if err := a.Outstanding(e, step.Order, j.Now()); err != nil {
		return nil, err
	}
	return j.take(ctx, a, j.fill(ctx, a, *step), "")
}

// take calls a step's tool, or first opens the step's gate. request is the id of the session's tool request, empty
// without a session.
func (j *job) take(ctx context.Context, a *task.Aggregate, f filled, request string) (*task.Aggregate, error) {
	e, step := a.Execution(), f.step
	t, err := j.find(ctx, a.Head.TenantID, step)
	if err != nil {
		return nil, err
	}
	call, arguments, err := j.prepare(ctx, a, f, t)
	if err != nil {
		return nil, err
	}
	call.ToolRequest = request
	if call.NeedsGate && a.GateOf(e, step.Order) == nil {
		return j.ask(ctx, a, step, call, arguments)
	}
	if request == "" {
		j.readAhead(ctx, a)
	}
	x, err := j.ready(ctx, t, step, call, arguments)
	if err != nil {
		return nil, err
	}
	if a, err = j.claim(ctx, a, x); err != nil {
		return nil, fmt.Errorf("claim %s: %w", step.StepID, err)
	}
	return j.calls(ctx, a, x)
}

// stampedBy returns who approved a step: at its own gate if it has one, else with all steps.
func stampedBy(a *task.Aggregate, e *task.Execution, step task.Step) []string {
	if g := a.GateOf(e, step.Order); g != nil {
		return g.Stampers()
	}
	return a.ProcessOf(e).Stampers()
}

// stop fails the execution, unless that is for a write of unknown outcome that Ringi sees arrived.
func (j *job) stop(ctx context.Context, a *task.Aggregate, why task.StopError) (*task.Aggregate, error) {
	if why.Reason == task.ReasonToolUnknown {
		if after := j.look(ctx, a); after != nil {
			return after, nil
		}
	}
	return j.Store.Decide(ctx, j.in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(j.in.Run, why.Reason, why.Detail, j.Now())
	})
}

// timeLeft returns the invocation's remaining time, or a day if ctx has no deadline.
func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 24 * time.Hour
	}
	return time.Until(deadline)
}
