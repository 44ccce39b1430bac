// Package explain is the area of what people are told on every surface, which cards and pages only print: what a gate
// asks and where it stands, what calls do, what agents ask for, and why something did not happen and what to do.
//
// It imports domain and the areas above domain in the README. Begin with Ask, Route, Effect, ClassOf and Ended.
package explain

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
)

// Class is the class of an error. It alone decides what people are told about the error, whether a retry may help, and
// what the state machine does.
type Class string

const (
	None Class = "" // of nil

	// The request is refused: a retry is refused as well until somebody changes something.
	NotFound       Class = "not_found"
	NotAllowed     Class = "not_allowed" // a rule refused
	Decided        Class = "decided"     // somebody was faster
	NotLatest      Class = "not_latest"  // a newer version waits
	InFlight       Class = "in_flight"   // a call is still under way
	Uncovered      Class = "uncovered"   // a write's outcome is unknown, and a person must look
	NothingToRetry Class = "nothing_to_retry"
	MaxAttempts    Class = "max_attempts"
	MaxRetries     Class = "max_retries"
	Field          Class = "field" // what a person entered is outside of its limits

	// Nothing was decided, and a retry may succeed.
	Full          Class = "full"           // a quota is used up
	Stopped       Class = "stopped"        // an execution must be failed
	Unconfirmed   Class = "unconfirmed"    // it may have been saved
	Conflict      Class = "conflict"       // somebody committed in between
	Changed       Class = "changed"        // another step is next by now
	Superseded    Class = "superseded"     // another run has the task
	Unverified    Class = "unverified"     // Slack did not say who the person is
	MalformedForm Class = "malformed_form" // another release's form

	BadInput         Class = "bad_input"         // the state machine's input lacks what the state needs
	ModelUnavailable Class = "model_unavailable" // no answer from the model, for now
	Unavailable      Class = "unavailable"       // something that is called is down, busy or slow
	Internal         Class = "internal"          // our own fault, and whatever is not known
)

// Errors that several packages return, in addition to those of the domain.
var (
	// ErrUnverified: Slack did not confirm who the person is, so nothing was decided.
	ErrUnverified = errors.New("could not check who is asking")
	// ErrMalformedForm: a form does not identify its subject.
	ErrMalformedForm = errors.New("the form can't be read")
	// ErrBadInput: an input lacks what this state needs, so that retries are useless.
	ErrBadInput = errors.New("bad input")
	// ErrModelUnavailable: the model did not answer, but a retry may succeed.
	ErrModelUnavailable = errors.New("the model is not available")
	// ErrUnavailable: a service did not answer, or not properly, for now.
	ErrUnavailable = errors.New("a service is not available")
)

// sentinels are the classes of error values. If an error wraps several of them, the first one in this list decides.
var sentinels = []struct {
	err   error
	class Class
}{
	{aggregate.ErrInFlight, InFlight},
	{aggregate.ErrUncovered, Uncovered},
	{aggregate.ErrUnconfirmed, Unconfirmed}, // also wraps why there was no answer
	{task.ErrNothingToRetry, NothingToRetry},
	{task.ErrMaxAttempts, MaxAttempts},
	{task.ErrMaxRetries, MaxRetries},
	{aggregate.ErrNotFound, NotFound},
	{ErrBadInput, BadInput},
	{ErrModelUnavailable, ModelUnavailable},
	{ErrUnavailable, Unavailable},
	{aggregate.ErrSuperseded, Superseded},
	{aggregate.ErrConflict, Conflict},
	{task.ErrNumber, Conflict},
	{aggregate.ErrExists, Conflict}, // somebody created it in between
	{aggregate.ErrMoved, Changed},
	{aggregate.ErrSettings, Changed},
	{aggregate.ErrNotDue, Changed},
	{ErrUnverified, Unverified}, // also wraps Slack's error
	{ErrMalformedForm, MalformedForm},
	{context.DeadlineExceeded, Unavailable},
	{context.Canceled, Unavailable},
}

