package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// The loads are those of the requests that were measured, in a deployment as the template has it.
func TestLoadsFollowWhatIsMeasured(t *testing.T) {
	m := stored(t)
	const anew = "run go run ./infra/bench -only load -write"
	expect.Must(t, m.Load.follows(m.Calls.Quiet), "the loads are of other calls: %s", anew)
	expect.Same(t, expect.Value(deployed("../.."))(t), m.Load.Limits)
	again := &Measured{Calls: m.Calls}
	expect.NoError(t, again.reckonLoad("../..", m.Load.Arrivals))
	for i, r := range again.Load.Results {
		was := m.Load.Results[i]
		if r.Rate != was.Rate || r.Workspaces != was.Workspaces || r.Asked != was.Asked { // arrivals are the same on each machine
			t.Errorf("%+v\nbut the baseline has %+v: %s", r, was, anew)
		}
		expect.That(t, float64(r.Completed) > 0.9*float64(was.Completed), "%+v\nbefore: %+v", r, was)
	}
	other := m.Calls.Quiet
	other.Functions = map[string]Usage{"update-card": {Invocations: 1}}
	expect.That(t, !m.Load.follows(other), "other calls are taken for those of the loads")
}

// The numbers of API Gateway and of Slack's pace are those of the template and of update-card.
func TestLoadsHaveTheDeploymentsLimits(t *testing.T) {
	l := expect.Value(deployed("../.."))(t)
	expect.That(t, l.Cards >= 2 && l.Lanes == 10 && l.Batch == 100 && l.Window > 0, "%+v", l)
	template := string(expect.Value(os.ReadFile("../../template.yaml"))(t))
	for name, want := range map[string]string{"ThrottlingRateLimit": num(l.RequestsPerSecond), "ThrottlingBurstLimit": num(l.Burst)} {
		found := regexp.MustCompile(name+`: (\d+)\n`).FindAllStringSubmatch(template, -1)
		expect.That(t, len(found) == 1 && found[0][1] == want, "%s: the template has %v, the bench %s", name, found, want)
	}
	pace := strings.Join(strings.Fields(string(expect.Value(os.ReadFile("../../functions/update-card/pace.go"))(t))), " ")
	for _, line := range []string{
		"updates, updateWindow = 10, 13 * time.Second", "posts, postWindow = 3, 3500 * time.Millisecond",
		"allPosts, allPostWindow = 10, 3 * time.Second", "return max(1, n/5)", "return max(1, n/2)",
	} {
		expect.Has(t, pace, line, "update-card's pace; change it in infra/bench/load.go, too")
	}
	expect.That(t, updates.Calls == 10 && updates.Window.Seconds() == 13 && posts.Calls == 3 && posts.Window.Milliseconds() == 3500 &&
		allPosts.Calls == 10 && allPosts.Window.Seconds() == 3, "%+v %+v %+v", updates, posts, allPosts)
}
