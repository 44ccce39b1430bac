package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