// ClassOf returns an error's class. A decision's own error takes precedence over errors that it wraps or was joined
// with.
func ClassOf(err error) Class {
	switch {
	case err == nil:
		return None
	case is[aggregate.ErrDecided](err):
		return Decided
	case is[aggregate.ErrNotLatest](err):
		return NotLatest
	case is[aggregate.ErrNotAllowed](err):
		return NotAllowed
	case is[*circulation.Refusal](err):
		return ofAct(err)
	case is[aggregate.Problem](err):
		return Field
	case is[aggregate.ErrFull](err):
		return Full
	case is[task.StopError](err):
		return Stopped
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.class
		}
	}
	return ofAWS(err)
}

// ofAct returns the class of a refused act: a text is outside of its limits, or else the route forbids the act.
func ofAct(err error) Class {
	refused, _ := errors.AsType[*circulation.Refusal](err)
	if refused.Why == circulation.WhyText {
		return Field
	}
	return NotAllowed
}

// Refusal reports whether a rule or the current state refused the request, so that a retry is refused as well.
// Otherwise Ringi, Slack or AWS failed or something changed meanwhile, and nothing is known to be saved.
func (c Class) Refusal() bool {
	switch c {
	case NotFound, NotAllowed, Decided, NotLatest, InFlight, Uncovered, NothingToRetry, MaxAttempts, MaxRetries,
		Field:
		return true
	}
	return false
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// passing are codes of client errors that a retry may fix although the SDK doesn't treat them as a throttle or timeout.
// Expired credentials concern one execution environment only: another one has different credentials.
var passing = []string{
	"TransactionConflictException", "ReplicatedWriteConflictException", // DynamoDB: another write holds the item
	"OperationAborted", "ConditionalRequestConflict", // S3: the same
	"ExecutionLimitExceeded", "OverLimit", "KmsThrottled", // Step Functions and SQS: too many at once
	"ExpiredToken", "ExpiredTokenException", "RequestExpired", "RequestTimeTooSkewed",
}

// passingReasons are the reasons for which DynamoDB cancels transactions that may succeed later.
var passingReasons = []string{"", "None", "ConditionalCheckFailed", "TransactionConflict", "ThrottlingError",
	"ProvisionedThroughputExceeded"}

// answered is an error of a call that got an HTTP answer.
type answered interface {
	error
	HTTPStatusCode() int
}

// ofAWS returns the class of an error of a call to AWS, or of an unknown error. The SDK says whose fault an error is
// only for errors in a service's model, which ValidationException and AccessDeniedException are not. Therefore the
// class follows from the code and the HTTP status.
func ofAWS(err error) Class {
	api, refused := errors.AsType[smithy.APIError](err)
	switch {
	case refused && mayPass(api, statusOf(err)):
		return Unavailable
	case refused, is[smithy.InvalidParamsError](err), is[*smithy.SerializationError](err):
		return Internal // AWS or the client says that the call is invalid
	case is[*smithy.OperationError](err):
		return Unavailable // no answer, or an unreadable one
	}
	return Internal
}

// mayPass reports whether a call that AWS refused may succeed later.
func mayPass(api smithy.APIError, status int) bool {
	if c, ok := api.(*types.TransactionCanceledException); ok {
		return !slices.ContainsFunc(c.CancellationReasons, func(r types.CancellationReason) bool {
			return !slices.Contains(passingReasons, aws.ToString(r.Code))
		})
	}
	code := api.ErrorCode()
	_, throttle := retry.DefaultThrottleErrorCodes[code]
	_, late := retry.DefaultRetryableErrorCodes[code]
	return throttle || late || slices.Contains(passing, code) || status >= http.StatusInternalServerError ||
		status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || api.ErrorFault() == smithy.FaultServer
}

// statusOf returns the HTTP status of the answer that err is about, 0 without an answer.
func statusOf(err error) int {
	if a, ok := errors.AsType[answered](err); ok {
		return a.HTTPStatusCode()
	}
	return 0
}
