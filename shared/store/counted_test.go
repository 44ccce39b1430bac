package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testFacts(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"what a task's audit entries say is in its day's sum, however often it is told", testFactsOfATask},
		{"sums are the tenant's", testSumsOfATenant},
		{"a fact is counted once in its day's sum, however often and beside whom it is told", testFactsCounted},
		{"a task's facts of a day are counted in one row, each once", testFactsOfATaskInOneRow},
	})
}

// today returns a time on a day that only the test n uses.
func today(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }

func counted(n int, when time.Time) tenancy.DailyFact {
	return tenancy.DailyFact{Tenant: tenant, Task: fmt.Sprintf("t%d", n), Source: "01E", At: when, Created: true}
}

func testFactsOfATask(t *testing.T, st *taskStore) {
	a := loaded(t, st, waitingPrompt(t, st, 1))
	expect.Value(st.Decide(t.Context(), a.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return does(a, circulation.Stamp, a.Prompt().ID, "", approver(), a.Head.ChangedAt.Add(5*time.Minute))
	}))(t)
	used := aggregate.Use{Usage: aggregate.Usage{ID: "u1", Calls: 1, Input: 100, Cost: 5}, CreatedAt: a.Head.ChangedAt}
	pk := expect.Value(st.partition(a.Ref()))(t)
	write(t, st, expect.Value(table.Pack(used.Type(), pk, used.Key(), used))(t))
	elsewhere := used
	elsewhere.ID, elsewhere.ChargedTo = "u2", "another" // whose own usage has it in its sum
	write(t, st, expect.Value(table.Pack(elsewhere.Type(), pk, elsewhere.Key(), elsewhere))(t))
	var facts []tenancy.DailyFact
	for _, it := range append(rows(t, st, table.AuditMonth(a.Head.TenantID, a.Head.ChangedAt)), rows(t, st, pk)...) {
		if f, ok, err := st.FactOf(it); err != nil {
			t.Error(err)
		} else if ok {
			facts = append(facts, f)
		}
	}
	for range 2 {
		expect.NoError(t, st.PutFacts(t.Context(), append(facts, facts...)))
	}
	got := expect.Value(st.Sums(t.Context(), a.Head.TenantID, []string{tenancy.DayOf(a.Head.ChangedAt)}))(t)[0]
	took, _, known := got.Within(0.5)
	expect.That(t, got.Tasks == 1 && got.Decided(tenancy.Approved) == 1 && got.Spent.Cost == 5 && known &&
		took >= 5*time.Minute && took <= 8*time.Minute, "of %d facts: %+v, up to %v", len(facts), got, took)
}

// countedBy returns a fact with all numbers set.
func countedBy(of string, n int, when time.Time) tenancy.DailyFact {
	ms := int64(n) * 1000
	return tenancy.DailyFact{
		Tenant: of, Task: fmt.Sprintf("t%d",
			n), Source: "01E", At: when, Created: n%2 == 0, Gate: "prompt", Verdict: tenancy.Approved, Waited: &ms,
		Tools: map[string]tenancy.DailyCalls{"mcp:files.read-all": {Failed: 1}}, Spent: &tenancy.DailySpent{Calls: 1,
			Input: 10, Cost: 5},
	}
}

func testFactsCounted(t *testing.T, st *taskStore) {
	const of = "01COUNTED"
	day := today(25)
	var facts []tenancy.DailyFact
	for n := range 230 {
		facts = append(facts, countedBy(of, n, day))
	}
	var wait sync.WaitGroup
	for n := range 4 { // four goroutines put overlapping parts, each part twice
		wait.Go(func() {
			part := facts[n*50 : n*50+80]
			for range 2 {
				err := st.PutFacts(t.Context(), slices.Concat(part, part[:9]))
				expect.That(t, err == nil, "%v", err)
			}
		})
	}
	wait.Wait()
	days := []string{tenancy.DayOf(day), tenancy.DayOf(day.AddDate(0, 0, 1))}
	got := expect.Value(st.Sums(t.Context(), of, days))(t)
	expect.Same(t, []tenancy.DailySum{tenancy.FoldFacts(of, days[0], facts), tenancy.FoldFacts(of, days[1], nil)}, got)
}

