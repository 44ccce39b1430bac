package faults

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"ringi/infra/local/driver"
	"ringi/shared/runtime/expect"
)

// trialsOf returns a trial for each point.
func trialsOf(all []point) (out []trial) {
	for _, p := range all {
		out = append(out, trial{scenario: scenario{name: "conversation"}, kills: []point{p}})
	}
	return out
}

// sample draws n trials: first as many kinds of calls and moments as possible, then any.
func sample(trials []trial, n int) []trial { return sampleOf(trials, n, seed) }

func sampleOf(trials []trial, n int, seed uint64) []trial {
	lot := rand.New(rand.NewPCG(seed, 0))
	lot.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	seen := map[string]bool{}
	var first, rest []trial
	for _, x := range trials {
		if sort := x.kills[0].sort(); !seen[sort] {
			seen[sort] = true
			first = append(first, x)
		} else {
			rest = append(rest, x)
		}
	}
	return append(first, rest...)[:min(n, len(trials))]
}

// trialsIn returns trials for some points in a function and for some of the others; at night for all.
func trialsIn(function string, all []point, most, others int) []trial {
	if expect.Long() {
		return trialsOf(all)
	}
	own, rest := []point{}, []point{}
	for _, p := range all {
		if p.function == function {
			own = append(own, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(sample(trialsOf(own), most), sample(trialsOf(rest), others)...)
}

// sideBySide makes trials, several at once, also of those of parallel tests, and reports those that fail.
func sideBySide(t *testing.T, trials []trial, try func(t driver.T, i int, kills []point)) {
	t.Helper()
	var wg sync.WaitGroup
	for i, x := range trials {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := driver.Try(context.Background(), func(t driver.T) { try(t, i, x.kills) }); err != nil {
				t.Errorf("%v: %v", x, err)
			}
		})
	}
	wg.Wait()
}

// unmet counts trials whose kills did not happen.
type unmet struct {
	mu sync.Mutex
	n  int
}

// count notes a trial whose kills have not all happened.
func (u *unmet) count(t *testing.T, x *trace, kills []point) {
	if len(x.dead()) == len(kills) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
	t.Logf("not met: %v", kills)
}

func (u *unmet) few(t *testing.T, trials int) {
	t.Helper()
	few(t, u.n, trials)
}

// few checks that most kills have happened: a function's n-th call may be another one, or a batch of another size, in
// another run.
func few(t *testing.T, unmet, trials int) {
	t.Helper()
	if unmet > 2+trials/10 {
		t.Errorf("%d of %d trials did not meet their deaths", unmet, trials)
	}
}
