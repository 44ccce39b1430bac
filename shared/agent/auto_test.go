package agent_test

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/agent"
)

func rule(argv ...string) agent.AutoRule {
	return agent.AutoRule{Type: agent.TestRun, Argv: argv, Workspace: "w"}
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
		{rule("make", "*"), []string{"make", "test"}, true},
		{rule("make", "*"), []string{"make", "X:=$(shell id)"}, false},
		{rule("make", "test*"), []string{"make", "test:=$(shell id)"}, false},
		{rule("make", "X=*"), []string{"make", "X=$(shell id)"}, false},
		{rule("go", "test", "-run=*"), []string{"go", "test", "-run=TestA"}, true},
		{rule("npm", "test", "a*"), []string{"npm", "test", "a`id`"}, false},
		{rule("npm", "test", "a*"), []string{"npm", "test", "a\nid"}, false},
	} {
		if got := tt.rule.Allows(agent.TestRun, tt.argv, "w"); got != tt.want {
			t.Errorf("%q lets %q: %v", tt.rule.Argv, tt.argv, got)
		}
	}
	ok := rule("go", "test")
	for _, other := range []agent.ActionType{agent.ShellCommand, agent.CodeGenerate, ""} {
		if ok.Allows(other, []string{"go", "test"}, "w") {
			t.Errorf("%s is allowed", other)
		}
	}
	if ok.Allows(agent.TestRun, []string{"go", "test"}, "v") || ok.Allows(agent.TestRun, []string{"go", "test"}, "") {
		t.Error("another workspace's command is allowed")
	}
	if n := agent.AutoApproved([]agent.AutoRule{rule("a"), ok}, agent.TestRun, []string{"go", "test"}, "w"); n != 1 {
		t.Error(n)
	}
}

// What an agent writes in the place of a * is a name or a text to such a program's test, never what runs.
func TestNoRuleIsForWhateverAnInterpreterIsGiven(t *testing.T) {
	for _, tt := range []struct {
		rule    []string
		allowed bool
	}{
		{[]string{"python3", "-c", "*"}, false}, {[]string{"python3", "*"}, false}, {[]string{"/usr/bin/python3.11-dbg", "-m", "pytest", "a*"}, false}, {[]string{"PYTHON", "a*"}, false},
		{[]string{"node", "-e", "*"}, false}, {[]string{"perl", "-e", "*"}, false}, {[]string{"php8.2", "*"}, false}, {[]string{"sqlite3", "a.db", "*"}, false}, {[]string{"java", "*.java"}, false},
		{[]string{"npx", "*"}, false}, {[]string{"npx", "jest", "a*"}, false}, {[]string{"uv", "run", "pytest", "a*"}, false}, {[]string{"docker", "run", "*"}, false},
		{[]string{"go", "run", "./*"}, false}, {[]string{"go", "*", "a"}, false}, {[]string{"deno", "*"}, false}, {[]string{"go", "-x", "*", "a"}, false}, {[]string{"go", "-C", "a", "run", "*"}, false}, {[]string{"npm", "exec", "*"}, false},
		{[]string{"npm", "*", "a"}, false}, {[]string{"yarn", "dlx", "*"}, false}, {[]string{"deno", "eval", "*"}, false}, {[]string{"bun", "-e", "*"}, false}, {[]string{"cargo", "run", "*"}, false},
		{[]string{"toybox", "x"}, false}, {[]string{"zsh-5.9", "x"}, false},

		{[]string{"python3", "-m", "pytest", "tests/a.py"}, true}, {[]string{"node", "test.js"}, true}, {[]string{"npx", "jest"}, true}, {[]string{"go", "run", "./check"}, true},
		{[]string{"pytest", "tests/*"}, true}, {[]string{"go", "test", "./*"}, true}, {[]string{"go", "*"}, true}, {[]string{"npm", "run", "test:*"}, true}, {[]string{"npm", "test", "*"}, true}, {[]string{"deno", "test", "*"}, true},
		{[]string{"cargo", "test", "run*"}, true}, {[]string{"make", "*"}, true}, {[]string{"./check", "*"}, true}, {[]string{"./script1.sh", "*"}, true},
	} {
		r, argv := rule(tt.rule...), slices.Clone(tt.rule)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "*", "x")
		}
		faults := r.Faults()
		if (len(faults) == 0) != tt.allowed || r.Allows(agent.TestRun, argv, "w") != tt.allowed {
			t.Errorf("%q lets %q: %t; %v", tt.rule, argv, !tt.allowed, faults)
		}
		for _, f := range faults {
			if f.Field != "argv" || f.Limit() == "" {
				t.Errorf("%q: %+v has no reason", tt.rule, f)
			}
		}
	}
}

// A rule that is broken allows nothing, also when it stands in a row that nobody checked.
func TestNoRuleIsForWhatAShellReads(t *testing.T) {
	for _, argv := range [][]string{
		{"sh", "-c", "*"}, {"/bin/bash", "*"}, {"BASH", "x"}, {"env", "x"}, {"xargs", "x"}, {"/usr/bin/env", "x"}, {"sudo", "x"}, {"busybox", "x"}, {"*", "x"}, {"g*", "x"}, {}, {""}, {"go", ""},
		{"go", strings.Repeat("x", 201)}, make([]string, 33),
	} {
		r := rule(argv...)
		if len(r.Faults()) == 0 {
			t.Errorf("%q is no fault", argv)
		}
		if r.Allows(agent.TestRun, argv, "w") {
			t.Errorf("%q is allowed", argv)
		}
	}
	for _, r := range []agent.AutoRule{{Type: agent.ShellCommand, Argv: []string{"ls"}, Workspace: "w"}, {Type: agent.CodeGenerate, Argv: []string{"ls"}, Workspace: "w"}, {Type: agent.TestRun, Argv: []string{"ls"}}} {
		if len(r.Faults()) == 0 || r.Allows(r.Type, []string{"ls"}, r.Workspace) {
			t.Errorf("%+v", r)
		}
	}
}
