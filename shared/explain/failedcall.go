package explain

import (
	"errors"
	"fmt"
	"time"
)

// Outcome says whether a call without a result had an effect.
type CallOutcome string

const (
	// Failed: it had no effect.
	CallFailed CallOutcome = "failed"
	// Unknown: a write was sent, and no answer says whether it was done.
	CallUnknown CallOutcome = "unknown"
)

// Error is why a call returned no result.
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
