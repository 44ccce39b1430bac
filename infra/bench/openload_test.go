package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// plain is a small load of a deployment that has room for it.
func plain() Load {
	return Load{
		Rate: 6, Workspaces: 2, For: 20 * time.Minute, Seed: 1,
		Uses: map[string]Use{
			"receive-event": {Invocations: 1, AWS: 1}, "relay-changes": {Invocations: 20, AWS: 40},
			"update-card": {Invocations: 12, AWS: 60, Slack: 12}, "resume-task": {Invocations: 3, AWS: 8},
			"extract-task": {Invocations: 1, AWS: 5}, "draft-prompt": {Invocations: 1, AWS: 8},
			"request-approval": {Invocations: 2, AWS: 6}, "plan-process": {Invocations: 1, AWS: 6},
			"receive-interaction": {Invocations: 2, AWS: 6, Slack: 2}, "execute-process": {Invocations: 1, AWS: 40},
			"seal-audit": {Invocations: 2, AWS: 8},
		},
		Rows: map[string]float64{"AUDIT": 5, "USAGE": 4},
		Limits: Limits{
			Functions: 1000, Cards: 20, Parallel: 10, Shards: 4, Batch: 100, Window: 2 * time.Second, RequestsPerSecond: 100,
			Burst: 200, Updates: Budget{10, 13 * time.Second}, Posts: Budget{3, 3500 * ms}, AllPosts: Budget{10,
				3 * time.Second},
		},
	}
}

func TestALoadWithRoomGoesThrough(t *testing.T) {
	l := plain()
	r := Run(l)
	expect.That(t, r.Asked > 90 && r.Asked < 150 && r.Completed == r.Asked, "%d of %d", r.Completed, r.Asked)
	expect.That(t, r.Throttled == 0 && r.OldestCard < time.Second && r.OldestChange < 100*ms, "%+v", r)
	// A message passes five invocations or hand-overs at least; nobody waits for people or models there.
	expect.That(t, r.FirstCard.P50 > 300*ms && r.FirstCard.P50 < 1500*ms && r.Resumed.P50 > 100*ms &&
		r.Resumed.P50 < 1500*ms, "%+v", r)
	// Three models of 8 s at least, two people of 30 s at least, and the work.
	expect.That(t, r.Whole.P50 > 2*people.from+3*model.from+work, "%s", r.Whole.P50)
	expect.Same(t, r, Run(l))
}

// As many are at work at once as the rate and the time that each takes come to (Little's law).
func TestTheLoadIsOpen(t *testing.T) {
	expect.AtNight(t) // TestALoadWithRoomGoesThrough is a sample
	l := plain()
	l.Workspaces, l.Rate, l.For = 1, 8, 2*time.Hour
	r := Run(l)
	inside := l.Rate * r.Whole.P50.Minutes()
	expect.That(t, float64(r.Open) > inside && float64(r.Open) < 2.5*inside, "at most %d open, %.1f on average", r.Open,
		inside)
}

