// Package pipeline is the contract between the state machines and their functions: input and output, and the names of
// their errors. Only ids, versions and outcomes are passed, never content, because the execution history is not secret.
// At a handler's edge every error and panic becomes a named type with a fixed sentence: Retry and Catch see the type
// alone.
//
// The head's run is the fence. Whatever starts a run adds one to it, and every commit of a worker names its own; a
// loser returns superseded and ends. StopExecution and timeouts stop no Lambda that is running; the fence does. A
// step's result is the one commit without it: late truth is recorded, whatever the run.
//
// A worker returns next, computed from the rows. The usual way skips ResumeTask: who drafts or executes first asks
// whether that is due (Input.Due), and otherwise changes nothing.
//
// Waiting costs no tries. While Slack doesn't say who asks, or a vendor puts a call off, or people are looked up, the
// head has paused_until and the run is at Pause. A function for which Lambda has no room has not failed: after some
// twelve minutes the run ends as NoRoom, and the sweeper begins another. None of that counts against a time limit or a
// restart.
//
// What a commit that failed had paid models for is put alone before the error goes up (Paid), so that budgets count
// every try. Budgets are looked at before each generation; what is under way in that moment may go beyond them. A
// generation that fails parks the head with its layer and a sentence, and a person may try again, ten times.
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
)

// The error names for Retry and Catch.
const (
	Unavailable      = "Unavailable"      // something we call is down or slow: try again
	ModelUnavailable = "ModelUnavailable" // the model is
	Internal         = "Internal"         // our own fault, or a panic
	BadInput         = "BadInput"         // no such aggregate, or no such field
)

// ErrorNames are all errors that functions return.
var ErrorNames = []string{Unavailable, ModelUnavailable, Internal, BadInput}

var sentences = map[string]string{
	Unavailable:      "A service that this step needs did not answer.",
	ModelUnavailable: "The model did not answer.",
	Internal:         "This step failed unexpectedly; the function's log has the request.",
	BadInput:         "The input names nothing that this step could work on.",
}

// Worker does one state's work and returns the run's next state.
type Worker func(ctx context.Context, in Input) (aggregate.Next, error)

// Edge wraps a worker so that its errors leave it only as a name, a fixed sentence and the request id. The log has the
// details. A superseded run ends without an error.
func Edge(w Worker) func(context.Context, Input) (Output, error) {
	return func(ctx context.Context, in Input) (out Output, err error) {
		began := time.Now()
		log := slog.With(in.Ref().Log(), "run", in.Run)
		defer func() {
			if errors.Is(err, boot.ErrPanic) {
				out, err = Output{}, bare(ctx, Internal)
			}
		}()
		defer boot.Recover(ctx, &err, in.Ref().Log(), "run", in.Run)
		if in.Tenant == "" || in.Ref().ID == "" || in.Run < 1 {
			log.ErrorContext(ctx, "refused", "err", "tenant, task or kind and id, and run are required")
			return Output{}, bare(ctx, BadInput)
		}
		next, err := w(ctx, in)
		if explain.ClassOf(err) == explain.Superseded {
			next, err = aggregate.Next{State: aggregate.StateFinish, Outcome: "superseded"}, nil
		}
		if err != nil {
			name := Name(err)
			log.ErrorContext(ctx, "failed", "error_type", name, "err", err.Error(), "ms", time.Since(began).Milliseconds())
			return Output{}, bare(ctx, name)
		}
		log.InfoContext(ctx, "done", "next", next.State, "gate", next.Gate, "outcome", next.Outcome, "ms",
			time.Since(began).Milliseconds())
		if next.State == task.StateFail && in.Next != task.StateFail && task.ForOperator(next.Reason) {
			boot.Count(boot.RunFailed, 1)
		}
		return Output{
			Tenant: in.Tenant, Task: in.Task, Kind: in.Kind, ID: in.ID, Run: in.Run, Team: in.Team,
			Next: next.State, Gate: next.Gate, TimeoutSeconds: next.TimeoutSeconds, WaitSeconds: next.WaitSeconds,
			Outcome: next.Outcome,
		}, nil
	}
}

// Name returns the name of an error for the state machine.
func Name(err error) string {
	switch explain.ClassOf(err) {
	case explain.NotFound, explain.BadInput:
		return BadInput
	case explain.ModelUnavailable:
		return ModelUnavailable
	case explain.Unavailable, explain.Conflict, explain.Unconfirmed:
		return Unavailable
	}
	return Internal
}

