package agent_test

import (
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
