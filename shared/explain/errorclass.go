package explain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
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
	Edited         Class = "edited"      // the request's message says something else by now
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

// All lists the classes of errors.
var Classes = []Class{
	NotFound, NotAllowed, Decided, NotLatest, Edited, InFlight, Uncovered, NothingToRetry, MaxAttempts, MaxRetries, Field,
	Full, Stopped, Unconfirmed, Conflict, Changed, Superseded, Unverified, MalformedForm,
	BadInput, ModelUnavailable, Unavailable, Internal,
}

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
	{task.ErrEdited, Edited},
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
	case is[aggregate.ErrNotAllowed](err), is[conversation.ErrByRules](err):
		return NotAllowed
	case is[*circulation.Refusal](err):
		return ofAct(err)
	case is[aggregate.ErrField](err):
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
	if refused, _ := errors.AsType[*circulation.Refusal](err); refused.Why == circulation.WhyText {
		return Field
	}
	return NotAllowed
}

// Refusal reports whether a rule or the current state refused the request, so that a retry is refused as well.
// Otherwise Ringi, Slack or AWS failed or something changed meanwhile, and nothing is known to be saved.
func (c Class) Refusal() bool {
	switch c {
	case NotFound, NotAllowed, Decided, NotLatest, Edited, InFlight, Uncovered, NothingToRetry, MaxAttempts, MaxRetries,
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

// CallOutcome says whether a call without a result had an effect.
type CallOutcome string

const (
	// Failed: it had no effect.
	CallFailed CallOutcome = "failed"
	// Unknown: a write was sent, and no answer says whether it was done.
	CallUnknown CallOutcome = "unknown"
)

// CallError is why a call of a tool or a vendor returned no result, and whether it can have had an effect.
type CallError struct {
	Outcome CallOutcome
	Problem Problem
	// Detail is a sentence for people. It contains no credential.
	Detail string
	// RetryAfter is how long the vendor asks to wait; 0 if it doesn't say.
	RetryAfter time.Duration
	// Args are the values in the sentence.
	Args []any
	// Err is the cause, for logs.
	Err error
}

// Fail returns the error of a call that had no effect. args are the values in the sentence; err is the cause, or nil.
func Fail(why Problem, err error, args ...any) *CallError {
	return &CallError{Outcome: CallFailed, Problem: why, Args: args, Err: err}
}

func (e *CallError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s (%s): %v", e.Problem, e.Outcome, e.Err)
	}
	return fmt.Sprintf("%s (%s)", e.Problem, e.Outcome)
}

func (e *CallError) Unwrap() error { return e.Err }

// Unsure reports whether a call that ended with this error may have had an effect. Only an *Error can rule that out.
func Unsure(err error) bool {
	e, is := errors.AsType[*CallError](err)
	return err != nil && (!is || e.Outcome == CallUnknown)
}

// Problem is a kind of error. Each has a sentence in every language.
type Problem string

const (
	ProblemNotConnected Problem = "not_connected" // provider
	ProblemUnauthorized Problem = "unauthorized"  // provider
	ProblemForbidden    Problem = "forbidden"     // provider
	ProblemNotFound     Problem = "not_found"     // provider
	ProblemDenied       Problem = "denied"        // provider, what it said
	ProblemRateLimited  Problem = "rate_limited"  // provider
	ProblemLimitedUntil Problem = "limited_until" // provider, until when
	ProblemRejected     Problem = "rejected"      // provider, what it said
	ProblemDown         Problem = "down"          // provider, status
	ProblemTimeout      Problem = "timeout"       // provider
	ProblemUnreachable  Problem = "unreachable"   // provider
	ProblemLost         Problem = "lost"          // provider
	ProblemBadAnswer    Problem = "bad_answer"    // provider
	ProblemBadArguments Problem = "bad_arguments" // tool, what is wrong
	ProblemBadData      Problem = "bad_data"      // how many, the first of them
	ProblemNoRecipient  Problem = "no_recipient"  // recipient
	ProblemNoCompany    Problem = "no_company"    // provider
	ProblemTokenLost    Problem = "token_lost"    // provider
	ProblemUninstalled  Problem = "uninstalled"   // provider
	ProblemRevoked      Problem = "revoked"       // provider
	ProblemElsewhere    Problem = "elsewhere"     // provider
	ProblemLocked       Problem = "locked"        // provider
	ProblemChanged      Problem = "changed"       // provider, tool
	ProblemAddress      Problem = "address"       // provider
	ProblemNotListed    Problem = "not_listed"    // tool, constraint, value, the values that are
	ProblemNoValue      Problem = "no_value"      // tool, argument, number of the earlier step, where in its result
	ProblemTooMany      Problem = "too_many"      // tool, constraint, limit, how many
	ProblemTooLong      Problem = "too_long"      // tool, its longest argument, characters of the message, limit
	ProblemUnbound      Problem = "unbound"       // tool, what is wrong with its constraints
	ProblemTooLarge     Problem = "too_large"     // tool, limit with its unit
	ProblemNoDepartment Problem = "no_department" // provider, department, those that there are
	ProblemPayMonth     Problem = "pay_month"     // provider, what it says
	ProblemPeriod       Problem = "period"        // provider, employee id, month asked for, first day, last day
	ProblemSheetFull    Problem = "sheet_full"    // provider, cells it would have, limit
	ProblemCellTooLong  Problem = "cell_too_long" // provider, row, column's letters and title, characters, limit
	ProblemInternal     Problem = "internal"      // tool
)

// Problems lists all of them.
var Problems = []Problem{
	ProblemNotConnected, ProblemUnauthorized, ProblemForbidden, ProblemNotFound, ProblemRateLimited, ProblemRejected,
	ProblemDown,
	ProblemTimeout, ProblemUnreachable, ProblemLost, ProblemBadAnswer, ProblemBadArguments, ProblemBadData,
	ProblemNoRecipient,
	ProblemNoCompany, ProblemTokenLost, ProblemUninstalled, ProblemRevoked, ProblemElsewhere, ProblemLocked,
	ProblemChanged, ProblemAddress,
	ProblemNotListed, ProblemNoValue, ProblemTooMany, ProblemTooLong, ProblemUnbound, ProblemTooLarge, ProblemNoDepartment,
	ProblemPayMonth, ProblemPeriod, ProblemDenied, ProblemLimitedUntil, ProblemSheetFull,
	ProblemCellTooLong, ProblemInternal,
}