func bare(ctx context.Context, name string) error {
	id := ""
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		id = " Request " + lc.AwsRequestID + "."
	}
	return messages.InvokeResponse_Error{Type: name, Message: sentences[name] + id}
}

// Input is the input of every state. The Await states set Gate and the following fields, DraftPrompt, PlanProcess and
// ExecuteProcess set Entered, a Catch sets Error. Fields are only ever added, because a run continues under the
// definition that it was started with.
type Input struct {
	Tenant string `json:"tenant"`
	Task   string `json:"task"`
	Kind   string `json:"kind"` // of an aggregate that is no task, as is ID
	ID     string `json:"id"`
	Run    int    `json:"run"`

	// Next is what the worker before answered, if its state leads to this one without Route: it has counted a failure.
	Next string `json:"next"`

	Gate      string    `json:"gate"`
	TaskToken string    `json:"task_token"`
	Entered   time.Time `json:"entered"`
	Retry     int       `json:"retry"`

	Error string `json:"error"` // the name of what was caught

	Team int `json:"team"` // of a contest: its team's place, from 1
}

// LongestRun is the state machine's TimeoutSeconds: no run waits for longer.
const LongestRun = 31_000_000 * time.Second

// Ref returns the aggregate: a task by Task, any other by Kind and ID.
func (in Input) Ref() aggregate.Ref {
	if in.Kind == "" {
		return task.RefOf(in.Tenant, in.Task)
	}
	return aggregate.Ref{Tenant: in.Tenant, Kind: in.Kind, ID: in.ID}
}

// Entering wraps a decision so that it also notes on the head when the run entered this state, which proves that the
// run has left the gates before. A state before the first gate says no time, and there is nothing to note.
func (in Input) Entering(decide task.Decision) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		c, err := decide(a)
		if c.Head == nil || c.Head.Common().Run != in.Run || in.Entered.IsZero() {
			return c, err
		}
		if h := c.Head.Common(); h.Entered == nil || h.Entered.Before(in.Entered) {
			h.Entered = &in.Entered
		}
		return c, err
	}
}

// Load returns the rows of a run, or ErrSuperseded if they have another.
func Load[A aggregate.Aggregate](ctx context.Context, s interface {
	Load(context.Context, aggregate.Ref) (A, error)
}, in Input) (A, error) {
	a, err := s.Load(ctx, in.Ref())
	switch {
	case err != nil:
		return a, fmt.Errorf("load the rows: %w", err)
	case a.Root().Common().Run != in.Run:
		return a, aggregate.ErrSuperseded
	}
	return a, nil
}

// Due wraps the decision with which a worker begins, because the definition leads there without asking whether its
// state is due. If another is, nothing changes; if the task has another run, the decision fails with ErrSuperseded.
func (in Input) Due(state string, decide task.Decision, now func() time.Time) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		switch {
		case a.Head.Run != in.Run:
			return aggregate.Change{}, aggregate.ErrSuperseded
		case a.Next(now()).State != state:
			return aggregate.Change{}, nil
		}
		return decide(a)
	}
}

// Output is the output of every function. All keys are always present so that every path in the definition resolves.
type Output struct {
	Tenant         string `json:"tenant"`
	Task           string `json:"task"`
	Kind           string `json:"kind,omitempty"` // Kind and ID are set only if the aggregate is no task
	ID             string `json:"id,omitempty"`
	Run            int    `json:"run"`
	Next           string `json:"next"`
	Gate           string `json:"gate"`
	Team           int    `json:"team,omitempty"`
	TimeoutSeconds int    `json:"timeout_seconds"`
	WaitSeconds    int    `json:"wait_seconds"`
	Outcome        string `json:"outcome"`
}

const (
	// MinRetryDelay is the least pause: shorter ones would fill a run's history.
	MinRetryDelay = 5 * time.Second
	// maxRetryDelay is the longest pause unless the vendor asks for more.
	maxRetryDelay = 5 * time.Minute
)

// RetryDelay returns the pause before a vendor is called again: the longest of asked, least and, up to maxRetryDelay,
// half the time spent trying. So a vendor without capacity for an hour is called some twenty times, not 720. It adds up
// to a quarter at random so that tasks don't all return together.
func RetryDelay(asked, tried, least time.Duration) time.Duration {
	wait := max(asked, min(max(tried/2, least), maxRetryDelay))
	return wait + rand.N(wait/4+1)
}

