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
	Rejected Verdict = "rejected"
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
	Form    bool                  `json:"by_form"`   // of a request for a decision
}

// verdicts maps the endings of audit actions to a person's verdict. On a route only the stamp that settles the gate
// counts; what else people do there decides nothing.
var verdicts = map[string]Verdict{".approved": Approved, ".rejected": Rejected, ".denied": Rejected,
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
		if d.Form && what == "rejected" { // to whoever filled it in
			f.Verdict = Returned
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
var rejections = map[string]string{"form_returned": "form_returned", "denied": "denied", "max_versions": "denied"}

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

// spentKept is how long a day's sum is stored.
const spentKept = 400 * 24 * time.Hour

// SpentPrefix begins the keys of the counters of a tenant's daily costs, in millionths of a dollar. Days and months are
// in UTC.
const SpentPrefix = "SPENT#"

// Spent adds a cost to its day.
func Spent(cost aggregate.MicroUSD, now time.Time) []aggregate.Count {
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{ofDay(cost, now)}
}

func ofDay(cost aggregate.MicroUSD, day time.Time) aggregate.Count {
	return aggregate.Count{Key: SpentPrefix + day.UTC().Format(time.DateOnly), By: int(cost), Keep: day.Add(spentKept)}
}

// AgentsDay is the key of the counter of what agents cost on a day (UTC).
func AgentsDay(day time.Time) string { return "AGENTS#" + day.UTC().Format(time.DateOnly) }

// The rates, in millionths of a dollar for a token, at which calls of unknown price count towards the agents' day:
// those of the dearest model whose price is known, so that a limit holds for every model.
const (
	UnknownInput  = 10
	UnknownOutput = 50
)

// AgentsCost is what usage counts towards the agents' day.
func AgentsCost(u aggregate.Usage) aggregate.MicroUSD {
	if u.Unpriced <= 0 {
		return u.Cost
	}
	tokens := (u.Input+u.Cached)*UnknownInput + u.Output*UnknownOutput
	return u.Cost + aggregate.MicroUSD(tokens*int64(u.Unpriced)/int64(max(u.Unpriced, u.Calls)))
}

// SpentByAgents adds usage to the agents' day.
func SpentByAgents(u aggregate.Usage, now time.Time) []aggregate.Count {
	cost := AgentsCost(u)
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{{Key: AgentsDay(now), By: int(cost), Keep: now.Add(48 * time.Hour)}}
}

// ReasonSourcesDay says that a tenant has fetched as many sources as it may on one day.
const ReasonSourcesDay aggregate.Reason = "sources_day"

// SourceFetched counts the fetch of a source towards its day (UTC). It is refused beyond most; 0 means no limit.
func SourceFetched(most int, now time.Time) aggregate.Count {
	day := now.UTC().Truncate(24 * time.Hour)
	next := day.Add(24 * time.Hour)
	return aggregate.Count{Key: "SOURCES#" + day.Format(time.DateOnly), By: 1, Most: most, Reason: ReasonSourcesDay,
		Until: next, Keep: next.Add(24 * time.Hour)}
}

// ReasonDayBudget says that a tenant's costs have reached the limit for the day.
const ReasonDayBudget aggregate.Reason = "day_budget"

// Reserve adds a budget to its day before it is spent. It is refused if the day would come to more than most; 0 means
// no limit. So of two concurrent reservations for which only one fits, one is refused.
func Reserve(budget, most aggregate.MicroUSD, now time.Time) []aggregate.Count {
	c := ofDay(budget, now)
	c.Most, c.Reason, c.Held = int(most), ReasonDayBudget, int(budget)
	return []aggregate.Count{c}
}

// Settle replaces a reserved budget by the actual cost.
func Settle(reserved, cost aggregate.MicroUSD, day time.Time) []aggregate.Count {
	if cost == 0 && reserved == 0 {
		return nil
	}
	c := ofDay(cost-reserved, day)
	c.Held = -int(reserved)
	return []aggregate.Count{c}
}

// Sums are the costs of all of a tenant's tasks today and in this month. A running contest counts with its full budget,
// which is held until what it spent is known.
type Sums struct{ Day, Month, HeldDay, HeldMonth aggregate.MicroUSD }

// Spent returns the sums without what is only held.
func (s Sums) Spent() (day, month aggregate.MicroUSD) {
	return s.Day - s.HeldDay, s.Month - s.HeldMonth
}

// MaxCostDay is the daily cost limit, 0 for none: the saved limit, or FurtherDay if that is lower.
func (s Settings) MaxCostDay() aggregate.MicroUSD {
	saved := limitOf(s.MaxCostDayUSD)
	if s.FurtherDay > 0 && (saved == 0 || s.FurtherDay < saved) {
		return s.FurtherDay
	}
	return saved
}

// MaxCostMonth is the monthly cost limit, 0 for none.
func (s Settings) MaxCostMonth() aggregate.MicroUSD { return limitOf(s.MaxCostMonthUSD) }

// MostOfDay returns the highest value that today's counter may reach: the daily limit, or what the other days of the
// month leave of the monthly limit if that is less. 0 means no limit; if nothing is left it returns 1.
func (s Settings) MostOfDay(sums Sums) (most aggregate.MicroUSD) {
	if most = s.MaxCostDay(); s.MaxCostMonth() > 0 {
		left := max(s.MaxCostMonth()-(sums.Month-sums.Day), 1)
		if most == 0 || left < most {
			most = left
		}
	}
	return most
}

// HasBudgets reports whether there is a daily or a monthly limit.
func (s Settings) HasBudgets() bool { return s.MaxCostDay() > 0 || s.MaxCostMonth() > 0 }

// CostsLimited reports whether any limit applies to the costs of a task.
func (s Settings) CostsLimited() bool { return s.MaxCost() > 0 || s.HasBudgets() }

// SessionCostsLimited reports whether any limit applies to the costs of a conversation with an agent.
func (s Settings) SessionCostsLimited() bool { return s.MaxSessionCost() > 0 || s.HasBudgets() }
