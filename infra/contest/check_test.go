package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// ran is a command that was run.
type ran struct {
	code         int
	out, problem string
}

// run runs the command in a workspace.
func run(t *testing.T, folder string, args ...string) ran {
	t.Helper()
	return runIn(t, map[string]string{"MIXSEEK_WORKSPACE": folder}, args...)
}

// runIn runs the command in an environment.
func runIn(t *testing.T, env map[string]string, args ...string) ran {
	t.Helper()
	var out, problem bytes.Buffer
	code := program{func(name string) string { return env[name] }, &out, &problem}.run(t.Context(), args)
	return ran{code, out.String(), problem.String()}
}

// sampled is a folder with the sample workspace.
func sampled(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "workspace")
	r := run(t, folder, "init")
	expect.Must(t, r.code == 0 && strings.Contains(r.out, "7 files"), "init: %+v", r)
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600)
	expect.NoError(t, err)
}

func TestInitWritesAWorkspaceThatCheckFindsValid(t *testing.T) {
	folder := sampled(t)
	files := []string{"configs/contest.toml", "configs/evaluator.toml", "configs/judgment.toml", "configs/agents/team-careful.toml", "configs/agents/checker.toml"}
	r := run(t, folder, append([]string{"check"}, files...)...)
	want := strings.Join(files, ": valid\n") + ": valid\n"
	expect.That(t, r.code == 0 && r.out == want, "%+v", r)
	if r := run(t, folder, "init"); r.code != 1 || !strings.Contains(r.problem, "nothing was written") || strings.Count(r.problem, "is there already") != 7 {
		t.Errorf("a second init: %+v", r)
	}
}

func TestCheckReportsEachFileAsJSON(t *testing.T) {
	folder := sampled(t)
	write(t, folder, "bad.toml", "[team]\nteam_id = 'a'\nteam_name = 'A'\n[team.leader]\ntemperature = 9.0\n[[team.members]]\nname = 'x'\ntype = 'plain'\ndescription = 'd'\nmetadata = {}\n")
	r := run(t, folder, "check", "bad.toml", "--json", filepath.Join(folder, "configs/agents/team-solo.toml"))
	var reports []struct {
		File             string
		Valid            bool
		Errors, Warnings []struct{ Field, Message string }
		Config           map[string]any
	}
	err := json.Unmarshal([]byte(r.out), &reports)
	expect.Must(t, err == nil && r.code == 1 && len(reports) == 2, "%v: %+v", err, r)
	bad, good := reports[0], reports[1]
	if bad.Valid || bad.File != "bad.toml" || len(bad.Errors) != 2 || bad.Errors[0].Field != "leader.temperature" || bad.Errors[1].Field != "members[0].model" || bad.Config != nil || bad.Warnings[0].Field != "members[0].metadata" {
		t.Errorf("%+v", bad)
	}
	leader, _ := good.Config["leader"].(map[string]any)
	if temperature, ok := leader["temperature"]; !good.Valid || leader["model"] != "anthropic:claude-haiku-4-5" || temperature != nil || !ok || good.Config["max_concurrent_members"] != 15.0 {
		t.Errorf("%+v", good)
	}
}

func TestMisuseIsToldFromAnInvalidFile(t *testing.T) {
	folder := sampled(t)
	for name, c := range map[string]struct {
		folder string
		args   []string
		code   int
		says   string
	}{
		"no workspace":          {"", []string{"check", "a.toml"}, 2, "MIXSEEK_WORKSPACE environment variable is not set.\nPlease set it: export MIXSEEK_WORKSPACE=/path/to/workspace"},
		"no folder":             {folder + "/none", []string{"check", "a.toml"}, 2, "/none\". contest init makes it"},
		"no file":               {folder, []string{"check"}, 2, "usage"},
		"no command":            {folder, nil, 2, "usage"},
		"another command":       {folder, []string{"cheque"}, 2, "\"cheque\" is none of init, check, exec and archive\nusage"},
		"a flag nobody knows":   {folder, []string{"check", "--yaml", "a.toml"}, 2, "not defined"},
		"a file that is not":    {folder, []string{"check", "a.toml"}, 1, "there is no such file in the workspace"},
		"a file outside":        {folder, []string{"check", "/etc/hostname"}, 1, "is outside of MIXSEEK_WORKSPACE"},
		"a file above":          {folder, []string{"check", "../a.toml"}, 1, "must be a path inside of the workspace"},
		"init into two folders": {folder, []string{"init", "a", "b"}, 2, "usage"},
		"init without a folder": {"", []string{"init"}, 2, "Please set it"},
	} {
		r := run(t, c.folder, c.args...)
		expect.That(t, r.code == c.code && strings.Contains(r.out+r.problem, c.says), "%s: %+v", name, r)
	}
}

// TestMain leaves the log out, as main does.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
