package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// team makes a workspace whose contest has one team with one member of this type.
func team(t *testing.T, of, more string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.Mkdir(filepath.Join(folder, "configs"), 0o755)
	expect.NoError(t, err)
	write(t, folder, "configs/contest.toml",
		"[orchestrator]\nmax_rounds = 2\n"+more+"[[orchestrator.teams]]\nconfig = 'team.toml'\n")
	write(t, folder, "team.toml",
		"[team]\nteam_id = 'a'\nteam_name = 'A'\n[[team.members]]\nname = 'helper'\n"+
			"type = '"+of+"'\ndescription = 'd'\nmodel = 'demo'\n")
	return folder
}

// refusing returns a sandbox that refuses each order with this line.
func refusing(t *testing.T, says string) isolation {
	t.Helper()
	file := filepath.Join(t.TempDir(), "run-sandbox")
	err := os.WriteFile(file, []byte("#!/bin/sh\n"+says+"\n"), 0o700)
	expect.NoError(t, err)
	return isolation{file}
}

func TestAMembersCodeRunsOnThisMachine(t *testing.T) {
	folder := team(t, "code-exec", "")
	t.Setenv("ANTHROPIC_API_KEY", "himitsu")
	r := run(t, folder, "exec", "-model", "demo", "経費の計算")
	if strings.Contains(r.problem, "can't execute code on this machine") && os.Getenv("CI") == "" {
		t.Skipf("this machine keeps no script apart: %s", r.problem)
	}
	expect.That(t, r.code == 0 && r.problem == "" && strings.Count(r.out, "TOOL      helper  execute_code") == 2 &&
		strings.Contains(r.out, "42 exit code: 0"), "%+v", r)
}

func TestAMachineThatKeepsNoScriptApartSaysWhatIsMissing(t *testing.T) {
	s := refusing(t, `cat >/dev/null; echo '{"not_begun":{"why":"commands run on Linux only","lasting":true}}'`)
	if err := s.try(t.Context()); err == nil || err.Error() != "commands run on Linux only" {
		t.Errorf("%v", err)
	}
	if _, err := round.Isolated(s, "").Run(t.Context(), "echo 42"); !errors.Is(err, round.ErrNoSandbox) {
		t.Errorf("%v", err)
	}
	if err := refusing(t, "exit 3").try(t.Context()); err == nil {
		t.Error("one that says nothing is taken for a sandbox")
	}
	t.Setenv("PATH", t.TempDir()) // no go
	folder := team(t, "code-exec", "")
	const want = "warning: a: helper can't execute code on this machine: functions/run-sandbox can't be built: "
	if r := run(t, folder, "exec", "-model", "demo", "経費の計算"); r.code != 0 || !strings.HasPrefix(r.problem, want) ||
		!strings.Contains(r.out, "failed: この環境では、コードを実行できません。") {
		t.Errorf("%+v", r)
	}
}

func TestAScriptEndsWithItsContest(t *testing.T) {
	s := refusing(t, `cat >/dev/null; echo '{"begun":{"held":[]}}'; exec sleep 300`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	o := isolated.Order{Action: "A", Type: isolated.ShellCommand, Script: ":", TimeoutSeconds: 60,
		Deadline: time.Now().Add(time.Minute)}
	if _, err := s.Run(ctx, o, func(isolated.Line) error { return nil }); err == nil ||
		time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
