// Package errorclass says of any error which class it is. What people are told about an error, whether another try may
// help, and what the state machine does about it follow from its class, and are decided nowhere else.
package errorclass

import (
	"context"
	"errors"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Class is what kind of error an error is.
type Class string

const (
	None Class = "" // of nil

	// The answer is no: the same try finds the same, until somebody does something else first.
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

	// Nothing was decided, and another try may go through.
	Full          Class = "full"           // a quota leaves no place
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

// All are those of errors, for whoever must know each.
var All = []Class{
	NotFound, NotAllowed, Decided, NotLatest, InFlight, Uncovered, NothingToRetry, MaxAttempts, MaxRetries, Field,
	Full, Stopped, Unconfirmed, Conflict, Changed, Superseded, Unverified, MalformedForm,
	BadInput, ModelUnavailable, Unavailable, Internal,
}

// Errors that functions of different packages make, beside those of the domain.
var (
	// ErrUnverified: Slack did not say who the person is, so nothing was decided.
	ErrUnverified = errors.New("could not check who is asking")
	// ErrMalformedForm: a form does not say what it is about.
	ErrMalformedForm = errors.New("the form can't be read")
	// ErrBadInput marks an input that lacks what this state needs; no other try would find it.
	ErrBadInput = errors.New("bad input")
	// ErrModelUnavailable marks an error that another try may not have.
	ErrModelUnavailable = errors.New("the model is not available")
	// ErrUnavailable marks an error of something that did not answer, or not as it should for now.
	ErrUnavailable = errors.New("a service is not available")
)

// sentinels are the classes of errors that are values. When an error wraps several of them, the first in this list
// counts.
var sentinels = []struct {
	err   error
	class Class
}{
	{aggregate.ErrInFlight, InFlight},
	{aggregate.ErrUncovered, Uncovered},
	{aggregate.ErrUnconfirmed, Unconfirmed}, // wraps why there was no answer
	{task.ErrNothingToRetry, NothingToRetry},
	{task.ErrMaxAttempts, MaxAttempts},
	{task.ErrMaxRetries, MaxRetries},
	{aggregate.ErrNotFound, NotFound},
	{ErrBadInput, BadInput},
	{ErrModelUnavailable, ModelUnavailable},
	{ErrUnavailable, Unavailable},
	{aggregate.ErrSuperseded, Superseded},
	{aggregate.ErrConflict, Conflict},
	{aggregate.ErrExists, Conflict}, // somebody made it in between
	{aggregate.ErrMoved, Changed},
	{aggregate.ErrSettings, Changed},
	{aggregate.ErrNotDue, Changed},
	{ErrUnverified, Unverified}, // wraps Slack's error
	{ErrMalformedForm, MalformedForm},
	{context.DeadlineExceeded, Unavailable},
	{context.Canceled, Unavailable},
}

// Of is an error's class. What a decision says counts before what it wraps or was joined with.
func Of(err error) Class {
	switch {
	case err == nil:
		return None
	case is[aggregate.ErrDecided](err):
		return Decided
	case is[aggregate.ErrNotLatest](err):
		return NotLatest
	case is[aggregate.ErrNotAllowed](err):
		return NotAllowed
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

// Refusal reports whether a rule or the state of things says no, so that the same try finds the same. Otherwise nothing
// is known to be saved because something of Ringi's, Slack's or AWS's failed, or moved meanwhile.
func (c Class) Refusal() bool {
	switch c {
	case NotFound, NotAllowed, Decided, NotLatest, InFlight, Uncovered, NothingToRetry, MaxAttempts, MaxRetries, Field:
		return true
	}
	return false
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
