package tenancy

import (
	"sort"
	"time"

	"ringi/shared/domain/aggregate"
)

// DailySum is the statistics of one or several days.
type DailySum struct {
	Tenant string
	Day    string // empty for several days
	Facts  int

	Tasks    int
	Verdicts map[string]map[Verdict]int // by gate
	Waits    []int                      // number of decisions by wait time; see Bound
	Retried  int
	Ended    map[string]int // executions by status
	Became   map[string]int // requests by the status in which they came to rest
	Tools    map[string]DailyCalls
	Spent    DailySpent
}

// Wait times are counted in buckets. The first ends at 10 s, each further one at 1.5 times the previous end, and the
// last bounded one at 30 days or slightly more. A bucket's number means "up to" its end.
const (
	shortest = 10 * time.Second
	longest  = 30 * 24 * time.Hour
)

// waitBounds are the ends of the buckets; one more bucket is unbounded.
var waitBounds = func() (all []time.Duration) {
	for d := shortest; ; d = d * 3 / 2 {
		all = append(all, d)
		if d >= longest {
			return all
		}
	}
}()

// WaitBound returns the end of bucket i; ok is false for the last bucket, which is unbounded.
func WaitBound(i int) (end time.Duration, ok bool) {
	if i >= len(waitBounds) {
		return 0, false
	}
	return waitBounds[i], true
}

func bucket(d time.Duration) int {
	return sort.Search(len(waitBounds), func(i int) bool { return d <= waitBounds[i] })
}

// FoldFacts sums up a day's facts.
func FoldFacts(tenant, day string, facts []DailyFact) DailySum {
	s := DailySum{Tenant: tenant, Day: day}
	for _, f := range facts {
		s.add(f)
	}
	return s.whole()
}

// whole replaces nil maps and adds missing buckets.
func (s DailySum) whole() DailySum {
	if s.Verdicts == nil {
		s.Verdicts = map[string]map[Verdict]int{}
	}
	if s.Ended == nil {
		s.Ended = map[string]int{}
	}
	if s.Became == nil {
		s.Became = map[string]int{}
	}
	if s.Tools == nil {
		s.Tools = map[string]DailyCalls{}
	}
	s.Waits = append(s.Waits, make([]int, max(0, len(waitBounds)+1-len(s.Waits)))...)
	return s
}

func (s *DailySum) add(f DailyFact) {
	*s = s.whole()
	s.Facts++
	if f.Created {
		s.Tasks++
	}
	if f.Retried {
		s.Retried++
	}
	if f.Verdict != "" {
		s.decided(f.Gate, f.Verdict, 1)
	}
	if f.Waited != nil {
		s.Waits[bucket(time.Duration(*f.Waited)*time.Millisecond)]++
	}
	if f.Ended != "" {
		s.Ended[f.Ended]++
	}
	if f.Became != "" {
		s.Became[f.Became]++
	}
	for name, c := range f.Tools {
		s.Tools[name] = s.Tools[name].plus(c)
	}
	if f.Spent != nil {
		s.Spent = s.Spent.plus(*f.Spent)
	}
}

func (s *DailySum) decided(gate string, v Verdict, n int) {
	if s.Verdicts[gate] == nil {
		s.Verdicts[gate] = map[Verdict]int{}
	}
	s.Verdicts[gate][v] += n
}

// TotalOfDays returns the sum of several days.
func TotalOfDays(days []DailySum) DailySum {
	t := DailySum{}.whole()
	for _, d := range days {
		t.Facts, t.Tasks, t.Retried, t.Spent = t.Facts+d.Facts, t.Tasks+d.Tasks, t.Retried+d.Retried, t.Spent.plus(d.Spent)
		for gate, by := range d.Verdicts {
			for v, n := range by {
				t.decided(gate, v, n)
			}
		}
		for i, n := range d.Waits {
			t.Waits[min(i, len(waitBounds))] += n
		}
		for as, n := range d.Ended {
			t.Ended[as] += n
		}
		for status, n := range d.Became {
			t.Became[status] += n
		}
		for name, c := range d.Tools {
			t.Tools[name] = t.Tools[name].plus(c)
		}
	}
	return t
}

// Decided counts the questions with this verdict.
func (s DailySum) Decided(v Verdict) (n int) {
	for _, by := range s.Verdicts {
		n += by[v]
	}
	return n
}

// Decisions counts the questions that people answered.
func (s DailySum) Decisions() int {
	return s.Decided(Approved) + s.Decided(Rejected) + s.Decided(Denied) + s.Decided(Returned)
}

// SentBack counts the policies and processes that were generated again after a rejection.
func (s DailySum) SentBack() int {
	return s.Verdicts["prompt"][Rejected] + s.Verdicts["process"][Rejected]
}

// Within returns the end of the bucket by which the given part of all decisions, such as 0.5, was made. known is false
// if there are no decisions; ended is false if the bucket is unbounded.
func (s DailySum) Within(part float64) (end time.Duration, ended, known bool) {
	all := 0
	for _, n := range s.Waits {
		all += n
	}
	if all == 0 {
		return 0, false, false
	}
	need, have := part*float64(all), 0
	for i, n := range s.Waits {
		if have += n; float64(have) >= need && have > 0 {
			end, ended = WaitBound(i)
			return end, ended, true
		}
	}
	return 0, false, true
}

// MaxDays is the maximum range of days.
const MaxDays = 92

// DaysBetween returns the days from one to another, inclusive. It returns aggregate.ErrField for an invalid date, if
// from is after to, and for more than MaxDays.
func DaysBetween(from, to string) ([]string, error) {
	first, err := DayBegins(from)
	if err != nil {
		return nil, aggregate.ErrField{Field: "from", Limit: "must be a date such as 2026-04-18"}
	}
	last, err := DayBegins(to)
	if err != nil {
		return nil, aggregate.ErrField{Field: "to", Limit: "must be a date such as 2026-04-18"}
	}
	var days []string
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if days = append(days, d.Format(time.DateOnly)); len(days) > MaxDays {
			return nil, aggregate.ErrField{Field: "from", Limit: "must be at most 92 days before to"}
		}
	}
	if days == nil {
		return nil, aggregate.ErrField{Field: "from", Limit: "must not be after to"}
	}
	return days, nil
}
