package agent_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

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
		r.Type, r.Argv = agent.TestRun, []string{"pytest", "*"}
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
		{rule("go", "test", "./*"), []string{"go", "test", "./shared/a"}, true},
		{rule("pytest", "tests/*.py"), []string{"pytest", "tests/a.py"}, true},
		{rule("pytest", "*a*b*"), []string{"pytest", "xaxbx"}, true},
		{rule("pytest", "aba*ab"), []string{"pytest", "abab"}, false},
		{rule("pytest", "*a*b*"), []string{"pytest", "xbxax"}, false},
		{rule("go", "test", "./..."), []string{"go", "test"}, false},
		{rule("go", "test"), []string{"go", "test", "-exec=rm"}, false},
		{rule("go", "test", "*"), []string{"go", "test", "-exec=rm"}, false},
		{rule("go", "test", "./*"), []string{"go", "test", "./../x"}, false},
		{rule("go", "test", "./*"), []string{"go", "test ./a", ""}, false},
		{rule("go test"), []string{"go", "test"}, false},
		{rule("go", "test", "a b"), []string{"go", "test", "a", "b"}, false},
		{rule("go", "TEST"), []string{"go", "test"}, false},
		{rule("./run"), []string{"./run"}, true},
		{rule("make", "test-x"), []string{"make", "test-x"}, true},
		{rule("go", "test", "-run=*"), []string{"go", "test", "-run=TestA"}, true},
		{rule("go", "test", "-run", "*"), []string{"go", "test", "-run", "-exec"}, false},
		{rule("mvn", "test", "-Dtest=*"), []string{"mvn", "test", "-Dtest=ATest"}, true},
		{rule("pytest", "*"), []string{"pytest", "tests/a_1.py::TestA::test-b@c"}, true},
		{rule("pytest", "*"), []string{"pytest", "@options"}, false},
		{rule("pytest", "*"), []string{"pytest", "/proc/1/environ"}, false},
		{rule("pytest", "*"), []string{"pytest", ""}, false},
		{rule("pytest", "a*"), []string{"pytest", "a"}, false},
		{rule("pytest", "a*"), []string{"pytest", "ab\n"}, false},
		{rule("pytest", "\xff*"), []string{"pytest", "\xffa"}, false},
		{rule("pytest", "a b(*"), []string{"pytest", "a b(c"}, true},
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

// A * in a rule matches letters of names only. It doesn't match signs like @ or -, which make a program read more.
func TestAStarStandsForNoSignButThoseOfNames(t *testing.T) {
	for c := rune(0); c < 0x3000; c++ {
		want := c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_./:@-", c))
		got := rule("go", "test", "./*").Allows(agent.TestRun, []string{"go", "test", "./a" + string(c) + "b"}, inD1)
		expect.Is(t, got, want, "%q is let", c)
	}
}

// Only a few commands may have a * in their rules. All others must be spelled out by the administrator.
func TestOnlyAFewCommandsTakeAnyName(t *testing.T) {
	for _, tt := range []struct {
		rule []string
		want string
	}{
		{[]string{"python3", "*"}, "auto_star"}, {[]string{"/usr/bin/python3.11-dbg", "-m", "pytest", "a*"},
			"auto_star"}, {[]string{"mawk", "*"}, "auto_star"},
		{[]string{"perl5.36-x86_64-linux-gnu", "-e", "*"}, "auto_star"}, {[]string{"rbash", "-c", "*"},
			"auto_star"}, {[]string{"vim", "*"}, "auto_star"},
		{[]string{"npx", "jest", "a*"}, "auto_star"}, {[]string{"npm", "exe", "*"},
			"auto_star"}, {[]string{"npm", "run", "test:*"}, "auto_star"}, {[]string{"npm", "test",
			"*"}, "auto_star"},
		{[]string{"make", "test-*"}, "auto_star"}, {[]string{"git", "-c", "alias.t=*", "t"},
			"auto_star"}, {[]string{"deno", "test", "*"}, "auto_star"}, {[]string{"./check",
			"*"}, "auto_star"},
		{[]string{"./go", "test", "*"}, "auto_star"}, {[]string{"/work/pytest", "*"},
			"auto_star"}, {[]string{"Pytest", "*"}, "auto_star"}, {[]string{"any-program",
			"*"}, "auto_star"},
		{[]string{"go", "*"}, "auto_star"}, {[]string{"go", "*", "a"},
			"auto_star"}, {[]string{"go", "run", "./*"}, "auto_star"}, {[]string{"go", "-C", "a", "test",
			"*"}, "auto_star"},
		{[]string{"mvn", "test", "*"}, "auto_star"}, {[]string{"mvn", "test", "-Dtest", "*"},
			"auto_star"}, {[]string{"gradle", "test", "*"}, "auto_star"}, {[]string{"cargo", "run",
			"*"}, "auto_star"},

		{[]string{"go", "test", "-exec", "*"}, "auto_option"}, {[]string{"go", "test", "-exec=*"},
			"auto_option"}, {[]string{"go", "test", "-*", "*"}, "auto_option"}, {[]string{"go", "test",
			"-r*"}, "auto_option"},
		{[]string{"go", "test", "-run*=a"}, "auto_option"}, {[]string{"go", "test", "*", "-args", "a"},
			"auto_option"}, {[]string{"go", "vet", "-vettool", "*"}, "auto_option"}, {[]string{"go", "build",
			"-toolexec", "*"}, "auto_option"},
		{[]string{"pytest", "-p", "*"}, "auto_option"}, {[]string{"pytest", "@*"},
			"auto_option"}, {[]string{"cargo", "test", "--", "*"}, "auto_option"}, {[]string{"mvn", "test",
			"-D*"}, "auto_option"},

		{[]string{"python3", "-m", "pytest", "tests/a.py"}, ""}, {[]string{"node", "test.js"}, ""}, {[]string{"npx", "jest"},
			""}, {[]string{"go", "run", "./check"}, ""}, {[]string{"go", "test", "-exec", "qemu-arm", "./a"}, ""},
		{[]string{"pytest", "tests/*"}, ""}, {[]string{"go", "test", "-v", "-run=*", "./*"},
			""}, {[]string{"cargo", "test", "run*"}, ""}, {[]string{"gradle", "test", "--tests=*"}, ""}, {[]string{"cat",
			"*"}, ""},
	} {
		r, argv := rule(tt.rule...), slices.Clone(tt.rule)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "*", "x")
		}
		var want aggregate.Problems
		if tt.want != "" {
			want = aggregate.Problems{{Field: "argv", Code: tt.want, Args: []any{agent.OpenCommands()}}}
		}
		if faults := r.Problems(); !reflect.DeepEqual(faults, want) ||
			r.Allows(agent.TestRun, argv, inD1) != (tt.want == "") {
			t.Errorf("%q: %v, want %v", tt.rule, faults, want)
		}
	}
}

// A rule with a fault allows nothing, even if it was stored without validation.
func TestNoRuleIsForWhatAShellReads(t *testing.T) {
	for _, argv := range [][]string{
		{"sh", "-c", "*"}, {"/bin/bash", "*"}, {"BASH", "x"}, {"env", "x"}, {"xargs", "x"}, {"/usr/bin/env", "x"}, {"sudo",
			"x"}, {"busybox", "x"}, {"toybox", "x"}, {"zsh-5.9", "x"}, {"*", "x"}, {"g*", "x"}, {}, {""}, {"go", ""},
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
