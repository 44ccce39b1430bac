package tenancy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// DailyFact is the contribution of one row to its day's statistics.
type DailyFact struct {
	Tenant string    `json:"tenant_id"`
	Task   string    `json:"task_id"`
	Source string    `json:"source"` // id of the audit entry, or key of the usage row
	At     time.Time `json:"at"`

	Created bool                  `json:"created,omitempty"` // a request became a task
	Gate    string                `json:"gate,omitempty"`    // prompt, process or step, if this is a decision
	Verdict Verdict               `json:"verdict,omitempty"`
	Waited  *int64                `json:"waited_ms,omitempty"` // from question to decision; nil: nobody was asked
	Retried bool                  `json:"retried,omitempty"`   // a failed generation was retried
	Became  string                `json:"became,omitempty"`    // the status in which the request rests since then
	Ended   string                `json:"ended,omitempty"`     // for an execution: completed, failed or cancelled
	Tools   map[string]DailyCalls `json:"tools,omitempty"`     // the execution's calls by tool
	Spent   *DailySpent           `json:"spent,omitempty"`
}

// Verdict is the end of a question to people.
type Verdict string

const (
	Approved Verdict = "approved"
	Rejected Verdict = "rejected" // another version is made
	Denied   Verdict = "denied"   // rejected for good
	Returned Verdict = "returned" // to whoever asked
	Expired  Verdict = "expired"
)