// atOnce is how many facts one transaction counts.
const atOnce = 50

// Facts of one task are counted in two rows, however many there are, and the tasks' sums of a day add up to the day's
// sum.
func testFactsOfATaskInOneRow(t *testing.T, st *taskStore) {
	const of = "01ONEROW"
	day := today(27)
	var facts []tenancy.DailyFact
	for n := range 3 * atOnce {
		f := countedBy(of, n, day)
		f.Task, f.Source = fmt.Sprintf("t%d", n%2), fmt.Sprintf("USAGE#%d", n)
		facts = append(facts, f)
	}
	var wait sync.WaitGroup
	for n := range 4 { // overlapping parts, the first two larger than one transaction takes
		wait.Go(func() {
			for range 2 {
				err := st.PutFacts(t.Context(), facts[n*atOnce/2:min((n+3)*atOnce/2, len(facts))])
				expect.That(t, err == nil, "%v", err)
			}
		})
	}
	wait.Wait()
	expect.NoError(t, st.PutFacts(t.Context(), facts))
	want := tenancy.FoldFacts(of, tenancy.DayOf(day), facts)
	expect.Same(t, []tenancy.DailySum{want}, expect.Value(st.Sums(t.Context(), of, []string{want.Day}))(t))
	n := len(rows(t, st, "FACT#"+of+"#"+want.Day))
	expect.That(t, n == 2, "%d rows for two tasks", n)
}

func testSumsOfATenant(t *testing.T, st *taskStore) {
	day := today(22)
	other := counted(1, day)
	other.Tenant = "01OTHER"
	expect.NoError(t, st.PutFacts(t.Context(), []tenancy.DailyFact{other}))
	if s := expect.Value(st.Sums(t.Context(), tenant, []string{tenancy.DayOf(day)}))(t)[0]; s.Facts != 0 {
		t.Errorf("another's: %+v", s)
	}
	bad := counted(1, day)
	bad.Task = "x#y"
	if err := st.PutFacts(t.Context(), []tenancy.DailyFact{bad}); err == nil || !strings.Contains(err.Error(), "fact") {
		t.Errorf("%v", err)
	}
	_, err := st.Sums(t.Context(), "x#y", []string{"2026-05-22"})
	expect.That(t, err != nil, "another's key was read")
}

const hourOfAt = "2026-04-18T14"

func accept(s tenancy.Settings) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: a.Request.TeamID}
		return a.Accept(a.Head.Run, by, s, at())
	}
}

// places returns how many open tasks, and how many tasks of this hour, a person has, or the tenant for *.
func places(t *testing.T, st *taskStore, ref aggregate.Ref, user string) (open, hour int) {
	t.Helper()
	for key, n := range map[string]*int{"OPEN#" + user: &open, user + "#" + hourOfAt: &hour} {
		*n = expect.Value(st.Quota(t.Context(), ref.Tenant, key))(t)
	}
	return open, hour
}

func testQuota(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a place is taken with the task and given back with its end", testPlaceTakenAndGivenBack},
		{"there is no place", testNoPlace},
		{"many at once take as many places as there are", testPlacesAtOnce},
		{"an answer that is lost counts once", testPlaceOfLostAnswer},
	})
}

func testPlaceTakenAndGivenBack(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	ref := created(t, st, 1)
	a := decided(t, st, ref, accept(tenancy.DefaultSettings()))
	for _, user := range []string{a.Head.Requester, "*"} {
		open, hour := places(t, st, ref, user)
		expect.That(t, open == 1 && hour == 1, "%s: %d open, %d this hour", user, open, hour)
	}
	h, err := st.Head(t.Context(), ref)
	expect.That(t, err == nil && h.AcceptedAt != nil, "%+v, %v", h, err)
	decided(t, st, ref, cancel)
	for _, user := range []string{a.Head.Requester, "*"} {
		open, hour := places(t, st, ref, user)
		expect.That(t, open == 0 && hour == 1, "%s after the end: %d open, %d this hour", user, open, hour)
	}
}

