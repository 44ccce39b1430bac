package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

// Error describes a call without an answer, in one form for every provider. It has no text of the request or the
// answer.
type Error struct {
	Provider   string // the name of its key in the model secret: openai, compatible.gemini
	Model      string
	Kind       Kind
	Status     int  // HTTP, 0 without one
	Retryable  bool // the same call may work later
	RetryAfter time.Duration
	Waited     time.Duration // how long the caller has waited for the rate limit before this call
	RequestID  string
	Err        error
}

// Kind is the class of an Error.
type Kind string

const (
	RateLimited  Kind = "rate_limited"
	Overloaded   Kind = "overloaded" // the vendor's fault, or no connection to it
	Timeout      Kind = "timeout"
	Refused      Kind = "refused"    // the model does not want to
	BrokenOff    Kind = "broken_off" // the answer is not whole
	Unreadable   Kind = "unreadable" // what came is no answer
	BadRequest   Kind = "bad_request"
	TooLong      Kind = "too_long"     // the model takes less at once
	Unauthorized Kind = "unauthorized" // a key is missing or wrong
	Forbidden    Kind = "forbidden"    // the key, or the account, may not use the model
	NoCredit     Kind = "no_credit"    // the account with the vendor has nothing left
	UnknownModel Kind = "unknown_model"
	Misplaced    Kind = "misplaced"   // the endpoint may not be called
	Unpriced     Kind = "unpriced"    // a task's cost is limited, and nobody knows the model's price
	OverBudget   Kind = "over_budget" // nothing is left of a budget; the call was not made
	Demo         Kind = "demo"        // asked for by the message, to show a failure
)

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s %s: %s", e.Provider, e.Model, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.RequestID != "" {
		s += " request " + e.RequestID
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// tooLong is the beginning of each problem that says a policy or its steps don't fit on a card. The rest of such a
// problem quotes no content.
const tooLong = "it can't be shown whole to the people who approve it"

// OutputError reports an answer that stayed unusable after a second request. Its text contains no content; Problems do.
type OutputError struct {
	Purpose  Purpose
	Problems []string
	CutOff   bool   // the last answer was too long
	TooLong  string // why no card can show the last answer in full
	People   int    // how many people the last answer mentions, if more than task.MaxMentioned
}

func (e *OutputError) Error() string {
	if e.CutOff {
		return fmt.Sprintf("model output for %s is cut off", e.Purpose)
	}
	if e.TooLong != "" {
		return fmt.Sprintf("model output for %s is unusable: %s", e.Purpose, e.TooLong)
	}
	return fmt.Sprintf("model output for %s is unusable: %d problems", e.Purpose, len(e.Problems))
}

// reasons maps a kind of error to the reason that people see. Any other kind means that the model could not be reached.
var reasons = map[Kind]aggregate.Reason{
	Refused: task.ReasonModelRefused, BrokenOff: task.ReasonModelBrokenOff, Unreadable: task.ReasonModelBadOutput,
	BadRequest: task.ReasonModelBadRequest, TooLong: task.ReasonModelTooLong,
	Unauthorized: task.ReasonModelKey,
	Forbidden:    task.ReasonModelForbidden,
	NoCredit:     task.ReasonModelNoCredit, UnknownModel: task.ReasonModelUnknown, Misplaced: task.ReasonModelMisplaced,
	Unpriced: task.ReasonModelUnpriced,
	Demo:     task.ReasonModelDemo,
}

// FailedAtCost returns the Failure of err with the usage of the calls that were made before it.
func FailedAtCost(err error, u Usage) task.Failure {
	f := Failure(err)
	f.Usage = u
	return f
}

// Failure returns what people are told about an error of this package, and whether the same call may work later.
func Failure(err error) task.Failure {
	var output *OutputError
	var lack *LackError
	var e *Error
	switch {
	case errors.As(err, &lack):
		reason := task.ReasonPlanLacks
		if lack.never() {
			reason = task.ReasonPlanNever
		}
		return task.Failure{Reason: reason, Said: lack.sentence()}
	case errors.As(err, &output) && output.CutOff:
		return task.Failure{Reason: task.ReasonModelCutOff}
	case errors.As(err, &output) && output.People > 0:
		return task.Failure{Reason: task.ReasonTooManyPeople, Detail: fmt.Sprintf("%d/%d", output.People, task.MaxMentioned)}
	case errors.As(err, &output) && output.TooLong != "" && output.Purpose == Drafting:
		return task.Failure{Reason: task.ReasonPolicyTooLong}
	case errors.As(err, &output) && output.TooLong != "":
		return task.Failure{Reason: task.ReasonPlanTooLong}
	case errors.As(err, &output):
		return task.Failure{Reason: task.ReasonModelBadOutput}
	case errors.As(err, &e):
		if reason, ok := reasons[e.Kind]; ok {
			return task.Failure{Reason: reason, Detail: e.detail()}
		}
		return task.Failure{Reason: task.ReasonModelUnavailable, RetryAfter: e.RetryAfter, Transient: e.Retryable}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return task.Failure{Reason: task.ReasonModelUnavailable, Transient: true}
	}
	return task.Failure{Reason: task.ReasonRunFailed}
}

// detail names the key or the model that an administrator has to look at.
func (e *Error) detail() string {
	switch e.Kind {
	case Unauthorized, NoCredit, Misplaced:
		return e.Provider
	case BrokenOff:
		return e.Err.Error()
	case Unreadable:
		if what := new(UnreadableError); errors.As(e.Err, &what) {
			return what.What
		}
	case Forbidden, UnknownModel, BadRequest, TooLong, Unpriced:
		return legible.Clip(e.Model, 150)
	}
	return ""
}
