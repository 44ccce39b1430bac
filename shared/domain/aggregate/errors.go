package aggregate

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNotFound: the row does not exist or belongs to another tenant.
	ErrNotFound = errors.New("not found")
	// ErrExists: the aggregate exists already, so the message was received before.
	ErrExists = errors.New("it exists already")
	// ErrSuperseded: the head names another run, so the caller must stop.
	ErrSuperseded = errors.New("superseded by another run")
	// ErrConflict: somebody else committed in between; load and decide again.
	ErrConflict = errors.New("it changed meanwhile")
	// ErrUnconfirmed: a commit got no answer; it may have been made, or may still be.
	ErrUnconfirmed = errors.New("it is not known whether it was saved")
	// ErrMoved: the caller's step is no longer the next one; read the rows again.
	ErrMoved = errors.New("something else is next by now")
	// ErrSettings: the settings changed meanwhile; read them and decide again.
	ErrSettings = errors.New("the settings changed meanwhile")
	// ErrInFlight: a call is still under way; nothing can be decided until its outcome is known.
	ErrInFlight = errors.New("a call is still in flight")
	// ErrUncovered: the decision only recorded that a write's outcome is unknown; a person must look and decide again.
	ErrUncovered = errors.New("a write with unknown outcome was uncovered")
	// ErrNotDue: the deadline has not passed, or there is nothing to decide.
	ErrNotDue = errors.New("not due yet")
)

// Reason is why something ended or stopped, as a code; cards say it in the tenant's language.
type Reason string

// ErrDecided says that the decision was already made, by whom and when.
type ErrDecided struct {
	Status string // such as approved, rejected or retried
	By     string // Slack user id, empty for the system
	At     time.Time
	Reason Reason // set when the aggregate ended instead
}

func (e ErrDecided) Error() string {
	return fmt.Sprintf("already %s by %q at %s", e.Status, e.By, e.At.Format(time.RFC3339))
}

// ErrNotLatest says that a newer version exists.
type ErrNotLatest struct{ Latest int }

func (e ErrNotLatest) Error() string { return fmt.Sprintf("version %d is newer", e.Latest) }

// ErrNotAllowed names the rule that refused.
type ErrNotAllowed struct{ Rule Rule }

func (e ErrNotAllowed) Error() string { return "not allowed: " + string(e.Rule) }

// ErrField says which field is wrong and what its limit is.
type ErrField struct {
	Field string
	Limit string
}

func (e ErrField) Error() string { return e.Field + " " + e.Limit }

// ErrTooLarge says that a row exceeds the table's size limit, so nothing was written.
type ErrTooLarge struct {
	Row   string // its type
	Bytes int
}

func (e ErrTooLarge) Error() string {
	return fmt.Sprintf("a row of type %s has %d bytes", e.Row, e.Bytes)
}
