package model

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/task"
)

// Error is a call that gave no answer, the same for every provider. It carries
// no text of the request or the answer.
type Error struct {
	Provider   string
	Kind       Kind
	Status     int  // HTTP, 0 without one
	Retryable  bool // the same call may work later
	RetryAfter time.Duration
	RequestID  string
	Err        error
}

// Kind is what went wrong.
type Kind string

const (
	RateLimited  Kind = "rate_limited"
	Overloaded   Kind = "overloaded" // the vendor's fault, or no connection to it
	Timeout      Kind = "timeout"
	Refused      Kind = "refused" // the model does not want to
	BadRequest   Kind = "bad_request"
	Unauthorized Kind = "unauthorized" // a key is missing or wrong
	UnknownModel Kind = "unknown_model"
	Demo         Kind = "demo" // asked for by the message, to show a failure
)

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s: %s", e.Provider, e.Kind)
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

// OutputError is an answer that stayed unusable after it was asked for again.
// Its text names no content; Problems do.
type OutputError struct {
	Purpose  Purpose
	Problems []string
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("model output for %s is unusable: %d problems", e.Purpose, len(e.Problems))
}

// Reason says what to tell people about an error of this package. transient:
// the same call may work after retryAfter (0: the vendor does not say).
func Reason(err error) (reason task.Reason, retryAfter time.Duration, transient bool) {
	var output *OutputError
	if errors.As(err, &output) {
		return task.ReasonModelBadOutput, 0, false
	}
	var e *Error
	if errors.As(err, &e) {
		switch e.Kind {
		case Refused:
			return task.ReasonModelRefused, 0, false
		case UnknownModel:
			return task.ReasonModelUnknown, 0, false
		case Demo:
			return task.ReasonModelDemo, 0, false
		}
		return task.ReasonModelUnavailable, e.RetryAfter, e.Retryable
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return task.ReasonModelUnavailable, 0, true
	}
	return task.ReasonRunFailed, 0, false
}