// resumeAt returns when a generation that the vendor postponed is tried again.
func resumeAt(asked time.Duration, since, now time.Time) time.Time {
	wait := RetryDelay(asked, now.Sub(since), MinRetryDelay)
	until, last := now.Add(wait), since.Add(task.MaxPausing)
	if until.After(last) { // the last try is made when the limit is reached
		return now.Add(max(asked, last.Sub(now)))
	}
	return until
}

// Failed handles a generation's failure. A vendor's Retry-After pauses the run, for task.MaxPausing in total. An error
// that a retry may fix is returned to the state machine. Any other error parks the head until a person asks again. If
// another invocation has finished the generation meanwhile, only the usage of this one is recorded, which counts
// towards limit like any other.
func Failed(ctx context.Context, s Tasks, in Input, g task.Generation, f task.Failure, limit aggregate.MicroUSD,
	now time.Time) (aggregate.Next, error) {
	slog.WarnContext(ctx, "no generation", "task_id", in.Task, "layer", g.Layer, "version", g.Version, "reason", f.Reason,
		"detail", f.Detail, "retry_after_ms", f.RetryAfter.Milliseconds(), "transient", f.Transient)
	mendable := f.Transient && f.RetryAfter == 0
	if mendable && f.Usage.Free() {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, explain.ErrModelUnavailable)
	}
	record := task.Charge(f.Usage, now, func(a *task.Aggregate) (aggregate.Change, error) {
		until := resumeAt(f.RetryAfter, a.TryingSince(), now)
		switch {
		case mendable:
			return aggregate.Change{}, nil
		case f.RetryAfter > 0 && until.Sub(a.TryingSince()) <= task.MaxPausing:
			return a.WaitUntil(in.Run, g, until, now)
		}
		return a.Park(in.Run, g, f.Reason, cmp.Or(f.Said, f.Detail), now)
	})
	a, err := paid(ctx, s, in.Ref(), f.Usage, now, func(ctx context.Context) (*task.Aggregate,
		error) {
		return s.Decide(ctx, in.Ref(), record)
	})
	if err != nil {
		return aggregate.Next{}, fmt.Errorf("record that %s failed: %w", g.Layer, err)
	}
	if mendable && !a.CostReached(limit) {
		return aggregate.Next{}, fmt.Errorf("%s: %w", g.Layer, explain.ErrModelUnavailable)
	}
	return within(ctx, s, in, a, limit, now)
}

// What takes a number competes with others for it at most so often, with waits in between that grow up to the longest.
// After that the state machine runs the function again.
const (
	numberTries   = 100
	longestNumber = 300 * time.Millisecond
)

// Numbers is the store of what may take the number of a decision when it begins.
type Numbers[A any] interface {
	Load(ctx context.Context, ref aggregate.Ref) (A, error)
	SettingsReader
	Series(ctx context.Context, tenant string, year int) (task.Series, error)
}

// Numbering has begin decide and commit something that may take the next number of a series when it begins: as long as
// begin returns task.ErrNumber, again with the series as it is read then: nothing was read, or another has taken the
// number. The day on which it was settled says of which fiscal year its number is.
func Numbering[A interface {
	Unnumbered() (settled time.Time, is bool)
}](ctx context.Context, s Numbers[A], ref aggregate.Ref, begin func(of task.Series) (A, error)) (A, error) {
	done, err := begin(task.Series{})
	wait := 10 * time.Millisecond
	for try := range numberTries {
		if !errors.Is(err, task.ErrNumber) || try > 0 && !clock.LastsFor(ctx, wait/2+rand.N(wait)) {
			break
		}
		wait = min(2*wait, longestNumber)
		of, unread := series(ctx, s, ref)
		if unread != nil {
			return done, unread
		}
		done, err = begin(of)
	}
	return done, err
}

// series reads the series from which what begins takes its number; none, if it needs none.
func series[A interface {
	Unnumbered() (settled time.Time, is bool)
}](ctx context.Context, s Numbers[A], ref aggregate.Ref) (of task.Series, err error) {
	a, err := s.Load(ctx, ref)
	if err != nil {
		return of, fmt.Errorf("load what takes a number: %w", err)
	}
	settled, lacks := a.Unnumbered()
	if !lacks {
		return of, nil
	}
	settings, err := s.Settings(ctx, ref.Tenant)
	if err != nil {
		return of, fmt.Errorf("read when fiscal years begin: %w", err)
	}
	return s.Series(ctx, ref.Tenant, settings.FiscalYear(settled))
}
