package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/boot"
)

// The error names for Retry and Catch.
const (
	Unavailable      = "Unavailable"      // something we call is down or slow: try again
	ModelUnavailable = "ModelUnavailable" // the model is
	Internal         = "Internal"         // our own fault, or a panic
	BadInput         = "BadInput"         // no such aggregate, or no such field
)

// NoRoom is Step Functions' error when Lambda's concurrency limit is reached.
const NoRoom = "Lambda.TooManyRequestsException"

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
		if in.RunAtOnce > 0 {
			in.Run = in.RunAtOnce
		}
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
			next, err = aggregate.Superseded(), nil
		}
		if err != nil {
			name := Name(err)
			log.ErrorContext(ctx, "failed", "error_type", name, "err", err.Error(), "ms", time.Since(began).Milliseconds())
			return Output{}, bare(ctx, name)
		}
		if in.RunAtOnce > 0 && (next.State == task.StateDraftPrompt || next.State == task.StatePlanProcess) {
			next = aggregate.Next{State: task.StateResumeTask} // which checks first that somebody may approve the version
		}
		log.InfoContext(ctx, "done", "next", next.State, "gate", next.Gate, "outcome", next.Outcome, "ms", time.Since(began).Milliseconds())
		if next.State == task.StateFail && in.Next != task.StateFail && task.ForOperator(next.Reason) {
			boot.Count(boot.RunFailed, 1)
		}
		return output(in, next), nil
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
