package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// The loads are those of the requests that were measured, in a deployment as the template has it.
func TestLoadsFollowWhatIsMeasured(t *testing.T) {
	m := stored(t)
	const anew = "run go run ./infra/bench -only load -write"
	expect.Must(t, m.Load.follows(m.Calls.Quiet), "the loads are of other calls: %s", anew)
	expect.Same(t, expect.Value(deployed("../.."))(t), m.Load.Limits)
	other := m.Calls.Quiet
	other.Functions = map[string]Usage{"update-card": {Invocations: 1}}
	expect.That(t, !m.Load.follows(other), "other calls are taken for those of the loads")
	if !expect.Long() {
		return // seconds of arithmetic
	}
	again := &Measured{Calls: m.Calls}
	expect.NoError(t, again.reckonLoad("../..", m.Load.Arrivals))
	for i, r := range again.Load.Results {
		was := m.Load.Results[i]
		if r.Rate != was.Rate || r.Workspaces != was.Workspaces ||
			r.Asked != was.Asked { // arrivals are the same on each machine
			t.Errorf("%+v\nbut the baseline has %+v: %s", r, was, anew)
		}
		expect.That(t, float64(r.Completed) > 0.9*float64(was.Completed), "%+v\nbefore: %+v", r, was)
	}
}

// The numbers of API Gateway and of Slack's pace are those of the template and of update-card.
func TestLoadsHaveTheDeploymentsLimits(t *testing.T) {
	l := expect.Value(deployed("../.."))(t)
	expect.That(t, l.Cards >= 2 && l.Parallel == 10 && l.Batch == 100 && l.Window > 0, "%+v", l)
	template := string(expect.Value(os.ReadFile("../../template.yaml"))(t))
	for name, want := range map[string]string{"ThrottlingRateLimit": num(l.RequestsPerSecond),
		"ThrottlingBurstLimit": num(l.Burst)} {
		found := regexp.MustCompile(name+`: (\d+)\n`).FindAllStringSubmatch(template, -1)
		expect.That(t, len(found) == 1 && found[0][1] == want, "%s: the template has %v, the bench %s", name, found, want)
	}
	pace := strings.Join(strings.Fields(string(expect.Value(os.ReadFile("../../functions/update-card/pace.go"))(t))), " ")
	for _, line := range []string{
		"updates, updateWindow = 10, 13 * time.Second", "posts, postWindow = 3, 3500 * time.Millisecond",
		"allPosts, allPostWindow = 10, 3 * time.Second", "return max(1, n/5)", "return max(1, n/2)",
		"const channelSlots = 16",
	} {
		expect.Has(t, pace, line, "update-card's pace; change it in infra/bench/load.go, too")
	}
	queue := string(expect.Value(os.ReadFile("../../shared/decide/effect/lane.go"))(t))
	expect.Has(t, queue, "\nconst lanes = 4\n", "the lanes for cards; change them in infra/bench, too")
	expect.That(t, updates.Calls == 10 && updates.Window.Seconds() == 13 && posts.Calls == 3 &&
		posts.Window.Milliseconds() == 3500 &&
		allPosts.Calls == 10 && allPosts.Window.Seconds() == 3, "%+v %+v %+v", updates, posts, allPosts)
}

