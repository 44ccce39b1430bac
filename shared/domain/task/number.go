package task

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// NumbersList begins the lists of a tenant's numbers, one for each fiscal year.
const NumbersList = "NUMBER#"

// MostNumbers is how many numbers a fiscal year has.
const MostNumbers = 999_999

// Series is the numbers of a fiscal year as they were read.
type Series struct {
	Year int // when it began; 0: nothing was read
	Last int // the highest number given so far, 0 for none
}

// Of names the list of the series.
func (s Series) Of() string { return fmt.Sprintf("%04d", s.Year) }

// Give returns the row of the next number, and the number. as says what has it. It returns ErrNumber or ErrNumbersGone
// if the series, as it was read, has no next one.
func (s Series) Give(as Numbered) (row aggregate.Listed, number string, err error) {
	switch {
	case s.Year == 0:
		return row, "", ErrNumber
	case s.Last >= MostNumbers:
		return row, "", ErrNumbersGone
	}
	as.Year, as.N = s.Year, s.Last+1
	return aggregate.Listed{List: NumbersList, Of: s.Of(), Row: &as, Err: ErrNumber}, as.String(), nil
}

// Numbered is a number and what has it: what a rule with numbered had people settle, and steps that record a decision.
// It is put in the Change that begins the steps' first attempt, claims the call, or grants it, only if it is absent,
// and never changed.
type Numbered struct {
	aggregate.Meta
	Year    int    `json:"year"` // the fiscal year of the settlement
	N       int    `json:"n"`    // from 1
	TaskID  string `json:"task_id,omitempty"`
	CallID  string `json:"call_id,omitempty"` // of an outside agent's call, instead of a task's
	GateKey string `json:"gate_key"`          // of the row that people settled
}

// NumberKey returns the key of a number in its series.
func NumberKey(n int) string { return fmt.Sprintf("%06d", n) }

func (x *Numbered) Key() string { return NumberKey(x.N) }

func (*Numbered) Type() string { return "number" }

func (x Numbered) At(rev int) aggregate.Row { x.Rev = rev; return &x }

// String returns the number as people write it, such as 2026-000123.
func (x *Numbered) String() string { return fmt.Sprintf("%04d-%06d", x.Year, x.N) }

// ParseNumber returns the row of a number as people write it, such as 2026-000123, its digits also in full width as
// Japanese input methods leave them; ok is false for any other text.
func ParseNumber(text string) (x Numbered, ok bool) {
	text = hyphens.Replace(language.Narrow(strings.TrimSpace(text)))
	if _, err := fmt.Sscanf(text, "%4d-%6d", &x.Year, &x.N); err != nil || x.N < 1 || x.String() != text {
		return Numbered{}, false
	}
	return x, true
}

// hyphens are what input methods make of one.
var hyphens = strings.NewReplacer("ー", "-", "−", "-", "‐", "-", "–", "-")

// Unnumbered returns when what the pending execution carries out was settled, if it gets a number when it begins: the
// day says of which fiscal year.
func (a *Aggregate) Unnumbered() (settled time.Time, is bool) {
	if row := a.unnumbered(); row != nil {
		return *row.gate().ApprovedAt, true
	}
	return settled, false
}

// unnumbered returns the gate by which the pending execution gets a number, or nil if it gets none.
func (a *Aggregate) unnumbered() Gated {
	e := a.Execution()
	if e == nil || e.Status != ExecutionPending || e.Number != "" {
		return nil
	}
	return a.numberedBy(e)
}

// numberedBy returns the settled gate by which an attempt's steps get a number, or nil if they get none.
func (a *Aggregate) numberedBy(e *Execution) Gated {
	p := a.ProcessOf(e)
	records := slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Tool == tenancy.DecideTool })
	if (records || p.Terms.Rule != nil && p.Terms.Rule.Numbered) && p.ApprovedAt != nil {
		return p
	}
	return nil
}

// number gives an execution that begins the number that it lacks, the next of its series; without it c fails with what
// the series lacks.
func (c *change) number(e *Execution, of Series) {
	row := c.of.unnumbered()
	if row == nil {
		return
	}
	listed, number, err := of.Give(Numbered{TaskID: c.Head.TaskID, GateKey: row.Key()})
	if err != nil {
		c.Fail(err)
		return
	}
	c.Beside = append(c.Beside, listed)
	c.RelyOn(row)
	e.Number = number
}

// NumberOf returns the number that the steps of a version have, or "".
func (a *Aggregate) NumberOf(process int) (number string) {
	for _, e := range a.Executions {
		if e.ProcessVersion == process && e.Number != "" {
			number = e.Number
		}
	}
	return number
}

// Decided returns the keys of the gates of steps that began to run, and have the number of their decision if they get
// one, and of those on which people settled a step of them.
func (a *Aggregate) Decided() (keys []string) {
	for _, e := range a.Executions {
		if e.StartedAt != nil {
			keys = append(keys, ProcessKey(e.ProcessVersion))
		}
	}
	for _, g := range a.Gates {
		keys = append(keys, g.Key())
	}
	return keys
}

// about returns what an audit entry says of an attempt, with the number that it has.
func (e *Execution) about() map[string]any {
	return WithNumber(map[string]any{"attempt": e.Attempt}, e.Number)
}

// WithNumber returns what an audit entry says of something with its number, if it has one.
func WithNumber(details map[string]any, number string) map[string]any {
	if number == "" {
		return details
	}
	details = maps.Clone(details)
	details["number"] = number
	return details
}

var (
	// ErrMaxAttempts: the process was already tried MaxAttempts times.
	ErrMaxAttempts = errors.New("no more attempts")
	// ErrMaxRetries: the generation was already retried MaxRetries times.
	ErrMaxRetries = errors.New("no more retries")
	// ErrNumber: the execution can't begin without the next number of its year, which must be read; then decide again.
	ErrNumber = errors.New("its number isn't known, or is taken by now")
	// ErrNumbersGone: all MostNumbers of the fiscal year are given, so that no other try helps.
	ErrNumbersGone = errors.New("all numbers of the fiscal year are given")
	// ErrNothingToRetry: there is neither a failed execution nor a parked generation.
	ErrNothingToRetry = errors.New("nothing to try again")
)