// Each limit that is too small is seen where it is met, and nowhere else the arrivals wait for it.
func TestEachLimitIsSeen(t *testing.T) {
	expect.AtNight(t) // TestALoadWithRoomGoesThrough is a sample
	before := Run(plain())
	for name, tt := range map[string]struct {
		tighten func(l *Load)
		seen    func(r Result) bool
	}{
		"one card at once": {func(l *Load) { l.Limits.Cards = 1; l.Rate = 20 },
			func(r Result) bool { return r.OldestCard > 10*time.Second && r.AtOnce["update-card"] == 1 }},
		"one batch at once": {func(l *Load) { l.Limits.Parallel, l.Limits.Shards, l.Rate = 1, 1, 150 },
			func(r Result) bool { return r.OldestChange > time.Second }},
		"three functions": {func(l *Load) { l.Limits.Functions = 3 },
			func(r Result) bool { return r.Throttled > 0 && r.AtOnce["all"] == 3 }},
		"a slow gateway": {func(l *Load) { l.Limits.RequestsPerSecond, l.Limits.Burst = 0.2, 1 },
			func(r Result) bool { return r.Throttled > 0 && r.AtOnce["all"] > 3 }},
		"few updates": {func(l *Load) { l.Limits.Updates.Window *= 4 },
			func(r Result) bool { return r.PaceWaits > 5*before.PaceWaits+10 && r.Skipped > before.Skipped }},
		"few posts": {func(l *Load) { l.Limits.AllPosts.Window *= 20 },
			func(r Result) bool { return r.FirstCard.P99 > 10*time.Second }},
		"slow seals": {func(l *Load) { l.Limits.Shards, l.Limits.Batch, l.Rate, l.Workspaces = 1, 1, 400, 60 },
			func(r Result) bool { return r.OldestEntry > 10*time.Second }},
		"many in one counter": {func(l *Load) { l.Workspaces, l.Rate = 1, 600 },
			func(r Result) bool { return r.Conflicts > 10*before.Conflicts+10 }},
		"much in one row's second": {func(l *Load) { l.Workspaces, l.Rate = 1, 600 },
			func(r Result) bool { return r.HottestUnits > 2*before.HottestUnits && r.Hottest != "" }},
	} {
		l := plain()
		tt.tighten(&l)
		r := Run(l)
		expect.That(t, tt.seen(r) && !tt.seen(before), "%s: %+v\nbefore: %+v", name, r, before)
		want := l.Rate * l.For.Minutes()
		expect.That(t, float64(r.Asked) > 0.7*want && float64(r.Asked) < 1.3*want, "%s: %d arrived of %.0f", name, r.Asked,
			want)
	}
}

// A workspace's backlog occupies no more functions than it has lanes for cards and progress.
func TestAWorkspaceHasItsLanes(t *testing.T) {
	expect.AtNight(t) // TestALoadWithRoomGoesThrough is a sample
	l := plain()
	l.Workspaces, l.Rate, l.Limits.Cards = 1, 100, 250
	r := Run(l)
	expect.That(t, r.AtOnce["update-card"] == cardLanes+1, "%d at once", r.AtOnce["update-card"])
	l.Workspaces = 2
	r = Run(l)
	expect.That(t, r.AtOnce["update-card"] > cardLanes+1, "%d at once in two workspaces", r.AtOnce["update-card"])
}

func TestABudgetOfSlacksCalls(t *testing.T) {
	p := &pace{Budget: Budget{3, 10 * time.Second}}
	for i := range 3 {
		now := time.Duration(i) * time.Second
		expect.Is(t, p.free(now, 0), now, "a call within the budget")
		p.take(now)
	}
	expect.Is(t, p.free(5*time.Second, 0), 10*time.Second, "a fourth within the window")
	expect.Is(t, p.free(10*time.Second, 1), 11*time.Second, "one that leaves another to spare")
	expect.Is(t, p.free(12*time.Second, 0), 12*time.Second, "after the window")
	expect.Is(t, (Budget{10, 13 * time.Second}).PerMinute(), 600.0/13, "a minute")
}

func TestEveryFunctionHasABareHandler(t *testing.T) {
	root := expect.Value(process.ModuleRoot())(t)
	described := expect.Value(template.Read(filepath.Join(root, "template.yaml"), template.Names{Region: "us-east-1",
		Account: "123456789012", Stack: "bench"}, map[string]string{"Stage": "dev"}))(t)
	for _, f := range described.Functions {
		if f.Managed {
			continue
		}
		for tag := range strings.SplitSeq(bareOf[f.Folder], "-") {
			_, err := os.Stat(filepath.Join(root, "infra", "bench", "bare", tag+".go"))
			expect.That(t, err == nil, "%s has the bare handler %q: %v", f.Folder, bareOf[f.Folder], err)
		}
	}
}