// DailyCalls counts a tool's calls by status.
type DailyCalls struct {
	Completed int `json:"completed,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Unknown   int `json:"unknown,omitempty"`
}

// All returns the number of all calls.
func (c DailyCalls) All() int { return c.Completed + c.Failed + c.Unknown }

func (c DailyCalls) plus(d DailyCalls) DailyCalls {
	return DailyCalls{c.Completed + d.Completed, c.Failed + d.Failed, c.Unknown + d.Unknown}
}

// DailySpent is the usage of model calls.
type DailySpent struct {
	Calls    int                `json:"calls"`
	Input    int64              `json:"input_tokens"`
	Output   int64              `json:"output_tokens"`
	Cached   int64              `json:"cached_tokens"`
	Cost     aggregate.MicroUSD `json:"cost_micro_usd"`
	Unpriced int                `json:"unpriced_calls,omitempty"` // calls of models without a known price
}

func (s DailySpent) plus(t DailySpent) DailySpent {
	return DailySpent{s.Calls + t.Calls, s.Input + t.Input, s.Output + t.Output, s.Cached + t.Cached, s.Cost + t.Cost,
		s.Unpriced + t.Unpriced}
}

// Key returns the fact's key within its day.
func (f DailyFact) Key() string { return f.Task + "#" + f.Source }

// DayOf returns the date in Japan, as on cards and pages.
func DayOf(t time.Time) string { return t.In(Zone()).Format(time.DateOnly) }

// DayBegins returns when a day begins. It returns aggregate.ErrField for an invalid date.
func DayBegins(day string) (time.Time, error) {
	t, err := time.ParseInLocation(time.DateOnly, day, Zone())
	if err != nil {
		return time.Time{}, aggregate.ErrField{Field: "day", Limit: "must be a date such as 2026-04-18"}
	}
	return t, nil
}

// factDetails are the fields that this package reads from audit entries.
type factDetails struct {
	AskedAt time.Time             `json:"asked_at"`
	Tools   map[string]DailyCalls `json:"tools"`
	Reason  string                `json:"reason"`
	Kind    string                `json:"kind"`      // of a plain reply
	Stopped string                `json:"execution"` // that was cancelled with the task, by an entry of its own
	Picked  string                `json:"picked"`    // team whose draft replaced the rejected one
}

// verdicts maps the endings of audit actions to a person's verdict. On a route only the stamp that settles the gate
// counts; what else people do there decides nothing.
var verdicts = map[string]Verdict{".approved": Approved, ".rejected": Rejected, ".denied": Denied,
	".returned": Returned}

// FactOfEntry returns an audit entry's fact; ok is false if it has none. Approvals by the system are not counted as
// decisions. Rejections by picking another team's draft are not counted either, because no new draft is generated.
func FactOfEntry(x aggregate.AuditEntry) (f DailyFact, ok bool) {
	if x.AggregateID == "" || x.ID == "" {
		return DailyFact{}, false
	}
	f = DailyFact{Tenant: x.TenantID, Task: x.AggregateID, Source: x.ID, At: x.Timestamp}
	var d factDetails
	_ = json.Unmarshal([]byte(x.Details), &d) // not every entry has details
	f.Became = became(x, d)
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
			return f, f.Became != ""
		}
		for end, v := range verdicts {
			if strings.HasSuffix(name, end) {
				f.Gate, f.Verdict = gate, v
			}
		}
		if !d.AskedAt.IsZero() {
			ms := max(0, x.Timestamp.Sub(d.AskedAt).Milliseconds())
			f.Waited = &ms
		}
		return f, f.Verdict != "" || f.Became != ""
	default:
		return f, f.Became != ""
	}
	return f, true
}

// rejections maps reasons of a request's end to what it is counted as: nobody withdrew it.
var rejections = map[string]string{"denied": "denied", "max_versions": "denied", "rule_refuses": "unrouted",
	"no_route": "unrouted", "rule_refuses_step": "unrouted", "no_route_step": "unrouted", "no_home": "unrouted",
	"no_department": "unrouted", "no_row": "unrouted", "no_row_words": "unrouted", "on_leave": "unrouted",
	"on_leave_words": "unrouted", "askers_route": "unrouted",
	"unknown_post": "unrouted", "many_askers": "unrouted"}

// became returns the status in which a request rests since the change that the entry records, or "". A change that
// cancels an execution with its task has an entry for each, of which one counts.
func became(x aggregate.AuditEntry, d factDetails) string {
	switch string(x.Action) {
	case "execution.completed":
		return "done"
	case "execution.failed":
		if d.Reason == "tool_value" {
			return "failed"
		}
		return "to_retry"
	case "execution.cancelled":
		if x.ActorType == aggregate.ActorUser {
			return "cancelled"
		}
	case "task.cancelled":
		if d.Stopped == "" {
			return cmp.Or(rejections[d.Reason], "cancelled")
		}
	case "task.expired":
		return "expired"
	case "task.refused":
		return "refused"
	case "request.answered":
		if d.Kind == "unsupported" {
			return "refused"
		}
		return "answered"
	case "generation.failed":
		return "not_drafted"
	}
	return ""
}

// FactOfUse returns the fact of a task's usage row.
func FactOfUse(ref aggregate.Ref, u aggregate.Use) DailyFact {
	return DailyFact{
		Tenant: ref.Tenant, Task: ref.ID, Source: u.Key(), At: u.CreatedAt,
		Spent: &DailySpent{u.Calls, u.Input, u.Output, u.Cached, u.Cost, u.Unpriced},
	}
}

// Counts returns the sum's non-zero numbers by name. The numbers of two parts of a day can be added up.
func (s DailySum) Counts() map[string]int {
	out := map[string]int{}
	put := func(n int, name ...string) {
		if n != 0 {
			out[strings.Join(name, " ")] = n
		}
	}
	put(s.Facts, "facts")
	put(s.Tasks, "tasks")
	put(s.Retried, "retried")
	for gate, by := range s.Verdicts {
		for v, n := range by {
			put(n, "verdict", gate, string(v))
		}
	}
	for i, n := range s.Waits {
		put(n, "wait", strconv.Itoa(i))
	}
	for as, n := range s.Ended {
		put(n, "ended", as)
	}
	for status, n := range s.Became {
		put(n, "became", status)
	}
	for name, c := range s.Tools {
		put(c.Completed, "completed", name)
		put(c.Failed, "failed", name)
		put(c.Unknown, "unknown", name)
	}
	put(s.Spent.Calls, "calls")
	put(int(s.Spent.Input), "input")
	put(int(s.Spent.Output), "output")
	put(int(s.Spent.Cached), "cached")
	put(int(s.Spent.Cost), "cost")
	put(s.Spent.Unpriced, "unpriced")
	return out
}

// DailySumOf is the inverse of Counts. It returns an error for an invalid bucket of wait times.
func DailySumOf(tenant, day string, counts map[string]int) (DailySum, error) {
	s := DailySum{Tenant: tenant, Day: day}.whole()
	for name, n := range counts {
		kind, of, _ := strings.Cut(name, " ")
		c := s.Tools[of]
		switch kind {
		case "facts":
			s.Facts = n
		case "tasks":
			s.Tasks = n
		case "retried":
			s.Retried = n
		case "verdict":
			gate, v, _ := strings.Cut(of, " ")
			s.decided(gate, Verdict(v), n)
		case "wait":
			i, err := strconv.Atoi(of)
			if err != nil || i < 0 || i >= len(s.Waits) {
				return DailySum{}, fmt.Errorf("the sum of %s has a count %q", day, name)
			}
			s.Waits[i] = n
		case "ended":
			s.Ended[of] = n
		case "became":
			s.Became[of] = n
		case "completed":
			s.Tools[of] = DailyCalls{n, c.Failed, c.Unknown}
		case "failed":
			s.Tools[of] = DailyCalls{c.Completed, n, c.Unknown}
		case "unknown":
			s.Tools[of] = DailyCalls{c.Completed, c.Failed, n}
		case "calls":
			s.Spent.Calls = n
		case "input":
			s.Spent.Input = int64(n)
		case "output":
			s.Spent.Output = int64(n)
		case "cached":
			s.Spent.Cached = int64(n)
		case "cost":
			s.Spent.Cost = aggregate.MicroUSD(n)
		case "unpriced":
			s.Spent.Unpriced = n
		}
	}
	return s, nil
}
