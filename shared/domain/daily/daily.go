// Package daily turns what was recorded into the numbers of a day. A fact follows from one audit entry, or from the row
// of what a model's calls came to, and from nothing else: whoever makes it again makes the same one.
package daily

import (
	"encoding/json"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Fact is what one row says for the numbers of its day.
type Fact struct {
	Tenant string    `json:"tenant_id"`
	Task   string    `json:"task_id"`
	Source string    `json:"source"` // id of the audit entry, or key of the usage
	At     time.Time `json:"at"`

	Created bool             `json:"created,omitempty"` // a request became a task
	Gate    string           `json:"gate,omitempty"`    // what was decided on: prompt, process or step
	Verdict Verdict          `json:"verdict,omitempty"`
	Waited  *int64           `json:"waited_ms,omitempty"` // from the question to the decision; nil where a release did not record it
	Retried bool             `json:"retried,omitempty"`   // a generation that failed was tried again
	Ended   string           `json:"ended,omitempty"`     // an execution: completed, failed or cancelled
	Tools   map[string]Calls `json:"tools,omitempty"`     // how its calls ended, by tool
	Spent   *Spent           `json:"spent,omitempty"`
}

// Verdict is how a question to people ended.
type Verdict string

const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected"
	Expired  Verdict = "expired"
)

// Calls of a tool, by how they ended.
type Calls struct {
	Completed int `json:"completed,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Unknown   int `json:"unknown,omitempty"`
}

// All is how many there were.
func (c Calls) All() int { return c.Completed + c.Failed + c.Unknown }

func (c Calls) plus(d Calls) Calls {
	return Calls{c.Completed + d.Completed, c.Failed + d.Failed, c.Unknown + d.Unknown}
}

// Spent is what calls of models came to.
type Spent struct {
	Calls    int                `json:"calls"`
	Input    int64              `json:"input_tokens"`
	Output   int64              `json:"output_tokens"`
	Cached   int64              `json:"cached_tokens"`
	Cost     aggregate.MicroUSD `json:"cost_micro_usd"`
	Unpriced int                `json:"unpriced_calls,omitempty"` // calls of models whose price is not known
}

func (s Spent) plus(t Spent) Spent {
	return Spent{s.Calls + t.Calls, s.Input + t.Input, s.Output + t.Output, s.Cached + t.Cached, s.Cost + t.Cost, s.Unpriced + t.Unpriced}
}

// Key is its place in its day.
func (f Fact) Key() string { return f.Task + "#" + f.Source }

// Day is the day of a time, as cards and pages call it: Japan's.
func Day(t time.Time) string { return t.In(japan()).Format(time.DateOnly) }

// Begins is when a day begins. It returns aggregate.ErrField for a text that is no day.
func Begins(day string) (time.Time, error) {
	t, err := time.ParseInLocation(time.DateOnly, day, japan())
	if err != nil {
		return time.Time{}, aggregate.ErrField{Field: "day", Limit: "must be a date such as 2026-04-18"}
	}
	return t, nil
}

func japan() *time.Location { return time.FixedZone("JST", 9*60*60) }

// details are what entries record of decisions and executions.
type details struct {
	AskedAt time.Time        `json:"asked_at"`
	Tools   map[string]Calls `json:"tools"`
	Picked  string           `json:"picked"` // the team whose draft took a rejected one's place
}

// verdicts are the actions by which a person answers a question.
var verdicts = map[Verdict]string{Approved: ".approved", Rejected: ".rejected"}

// OfEntry is what an audit entry says; ok is false when that is nothing. An approval that asked nobody is no decision,
// and no draft is made again for a policy that gave way to another team's.
func OfEntry(x aggregate.AuditEntry) (f Fact, ok bool) {
	if x.AggregateID == "" || x.ID == "" {
		return Fact{}, false
	}
	f = Fact{Tenant: x.TenantID, Task: x.AggregateID, Source: x.ID, At: x.Timestamp}
	var d details
	_ = json.Unmarshal([]byte(x.Details), &d) // an earlier release's entry has other details, or none
	name := string(x.Action)
	gate, what, _ := strings.Cut(name, ".")
	switch {
	case name == "task.created":
		f.Created = true
	case name == "generation.retried":
		f.Retried = true
	case name == "task.expired" && x.ResourceType != "task":
		f.Gate, f.Verdict = x.ResourceType, Expired
		if f.Gate == "execution" {
			f.Gate = "step"
		}
	case gate == "execution" && (what == "completed" || what == "failed" || what == "cancelled"):
		f.Ended, f.Tools = what, d.Tools
	case gate == "prompt" || gate == "process" || gate == "step":
		if x.ActorType != aggregate.ActorUser || d.Picked != "" {
			return Fact{}, false
		}
		for v, end := range verdicts {
			if strings.HasSuffix(name, end) {
				f.Gate, f.Verdict = gate, v
			}
		}
		if !d.AskedAt.IsZero() {
			ms := max(0, x.Timestamp.Sub(d.AskedAt).Milliseconds())
			f.Waited = &ms
		}
		return f, f.Verdict != ""
	default:
		return Fact{}, false
	}
	return f, true
}

// OfUse is what the row of a model's calls says of a task.
func OfUse(ref aggregate.Ref, u aggregate.Use) Fact {
	return Fact{
		Tenant: ref.Tenant, Task: ref.ID, Source: u.Key(), At: u.CreatedAt,
		Spent: &Spent{u.Calls, u.Input, u.Output, u.Cached, u.Cost, u.Unpriced},
	}
}
