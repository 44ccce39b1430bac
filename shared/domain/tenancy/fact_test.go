package tenancy_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// at returns half past eight in the morning in Japan, which is still the day before in UTC.
func at() time.Time { return time.Date(2026, 4, 17, 23, 30, 0, 0, time.UTC) }

func entry(action aggregate.Action, resource string, details aggregate.JSON) aggregate.AuditEntry {
	return aggregate.AuditEntry{
		ID: "01ENTRY", TenantID: "01TENANT", Timestamp: at(), ActorType: aggregate.ActorUser, ActorID: "U1", Action: action,
		ResourceType: resource, ResourceID: "01ROW", AggregateID: "01TASK", Details: details,
	}
}

const routed = `{"asked_at":"2026-04-17T23:29:30.000Z","asked":"hash","stage":2,"rule":{"id":"r1","name":"x","revision":1}}`

const asked = `{"asked_at":"2026-04-17T23:29:30.000Z","version":1}`

func TestWhatAnEntrySays(t *testing.T) {
	half := int64(30_000)
	for name, tt := range map[string]struct {
		entry aggregate.AuditEntry
		want  tenancy.DailyFact // without the fields that all facts have
	}{
		"a task that begins": {entry(task.AuditTaskCreated, "task", "{}"), tenancy.DailyFact{Created: true}},
		"an approval": {entry(task.AuditPromptApproved, "prompt", asked),
			tenancy.DailyFact{Gate: "prompt", Verdict: tenancy.Approved, Waited: &half}},
		"of steps": {entry(task.AuditProcessApproved, "process", asked),
			tenancy.DailyFact{Gate: "process", Verdict: tenancy.Approved, Waited: &half}},
		"of one step": {entry(task.AuditStepApproved, "execution", asked),
			tenancy.DailyFact{Gate: "step", Verdict: tenancy.Approved, Waited: &half}},
		"a rejection": {entry(task.AuditPromptRejected, "prompt", asked),
			tenancy.DailyFact{Gate: "prompt", Verdict: tenancy.Rejected, Waited: &half}},
		"a return": {entry(task.AuditProcessReturned, "process", asked),
			tenancy.DailyFact{Gate: "process", Verdict: tenancy.Returned, Waited: &half}},
		"a form's return": {entry(task.AuditProcessReturned, "process", aggregate.JSON(asked[:len(asked)-1])+`,"by_form":true}`),
			tenancy.DailyFact{Gate: "process", Verdict: tenancy.Returned, Waited: &half}},
		"a request that was denied": {entry(task.AuditTaskCancelled, "task", `{"reason":"denied"}`),
			tenancy.DailyFact{Became: "denied"}},
		"no details": {entry(task.AuditStepRejected, "execution", ""),
			tenancy.DailyFact{Gate: "step", Verdict: tenancy.Rejected}},
		"nobody came": {entry(task.AuditTaskExpired, "process", `{"hours":72}`),
			tenancy.DailyFact{Gate: "process", Verdict: tenancy.Expired, Became: "expired"}},
		"nobody saw a step": {entry(task.AuditTaskExpired, "execution", `{"hours":72}`),
			tenancy.DailyFact{Gate: "step", Verdict: tenancy.Expired, Became: "expired"}},
		"the last stamp": {entry(task.AuditProcessApproved, "process", routed),
			tenancy.DailyFact{Gate: "process", Verdict: tenancy.Approved, Waited: &half}},
		"denied": {entry(task.AuditStepDenied, "execution", routed),
			tenancy.DailyFact{Gate: "step", Verdict: tenancy.Denied, Waited: &half}},
		"another try": {entry(task.AuditGenerationRetried, "prompt", "{}"), tenancy.DailyFact{Retried: true}},
		"an execution": {entry(task.AuditExecutionFailed, "execution",
			`{"tools":{"sheets_append":{"completed":2,"unknown":1}}}`), tenancy.DailyFact{Ended: "failed", Became: "to_retry",
			Tools: map[string]tenancy.DailyCalls{"sheets_append": {Completed: 2, Unknown: 1}}}},
		"a cancelled one": {entry(task.AuditExecutionCancelled, "execution", "null"),
			tenancy.DailyFact{Ended: "cancelled", Became: "cancelled"}},
		"completed": {entry(task.AuditExecutionCompleted, "execution", "{}"),
			tenancy.DailyFact{Ended: "completed", Became: "done"}},
		"a stamped value is gone": {entry(task.AuditExecutionFailed, "execution", `{"reason":"tool_value"}`),
			tenancy.DailyFact{Ended: "failed", Became: "failed"}},
		"a request that was cancelled": {entry(task.AuditTaskCancelled, "task", `{"reason":"cancelled_by_person"}`),
			tenancy.DailyFact{Became: "cancelled"}},
		"a choice that nobody made":  {entry(task.AuditTaskExpired, "task", "{}"), tenancy.DailyFact{Became: "expired"}},
		"a request that was refused": {entry(task.AuditTaskRefused, "task", "{}"), tenancy.DailyFact{Became: "refused"}},
		"one that can't be done": {entry(task.AuditRequestAnswered, "task", `{"kind":"unsupported"}`),
			tenancy.DailyFact{Became: "refused"}},
		"a plain answer": {entry(task.AuditRequestAnswered, "task", `{"kind":"help"}`),
			tenancy.DailyFact{Became: "answered"}},
		"a generation that failed": {entry(task.AuditGenerationFailed, "prompt", "{}"),
			tenancy.DailyFact{Became: "not_drafted"}},
	} {
		t.Run(name, func(t *testing.T) {
			statuses := append(slices.Clone(task.Statuses), task.StatusDenied)
			got, ok := tenancy.FactOfEntry(tt.entry)
			expect.That(t, got.Became == "" || slices.Contains(statuses, task.Status(got.Became)), "%q is no status",
				got.Became)
			tt.want.Tenant, tt.want.Task, tt.want.Source, tt.want.At = "01TENANT", "01TASK", "01ENTRY", at()
			diff := cmp.Diff(tt.want, got)
			expect.That(t, diff == "" && ok, "%v %v", ok, diff)
		})
	}
}

