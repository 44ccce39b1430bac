package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/daily"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testFacts(t *testing.T, st *taskStore) {
	since(t, st, tenant, today(31)) // the days before are folded
	st.parts(t, []part{
		{"what a task's audit entries say is in its day's sum, however often it is told", testFactsOfATask},
		{"a day is folded anew until no fact can come, then left alone", testFoldOnce},
		{"facts that come while others fold are not lost", testFoldRace},
		{"sums are the tenant's", testSumsOfATenant},
		{"a fact is counted once in its day's sum, however often and beside whom it is told, and no look folds", testFactsCounted},
		{"a task's facts of a day are counted in one row, each once", testFactsOfATaskInOneRow},
		{"a day on which counting began is folded", testDayOfTheFirstCount},
	})
}

// today returns a time on a day that only the test n uses.
func today(n int) time.Time { return time.Date(2026, 5, n, 3, 0, 0, 0, time.UTC) }

func counted(n int, when time.Time) daily.Fact {
	return daily.Fact{Tenant: tenant, Task: fmt.Sprintf("t%d", n), Source: "01E", At: when, Created: true}
}

func sumOf(t *testing.T, st *taskStore, day, now time.Time) daily.Sum {
	t.Helper()
	all := expect.Value(st.Sums(t.Context(), tenant, []string{daily.Day(day)}, now))(t)
	expect.Must(t, len(all) == 1, "%d sums", len(all))
	return all[0]
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
	var facts []daily.Fact
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
	got := expect.Value(st.Sums(t.Context(), a.Head.TenantID, []string{daily.Day(a.Head.ChangedAt)}, a.Head.ChangedAt.Add(time.Hour)))(t)[0]
	took, _, known := got.Within(0.5)
	if got.Tasks != 1 || got.Decided(daily.Approved) != 1 || got.Spent.Cost != 5 || !known || took < 5*time.Minute || took > 8*time.Minute {
		t.Errorf("of %d facts: %+v, up to %v", len(facts), got, took)
	}
}

func testFoldOnce(t *testing.T, st *taskStore) {
	day := today(2)
	late := day.Add(72 * time.Hour)
	expect.NoError(t, st.PutFacts(t.Context(), []daily.Fact{counted(1, day)}))
	if s := sumOf(t, st, day, day); s.Tasks != 1 {
		t.Errorf("%+v", s)
	}
	expect.NoError(t, st.PutFacts(t.Context(), []daily.Fact{counted(2, day)}))
	if s := sumOf(t, st, day, day.Add(time.Second)); s.Tasks != 1 {
		t.Errorf("within a minute it was folded again: %+v", s)
	}
	if s := sumOf(t, st, day, late); s.Tasks != 2 {
		t.Errorf("%+v", s)
	}
	expect.NoError(t, st.PutFacts(t.Context(), []daily.Fact{counted(3, day)}))
	if s := sumOf(t, st, day, late.Add(time.Hour)); s.Tasks != 2 {
		t.Errorf("a final sum was folded again: %+v", s)
	}
	all := expect.Value(st.Sums(t.Context(), tenant, []string{daily.Day(late.AddDate(0, 0, 9))}, late))(t)
	expect.That(t, len(all) == 0, "a day to come has a sum: %+v", all)
}

