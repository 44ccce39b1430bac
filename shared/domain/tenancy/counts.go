package tenancy

import (
	"fmt"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
)

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

// SumOf is the inverse of Counts. It returns an error for an invalid bucket of wait times.
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
