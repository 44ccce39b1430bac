package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/smithy-go"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// The names that Retry and Catch see.
const (
	Unavailable      = "Unavailable"      // something we call is down or slow: try again
	ModelUnavailable = "ModelUnavailable" // the model is
	Internal         = "Internal"         // our own fault, or a panic
	BadInput         = "BadInput"         // no such task, or no such field
)

// ErrorNames are all of them.
var ErrorNames = []string{Unavailable, ModelUnavailable, Internal, BadInput}

// ErrBadInput marks an input that lacks what this state needs; no other try would find it.
var ErrBadInput = errors.New("bad input")

// ErrModelUnavailable marks an error that another try may not have.
var ErrModelUnavailable = errors.New("the model is not available")

// ErrUnavailable marks an error of something that did not answer, or not as it should for now.
var ErrUnavailable = errors.New("a service is not available")

var sentences = map[string]string{
	Unavailable:      "A service that this step needs did not answer.",
	ModelUnavailable: "The model did not answer.",
	Internal:         "This step failed unexpectedly; the function's log has the request.",
	BadInput:         "The input names no task that this step could work on.",
}

// Worker does one state's work and says where the run goes next.
type Worker func(ctx context.Context, in Input) (aggregate.Next, error)

// Edge wraps a worker so that nothing but a name, a fixed sentence and the
// request id leaves it as an error; the log has the rest. A superseded run ends quietly.
func Edge(w Worker) func(context.Context, Input) (Output, error) {
	return func(ctx context.Context, in Input) (out Output, err error) {
		began := time.Now()
		log := slog.With("task_id", in.Task, "run", in.Run)
		defer func() {
			if errors.Is(err, ErrPanic) {
				out, err = Output{}, bare(ctx, Internal)
			}
		}()
		defer Recovered(ctx, &err, "task_id", in.Task, "run", in.Run)
		if in.Tenant == "" || in.Task == "" || in.Run < 1 {
			log.ErrorContext(ctx, "refused", "err", "tenant, task and run are required")
			return Output{}, bare(ctx, BadInput)
		}
		next, err := w(ctx, in)
		if errors.Is(err, aggregate.ErrSuperseded) {
			next, err = task.Superseded(), nil
		}
		if err != nil {
			name := Name(err)
			log.ErrorContext(ctx, "failed", "error_type", name, "err", err.Error(), "ms", time.Since(began).Milliseconds())
			return Output{}, bare(ctx, name)
		}
		log.InfoContext(ctx, "done", "next", next.State, "gate", next.Gate, "outcome", next.Outcome, "ms", time.Since(began).Milliseconds())
		return output(in, next), nil
	}
}

// ErrPanic stands for a panic; what it said may hold content.
var ErrPanic = errors.New("panic")

// Recovered, when deferred, turns a panic into ErrPanic and logs where it happened:
// the runtime's own words, of any other panic only the type.
func Recovered(ctx context.Context, err *error, about ...any) {
	p := recover()
	if p == nil {
		return
	}
	said := fmt.Sprintf("%T", p)
	if r, ok := p.(runtime.Error); ok {
		said = r.Error()
	}
	slog.With(about...).ErrorContext(ctx, "panic", "panic", said, "stack", string(debug.Stack()))
	*err = ErrPanic
}

// Name classifies an error for the state machine.
func Name(err error) string {
	var api smithy.APIError
	var op *smithy.OperationError
	switch {
	case errors.Is(err, aggregate.ErrNotFound), errors.Is(err, ErrBadInput):
		return BadInput
	case errors.Is(err, ErrModelUnavailable):
		return ModelUnavailable
	case errors.Is(err, ErrUnavailable):
		return Unavailable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, aggregate.ErrConflict):
		return Unavailable
	case errors.As(err, &api) && api.ErrorFault() == smithy.FaultClient && !throttled(api.ErrorCode()):
		return Internal
	case errors.As(err, &op):
		return Unavailable
	}
	return Internal
}

func throttled(code string) bool {
	switch code {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded",
		"TransactionInProgressException", "TransactionCanceledException", "TransactionConflictException", "LimitExceededException",
		"RequestThrottled", "TooManyRequestsException", "SlowDown":
		return true
	}
	return false
}

func bare(ctx context.Context, name string) error {
	id := ""
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		id = " Request " + lc.AwsRequestID + "."
	}
	return messages.InvokeResponse_Error{Type: name, Message: sentences[name] + id}
}