func testFoldRace(t *testing.T, st *taskStore) {
	day := today(12)
	var wait sync.WaitGroup
	for n := range 8 {
		wait.Go(func() {
			for i := range 5 {
				if err := st.PutFacts(t.Context(), []daily.Fact{counted(100*n+i, day)}); err != nil {
					t.Error(err)
				}
				if _, err := st.Fold(t.Context(), tenant, daily.Day(day), day); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if s := sumOf(t, st, day, day); s.Tasks != 40 { // the sum of the last fold
		t.Errorf("%d of 40", s.Tasks)
	}
}

// countedBy returns a fact with all numbers set.
func countedBy(of string, n int, when time.Time) daily.Fact {
	ms := int64(n) * 1000
	return daily.Fact{
		Tenant: of, Task: fmt.Sprintf("t%d", n), Source: "01E", At: when, Created: n%2 == 0, Gate: "prompt", Verdict: daily.Approved, Waited: &ms,
		Tools: map[string]daily.Calls{"mcp:files.read-all": {Failed: 1}}, Spent: &daily.Spent{Calls: 1, Input: 10, Cost: 5},
	}
}

// since makes the store count a tenant's facts from a time on.
func since(t *testing.T, st *taskStore, of string, when time.Time) {
	t.Helper()
	row := struct {
		Since time.Time `json:"since"`
	}{when}
	write(t, st, expect.Value(table.Pack("counting", "COUNTED#"+of+"#days", "SINCE", row))(t))
}

func testFactsCounted(t *testing.T, st *taskStore) {
	const of = "01COUNTED"
	day := today(25)
	since(t, st, of, day.AddDate(0, 0, -2))
	var facts []daily.Fact
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
	days := []string{daily.Day(day), daily.Day(day.AddDate(0, 0, 1)), daily.Day(day.AddDate(0, 0, 9))}
	got := expect.Value(st.Sums(t.Context(), of, days, day.AddDate(0, 0, 1)))(t)
	want := []daily.Sum{daily.Fold(of, days[0], facts, time.Time{}), daily.Fold(of, days[1], nil, day.AddDate(0, 0, 1))}
	expect.Same(t, want, got)
	if n := len(rows(t, st, "FACTSUM#"+of)); n != 0 {
		t.Errorf("%d days were folded", n)
	}
}

// atOnce is how many facts one transaction counts.
const atOnce = 50

// Facts of one task are counted in two rows, however many there are, and the tasks' sums of a day add up to the day's
// sum.
func testFactsOfATaskInOneRow(t *testing.T, st *taskStore) {
	const of = "01ONEROW"
	day := today(27)
	since(t, st, of, day.AddDate(0, 0, -2))
	var facts []daily.Fact
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
	want := daily.Fold(of, daily.Day(day), facts, day)
	got := expect.Value(st.Fold(t.Context(), of, daily.Day(day), day))(t)
	expect.Same(t, want, got)
	want.FoldedAt = time.Time{}
	expect.Same(t, []daily.Sum{want}, expect.Value(st.Sums(t.Context(), of, []string{want.Day}, day))(t))
	if n := len(rows(t, st, "FACT#"+of+"#"+want.Day)); n != 2 {
		t.Errorf("%d rows for two tasks", n)
	}
}

func testDayOfTheFirstCount(t *testing.T, st *taskStore) {
	const of = "01BEGINS"
	day := today(26)
	early := countedBy(of, 1, day.Add(-time.Hour)) // stored by an earlier release, which counted nothing
	write(t, st, expect.Value(table.Pack("fact", "FACT#"+of+"#"+daily.Day(day), early.Key(), early))(t))
	again := countedBy(of, 4, day.Add(-time.Hour)) // and put once more
	write(t, st, expect.Value(table.Pack("fact", "FACT#"+of+"#"+daily.Day(day), again.Key(), again))(t))
	since(t, st, of, day)
	expect.NoError(t, st.PutFacts(t.Context(), []daily.Fact{countedBy(of, 2, day), countedBy(of, 3, day.AddDate(0, 0, 1)), again}))
	got := expect.Value(st.Sums(t.Context(), of, []string{daily.Day(day), daily.Day(day.AddDate(0, 0, 1))}, day.AddDate(0, 0, 2)))(t)
	expect.That(t, len(got) == 2 && got[0].Facts == 3 && got[0].Spent.Cost == 15 && got[1].Facts == 1, "%+v", got)
}

func testSumsOfATenant(t *testing.T, st *taskStore) {
	day := today(22)
	other := counted(1, day)
	other.Tenant = "01OTHER"
	expect.NoError(t, st.PutFacts(t.Context(), []daily.Fact{other}))
	if s := sumOf(t, st, day, day); s.Facts != 0 {
		t.Errorf("another's: %+v", s)
	}
	bad := counted(1, day)
	bad.Task = "x#y"
	if err := st.PutFacts(t.Context(), []daily.Fact{bad}); err == nil || !strings.Contains(err.Error(), "fact") {
		t.Errorf("%v", err)
	}
	if _, err := st.Sums(t.Context(), "x#y", []string{"2026-05-22"}, day); err == nil {
		t.Error("another's key was read")
	}
}
