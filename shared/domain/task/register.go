package task

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Register is where a request that is taken on or refused gets its number (起案番号) from.
type Register struct {
	Settings   tenancy.Settings // say to which fiscal year a day belongs
	Of         Series           // of requests, as it was read
	Department string           // of whoever asks, by the organisation; empty: not known
}

// Requested is a number and the request that has it. It is put in the Change that takes the request on or refuses it,
// only if it is absent, and never changed. What is cancelled before, expires or becomes a reason has none.
type Requested struct {
	aggregate.Meta
	Year       int       `json:"year"` // the fiscal year of TakenAt
	N          int       `json:"n"`    // from 1
	TaskID     string    `json:"task_id"`
	Department string    `json:"department,omitempty"`
	TakenAt    time.Time `json:"taken_at"`
}

func (x *Requested) Key() string { return NumberKey(x.N) }

func (*Requested) Type() string { return "request_number" }

func (x Requested) At(rev int) aggregate.Row { x.Rev = rev; return &x }

// String returns the number as people write it, such as 2026-000123. A decision may have the same.
func (x *Requested) String() string { return fmt.Sprintf("%04d-%06d", x.Year, x.N) }

// wholeCompany has the documents of requests in no channel with its own series, by whoever is in no department.
var wholeCompany = language.InEach("全社", "Company")

// Registering returns the task for a decision that gives the request its number, if it takes it on or refuses it. That
// fails with ErrNumber if the series must be read first. Nil means that the tenant has no register.
func (a *Aggregate) Registering(r *Register) *Aggregate {
	n := *a
	n.Into = r
	return &n
}

// register gives the request its number, once, if the tenant has a register.
func (c *change) register() {
	into := c.of.Into
	if into == nil || c.Head.RequestNumber != "" {
		return
	}
	err := into.Of.Lacks()
	if into.Of.Year != into.Settings.FiscalYear(c.Now) {
		err = ErrNumber
	}
	if err != nil {
		c.Fail(err)
		return
	}
	x := &Requested{
		Year: into.Of.Year, N: into.Of.Last + 1, TaskID: c.Head.TaskID, Department: into.Department, TakenAt: c.Now,
	}
	c.Beside = append(c.Beside, aggregate.Listed{List: RequestsList, Of: into.Of.Of(), Row: x, Err: ErrNumber})
	c.Head.RequestNumber = x.String()
	c.Head.Series = cmp.Or(into.Settings.SeriesOf(c.of.Request.Origin().Channel), into.Department,
		wholeCompany.In(into.Settings.Locale))
}

// registered gives the request its number, and returns what an audit entry says with it.
func (c *change) registered(details map[string]any) map[string]any {
	c.register()
	return c.Head.withNumber(details)
}

// withNumber returns what an audit entry says with the request's number, if it has one.
func (h *Head) withNumber(details map[string]any) map[string]any {
	if h.RequestNumber == "" {
		return details
	}
	details = maps.Clone(details)
	details["request_number"] = h.RequestNumber
	return details
}