func testNoPlace(t *testing.T, other *taskStore) {
	for name, tt := range map[string]struct {
		open, hour tenancy.Limit
		reason     aggregate.Reason
	}{
		"for the person":           {tenancy.Limit{Person: 1, Tenant: 9}, tenancy.Limit{}, task.ReasonOpenPerson},
		"in the tenant":            {tenancy.Limit{Person: 9, Tenant: 1}, tenancy.Limit{}, task.ReasonOpenTenant},
		"for the person this hour": {tenancy.Limit{}, tenancy.Limit{Person: 1, Tenant: 9}, task.ReasonHourPerson},
		"in the tenant this hour":  {tenancy.Limit{Person: 1}, tenancy.Limit{Tenant: 1}, task.ReasonHourTenant},
	} {
		t.Run(name, func(t *testing.T) {
			st, x := other.suite.store(t), tenancy.DefaultSettings()
			x.MaxOpenTasks, x.MaxTasksPerHour = tt.open, tt.hour
			decided(t, st, created(t, st, 1), accept(x))
			second := created(t, st, 2)
			_, err := st.Decide(t.Context(), second, accept(x))
			var full aggregate.ErrFull
			expect.Must(t, errors.As(err, &full) && full.Reason == tt.reason && full.Most == 1 &&
				!errors.Is(err, aggregate.ErrConflict), "%v", err)
			if h, err := st.Head(t.Context(), second); err != nil || h.Rev != 1 {
				t.Errorf("a refusal wrote: rev %d, %v", h.Rev, err)
			}
			expect.Is(t, tt.hour != (tenancy.Limit{}), !full.Until.IsZero(), "until %v", full.Until)
			a := decided(t, st, second, func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseFull(1, full, at()) })
			e := a.Head.Ended
			expect.That(t, e != nil && e.As == task.TaskRefused && e.Detail == "1", "%+v", e)
			n := countAudit(t, st, second, task.AuditTaskRefused)
			expect.That(t, n == 1, "%d audit entries", n)
			open, _ := places(t, st, second, "*")
			expect.That(t, open == 1, "%d open", open)
		})
	}
}

func testPlacesAtOnce(t *testing.T, other *taskStore) {
	st, x := other.suite.store(t), tenancy.DefaultSettings()
	x.MaxOpenTasks.Person = 3
	var refs []aggregate.Ref
	for n := range 10 {
		refs = append(refs, created(t, st, n+1))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	taken, refused := 0, 0
	for _, ref := range refs {
		wg.Go(func() {
			_, err := st.Decide(context.WithoutCancel(t.Context()), ref, accept(x))
			mu.Lock()
			defer mu.Unlock()
			var full aggregate.ErrFull
			switch {
			case err == nil:
				taken++
			case errors.As(err, &full):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	open, _ := places(t, st, refs[0], "*")
	expect.That(t, taken == 3 && refused == 7 && open == 3, "%d taken, %d refused, %d counted", taken, refused, open)
}

func testPlaceOfLostAnswer(t *testing.T, other *taskStore) {
	for n, options := range [][]func(*dynamodb.Options){nil, {oneTry}} {
		st := other.suite.store(t)
		ref := created(t, st, n+1)
		for _, d := range []decision{accept(tenancy.DefaultSettings()), cancel} {
			drop := dropping("TransactWriteItems", 1)
			committed(t, st.over(drop, options...), ref, d)
			expect.Must(t, drop.dropped.Load() != 0, "no answer was lost: the test proves nothing")
		}
		open, hour := places(t, st, ref, "*")
		expect.That(t, open == 0 && hour == 1, "%d open, %d this hour", open, hour)
	}
}