// Each bound is its formula, and the table has them in order.
func TestBoundsAreTheirFormulas(t *testing.T) {
	m := &Measured{
		Calls: &Calls{Quiet: Pipeline{
			Functions: map[string]Usage{
				"receive-event": {Invocations: 2}, "receive-interaction": {Invocations: 2}, "execute-process": {Invocations: 1},
				"update-card":   {Invocations: 10, AWS: 40, Slack: 10, Write: 60, Index: 40},
				"relay-changes": {Invocations: 10, AWS: 40}, "seal-audit": {Invocations: 2, AWS: 8},
			},
			Actions:     map[string]float64{"KMS.Sign": 2, "KMS.Decrypt": 5, "S3.PutObject": 10},
			Rows:        map[string]map[string]float64{"QUOTA": {"x": 6}, "AUDIT": {"x": 5}, "USAGE by single writes": {"x": 4}},
			Transitions: 20,
		}},
		Load: &LoadReport{Limits: Limits{Cards: 5, Parallel: 10, Batch: 100}},
	}
	m.Load.Uses = m.Calls.Quiet.uses()
	s := tenancy.DefaultSettings()
	table := m.breaks(len(m.bounds()))
	for _, row := range []string{
		fmt.Sprintf("| `max_open_tasks`, decided within 4 h | %.3g | a workspace |", float64(s.MaxOpenTasks.Tenant)/240),
		fmt.Sprintf("told at %s open", thousands(s.MaxOpenTasks.Nearly())),
		fmt.Sprintf("| `max_tasks_per_hour` | %d | a workspace |", s.MaxTasksPerHour.Tenant/60),
		"| Slack's pace: updates | 11.5 | a workspace | 10 in 13s, 46 a minute / 4 |",
		"| Slack's events | 250 | a workspace | 30,000 an hour / 60 / 2 |",
		"| `CardConcurrency` | 120 | all | 5 at once × 60 s / 2.5 s of " +
			"update-card |", // 10 × 20 ms + 40 × 7.5 ms + 10 × 200 ms
		"| relay-changes' batches at once, 10 of each of 4 shards | 4,800 | all | 40 at once × 60 s / 0.5 s of " +
			"relay-changes |",
		"| API Gateway, `ThrottlingRateLimit` | 1,500 | all | 100 a second × 60 / 4 requests |",
		"| DynamoDB, a new table's write units | 2,400 | all | 4,000 a second × 60 / 100 units |",
		"`QUOTA#<tenant>`, each row twice in a transaction | 5,000 | a workspace | 1,000 a second × 60 / 12 units |",
		"| 60 s / 0.05 s × 100 / 9 " +
			"entries |", "| KMS, Sign with an ECC key | 30,000 |", "| Step Functions, transitions | 15,000 |",
	} {
		expect.Has(t, table, row, "what breaks first")
	}
	var last float64
	for _, b := range m.bounds() {
		expect.That(t, b.perMinute >= last && b.from != "" && b.then != "" && b.formula != "", "%+v after %g", b, last)
		last = b.perMinute
	}
	expect.Is(t, m.most(10, 1), "Slack's pace: updates: 87 %", "of one workspace")
	expect.Is(t, m.most(60, 60), "`CardConcurrency`: 50 %", "of sixty")
}

// The pages are up to date with the baseline, and reading the baseline back loses nothing.
func TestPagesAreMadeOfTheBaseline(t *testing.T) {
	root, written := "../..", t.TempDir()
	paths := []string{baseline}
	for _, s := range stored(t).sections() {
		paths = append(paths, s.page)
	}
	for _, path := range paths {
		expect.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(written, path)), 0o700))
		expect.NoError(t, os.WriteFile(filepath.Join(written, path), expect.Value(os.ReadFile(filepath.Join(root, path)))(t),
			0o600))
	}
	expect.NoError(t, stored(t).keep(written))
	for _, path := range paths {
		expect.Same(t, string(expect.Value(os.ReadFile(filepath.Join(written, path)))(t)),
			string(expect.Value(os.ReadFile(filepath.Join(root, path)))(t)))
	}
}

func TestTheBillFollowsWhatIsMeasured(t *testing.T) {
	m := &Measured{Contest: &Contests{}, Calls: &Calls{Quiet: Pipeline{
		Functions: map[string]Usage{
			"draft-prompt": {Invocations: 29, Write: 300, Index: 100, Read: 200}, "receive-event": {Invocations: 3},
			"receive-interaction": {Invocations: 1}, "update-card": {Invocations: 20, AWS: 80, Slack: 20},
			"execute-process": {Invocations: 1},
		},
		Actions: map[string]float64{"SQS.SendMessage": 20, "S3.PutObject": 10, "KMS.Decrypt": 10,
			"KMS.Sign": 10}, Transitions: 10,
	}}, Load: &LoadReport{Limits: Limits{Cards: 250, Memory: map[string]int{
		"draft-prompt": 128, "execute-process": 512, "receive-event": 256, "receive-interaction": 256, "update-card": 256,
	}}}}
	bill := m.bill()
	for _, row := range []string{
		"| Step Functions | 10 transitions | 0.250 |",
		"| DynamoDB writes | 300 units of the table, 100 of its indexes | 0.250 |",
		"| Lambda, three models' answers | 3 × 10 s × 128 MB = 3.8 GB-s | 0.050 |",
		"| Lambda, carrying out five steps and the summary | 1 × 20 s × 512 MB = 10.0 GB-s | 0.133 |",
		"| Lambda, the rest | 30 × 0.1 s × 256 MB = 0.8 GB-s | 0.010 |",
		"| KMS, for credentials and the audit log's chain | 10 Decrypt, 10 Sign | 0.180 |",
		"| Lambda, cards | 20 × 0.25 s × 256 MB = 1.2 GB-s | 0.017 |", // 20 ms + 4 × 7.5 ms + 200 ms
		"| API Gateway | 4 requests | 0.004 |",
		"| **AWS in all** |  | **1.04** |",
	} {
		expect.Has(t, bill, row+"\n", "the bill")
	}
}

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
