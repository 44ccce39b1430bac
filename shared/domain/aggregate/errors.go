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

// Problem says what is wrong with a field. Code is the key of the sentence that people read, in their own language and
// with the Args in it, or what a program is told, in English.
type Problem struct {
	Field, Code string
	Args        []any
}

func (p Problem) Error() string {
	text := p.Field + " " + p.Code
	for _, x := range p.Args {
		text += fmt.Sprint(" ", x)
	}
	return text
}

// Is reports whether another error is the same problem: its Args can't be compared by ==.
func (p Problem) Is(other error) bool {
	o, is := other.(Problem)
	return is && o.Error() == p.Error()
}

// Problems collects what is wrong with the fields of one value.
type Problems []Problem

// Unless adds a problem unless a claim about a field holds.
func (p *Problems) Unless(holds bool, field, code string, args ...any) {
	if !holds {
		*p = append(*p, Problem{field, code, args})
	}
}

// Each adds a problem for each text of a list that doesn't fit.
func (p *Problems) Each(field string, texts []string, fits func(string) bool, code string) {
	for i, text := range texts {
		p.Unless(fits(text), fmt.Sprintf("%s[%d]", field, i), code)
	}
}

// Under adds the problems of a value that stands at a field.
func (p *Problems) Under(field string, all Problems) {
	for _, x := range all {
		*p = append(*p, Problem{field + "." + x.Field, x.Code, x.Args})
	}
}

// Err returns the first of the problems, or nil.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p[0]
}

// ErrTooLarge says that a row exceeds the table's size limit, so nothing was written.
type ErrTooLarge struct {
	Row   string // its type
	Bytes int
}

func (e ErrTooLarge) Error() string {
	return fmt.Sprintf("a row of type %s has %d bytes", e.Row, e.Bytes)
}

// Count is a counter for one of a tenant's quotas, and what a Change adds to it.
type Count struct {
	Key    string // <user>#<hour>, OPEN#<user> or SPENT#<day>
	By     int    // 1 or -1; for a day's costs, millionths of a dollar
	Most   int    // a Change that would take the counter above this is refused; 0: no limit
	Reason Reason // the reason in ErrFull when the limit is reached
	Until  time.Time
	Keep   time.Time // when the counter may be deleted; zero: never
}

// ErrFull says that a quota is used up, which one, and until when.
type ErrFull struct{ Count }

func (e ErrFull) Error() string { return fmt.Sprintf("%s: at most %d", e.Reason, e.Most) }
