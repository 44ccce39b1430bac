package agent_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func rule(argv ...string) agent.AutoRule {
	return agent.AutoRule{Type: agent.TestRun, Argv: argv, Place: "D1"}
}

var inD1 = agent.Where{Place: "D1"}

// What people attach lies beside the files, and nobody has approved it.
func TestARuleHoldsBesideAttachmentsOnlyIfItSaysSo(t *testing.T) {
	of := func(r agent.AutoRule, w agent.Where) bool {
		r.Type, r.Argv = agent.TestRun, []string{"pytest", ".ringi/in/test_x.py"}
		return r.Allows(agent.TestRun, []string{"pytest", ".ringi/in/test_x.py"}, w)
	}
	for name, tt := range map[string]struct {
		rule  agent.AutoRule
		where agent.Where
		want  bool
	}{
		"by a place": {agent.AutoRule{Place: "D1"}, agent.Where{Place: "D1"}, false},
		"by a source": {agent.AutoRule{Source: "shop", Place: "D1"},
			agent.Where{Source: "shop", Sourced: true, Place: "D1"}, false},
		"by a source, and says": {agent.AutoRule{Source: "shop", Place: "D1", Changed: true},
			agent.Where{Source: "shop", Sourced: true, Place: "D1"}, true},
	} {
		expect.That(t, of(tt.rule, tt.where), "%s: it doesn't hold without attachments", name)
		if tt.where.Attached = true; of(tt.rule, tt.where) != tt.want {
			t.Errorf("%s: beside attachments it is not %t", name, tt.want)
		}
	}
}

// A rule names source and place by the settings' ids. It holds while the files are the source's: a file that the agent
// changed may be one that the test reads as its configuration.
func TestARuleHoldsForItsSourceAndPlace(t *testing.T) {
	shop := agent.Where{Source: "shop", Sourced: true, Place: "D1"}
	changed, unlisted, elsewhere := shop, shop, shop
	changed.Changed, unlisted.Source, elsewhere.Place = true, "", "D2"
	none := agent.Where{Place: "D1"}
	for name, tt := range map[string]struct {
		rule  agent.AutoRule
		holds []agent.Where
	}{
		"source and place":   {agent.AutoRule{Source: "shop", Place: "D1"}, []agent.Where{shop}},
		"changed files, too": {agent.AutoRule{Source: "shop", Place: "D1", Changed: true}, []agent.Where{shop, changed}},
		"another source":     {agent.AutoRule{Source: "pay", Place: "D1"}, nil},
		"a place alone":      {agent.AutoRule{Place: "D1"}, []agent.Where{none}},
	} {
		tt.rule.Type, tt.rule.Argv = agent.TestRun, []string{"npm", "test"}
		expect.Must(t, len(tt.rule.Problems()) == 0, "%s: %v", name, tt.rule.Problems())
		for _, w := range []agent.Where{shop, changed, unlisted, elsewhere, none, {}} {
			expect.Is(t, tt.rule.Allows(agent.TestRun, []string{"npm", "test"}, w),
				slices.ContainsFunc(tt.holds, func(x agent.Where) bool { return reflect.DeepEqual(x, w) }), "%s: in %+v", name, w)
		}
	}
	for _, tt := range []struct {
		rule agent.AutoRule
		want aggregate.Problem
	}{
		{agent.AutoRule{}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{agent.AutoRule{Source: "Shop!", Place: "D1"}, aggregate.Problem{Field: "source", Code: "auto_source"}},
		{agent.AutoRule{Source: "shop"}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{agent.AutoRule{Place: "#general"}, aggregate.Problem{Field: "place", Code: "auto_place"}},
		{agent.AutoRule{Place: "D1", Changed: true}, aggregate.Problem{Field: "changed", Code: "auto_changed"}},
	} {
		tt.rule.Type, tt.rule.Argv = agent.TestRun, []string{"npm", "test"}
		expect.Same(t, aggregate.Problems{tt.want}, tt.rule.Problems())
		expect.That(t, !tt.rule.Allows(agent.TestRun, tt.rule.Argv, shop) &&
			!tt.rule.Allows(agent.TestRun, tt.rule.Argv, none), "%+v", tt.rule)
	}
}

func TestARuleAllowsACommandElementByElement(t *testing.T) {
	for _, tt := range []struct {
		rule agent.AutoRule
		argv []string
		want bool
	}{
		{rule("go", "test", "./..."), []string{"go", "test", "./..."}, true},
		{rule("go", "test", "./..."), []string{"go", "test"}, false},
		{rule("go", "test"), []string{"go", "test", "-exec=rm"}, false},
		{rule("go", "test", "*"), []string{"go", "test", "*"}, false},
		{rule("go", "test", "./*"), []string{"go", "test", "./a"}, false},
		{rule("go test"), []string{"go", "test"}, false},
		{rule("go", "test", "a b"), []string{"go", "test", "a", "b"}, false},
		{rule("go", "TEST"), []string{"go", "test"}, false},
		{rule("./run"), []string{"./run"}, true},
		{rule("make", "test-x"), []string{"make", "test-x"}, true},
		{rule("pytest", "a"), []string{"pytest", "a\n"}, false},
	} {
		expect.Is(t, tt.rule.Allows(agent.TestRun, tt.argv, inD1), tt.want, "%q lets %q", tt.rule.Argv, tt.argv)
	}
	ok := rule("go", "test")
	for _, other := range []agent.ActionType{agent.ShellCommand, agent.CodeGenerate, ""} {
		expect.That(t, !ok.Allows(other, []string{"go", "test"}, inD1), "%s is allowed", other)
	}
	expect.That(t, !ok.Allows(agent.TestRun, []string{"go", "test"}, agent.Where{Place: "D2"}) &&
		!ok.Allows(agent.TestRun, []string{"go", "test"}, agent.Where{}), "another workspace's command is allowed")
	expect.Is(t, agent.AutoApproved([]agent.AutoRule{rule("a"), ok}, agent.TestRun, []string{"go", "test"}, inD1), 1)
}

// A rule with a fault allows nothing, even if it was stored without validation.
func TestARuleWithAFaultAllowsNothing(t *testing.T) {
	for _, argv := range [][]string{
		{"*", "x"}, {"g*", "x"}, {}, {""}, {"go", ""},
		{"go", strings.Repeat("x", 201)}, make([]string, 33),
	} {
		r := rule(argv...)
		expect.That(t, len(r.Problems()) != 0, "%q is no fault", argv)
		expect.That(t, !r.Allows(agent.TestRun, argv, inD1), "%q is allowed", argv)
	}
	for _, r := range []agent.AutoRule{{Type: agent.ShellCommand, Argv: []string{"ls"}, Place: "D1"},
		{Type: agent.CodeGenerate, Argv: []string{"ls"}, Place: "D1"}, {Type: agent.TestRun, Argv: []string{"ls"}}} {
		expect.That(t, len(r.Problems()) != 0 && !r.Allows(r.Type, []string{"ls"}, agent.Where{Place: r.Place}), "%+v", r)
	}
}