func TestWhatIsNoFact(t *testing.T) {
	system := entry(task.AuditPromptApproved, "prompt", asked)
	system.ActorType, system.ActorID = aggregate.ActorSystem, ""
	settings := entry(tenancy.AuditSettingsUpdated, "settings", "{}")
	settings.AggregateID = ""
	for name, x := range map[string]aggregate.AuditEntry{
		"an approval that asked nobody": system, "of no task": settings, "cancelled with its execution": entry(task.AuditTaskCancelled, "task", `{"execution":"01ROW"}`),
		"a pick of another draft":      entry(task.AuditPromptRejected, "prompt", `{"version":1,"picked":"swift"}`),
		"a start":                      entry(task.AuditExecutionStarted, "execution", "{}"),
		"an action without any effect": entry("prompt.read", "prompt", "{}"),
		"a stamp that settles nothing": entry(task.AuditProcessStamped, "process", routed),
		"a stamp taken back":           entry(task.AuditProcessTakenBack, "process", routed),
		"a successor":                  entry(task.AuditStepReassigned, "execution", routed),
		"an opening":                   entry(task.AuditProcessRouted, "process", routed),
	} {
		f, ok := tenancy.FactOfEntry(x)
		expect.That(t, !ok, "%s: %+v", name, f)
	}
}

func TestADayIsJapans(t *testing.T) {
	expect.Is(t, tenancy.DayOf(at()), "2026-04-18")
	for name, tt := range map[string]struct {
		from, to string
		days     int
	}{
		"one day": {"2026-04-18", "2026-04-18", 1}, "over a leap day": {"2024-02-28", "2024-03-01",
			3}, "the most": {"2026-01-01", "2026-04-02", tenancy.MaxDays},
		"too many": {"2026-01-01", "2026-04-03", 0}, "backwards": {"2026-04-18", "2026-04-17", 0}, "no date": {"yesterday",
			"2026-04-17", 0}, "no end": {"2026-04-17", "2026-04-31", 0},
	} {
		days, err := tenancy.DaysBetween(tt.from, tt.to)
		expect.That(t, len(days) == tt.days && (tt.days == 0) == errors.As(err, &(aggregate.ErrField{})), "%s: %d days, %v",
			name, len(days), err)
	}
}

// facts returns facts of every kind on one day.
func facts(n int) (all []tenancy.DailyFact) {
	for i := range n {
		f := tenancy.DailyFact{Task: "t", Source: strings.Repeat("x", i), At: at()}
		switch ms := int64(i) * 1000; i % 4 {
		case 0:
			f.Gate, f.Verdict, f.Waited = "prompt", tenancy.Approved, &ms
		case 1:
			f.Gate, f.Verdict, f.Waited = "process", tenancy.Rejected, &ms
		case 2:
			f.Ended, f.Became, f.Tools = "failed", []string{"failed",
				"to_retry"}[i/4%2], map[string]tenancy.DailyCalls{"sheets_append": {Failed: 1}, "list_employees": {Completed: i}}
		default:
			f.Spent = &tenancy.DailySpent{Calls: 1, Input: 10, Output: 2, Cost: 3, Unpriced: i % 2}
		}
		all = append(all, f)
	}
	return all
}

func TestAFoldDependsOnNoOrderAndAddsUp(t *testing.T) {
	all := facts(100)
	want := tenancy.FoldFacts("01TENANT", "2026-04-18", all)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	expect.Same(t, want, tenancy.FoldFacts("01TENANT", "2026-04-18", all))
	total := tenancy.TotalOfDays([]tenancy.DailySum{tenancy.FoldFacts("", "", all[:30]),
		tenancy.FoldFacts("", "", all[30:]), {}})
	total.Tenant, total.Day = want.Tenant, want.Day
	expect.Same(t, want, total)
	expect.That(t, want.Facts == 100 && want.Decided(tenancy.Approved) == 25 && want.SentBack() == 25 &&
		want.Tools["sheets_append"].Failed == 25 && want.Spent.Cost == 75 && want.Spent.Unpriced == 25, "%+v", want)
}

func TestCountsAddUpToTheSumOfAll(t *testing.T) {
	all, counts := facts(100), map[string]int{}
	for _, part := range [][]tenancy.DailyFact{all[:1], all[1:40], all[40:]} {
		for name, n := range tenancy.FoldFacts("01TENANT", "2026-04-18", part).Counts() {
			counts[name] += n
		}
	}
	want := tenancy.FoldFacts("01TENANT", "2026-04-18", all)
	expect.Same(t, want, expect.Value(tenancy.DailySumOf("01TENANT", "2026-04-18", counts))(t))
	for _, odd := range []string{"wait 1000", "wait x"} {
		_, err := tenancy.DailySumOf("01TENANT", "2026-04-18", map[string]int{odd: 1})
		expect.That(t, err != nil, "%q is counted", odd)
	}
}

func TestTimesAreSaidUpToTheirBucket(t *testing.T) {
	sum := func(all ...time.Duration) tenancy.DailySum {
		var facts []tenancy.DailyFact
		for _, d := range all {
			ms := d.Milliseconds()
			facts = append(facts, tenancy.DailyFact{Gate: "prompt", Verdict: tenancy.Approved, Waited: &ms})
		}
		return tenancy.FoldFacts("", "", facts)
	}
	for name, tt := range map[string]struct {
		sum          tenancy.DailySum
		part         float64
		want         time.Duration
		ended, known bool
	}{
		"none":            {sum(), 0.5, 0, false, false},
		"at once":         {sum(0), 0.5, 10 * time.Second, true, true},
		"on the edge":     {sum(10 * time.Second), 0.5, 10 * time.Second, true, true},
		"behind the edge": {sum(10*time.Second + time.Millisecond), 0.5, 15 * time.Second, true, true},
		"the middle":      {sum(time.Second, time.Second, time.Hour), 0.5, 10 * time.Second, true, true},
		"nine in ten":     {sum(time.Second, time.Second, 12*time.Second), 0.9, 15 * time.Second, true, true},
		"half a year":     {sum(180 * 24 * time.Hour), 0.5, 0, false, true},
	} {
		end, ended, known := tt.sum.Within(tt.part)
		expect.That(t, end == tt.want && ended == tt.ended && known == tt.known, "%s: %v, %v, %v", name, end, ended, known)
	}
	last := time.Duration(0)
	for i := 0; ; i++ {
		end, ok := tenancy.WaitBound(i)
		if !ok {
			break
		}
		expect.That(t, i == 0 || end > last && end <= last*3/2, "bucket %d ends at %v behind %v", i, end, last)
		last = end
	}
	expect.That(t, last >= 30*24*time.Hour && last <= 45*24*time.Hour, "the last bucket ends at %v", last)
}
