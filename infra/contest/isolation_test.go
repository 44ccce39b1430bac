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
	r := run(t, folder, "exec", "-model", "demo", "--dry-run")
	if strings.Contains(r.problem, "can't execute code on this machine") && os.Getenv("CI") == "" {
		t.Skipf("this machine keeps no script apart: %s", r.problem)
	}
	expect.That(t, r.code == 0 && r.problem == "" && strings.Contains(r.out, "code: runs on this machine, in a sandbox\n"),
		"a dry run: %+v", r)
	t.Setenv("ANTHROPIC_API_KEY", "himitsu")
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	r = run(t, folder, "exec", "-model", "demo", "--trace", trace, "経費の計算")
	all := tools(t, trace)
	if r.code != 0 || len(all) != 2 || all[0].Tool != "execute_code" || !strings.Contains(string(all[0].Input), "echo 42") || all[0].Text != "42\nexit code: 0" || all[0].Failed != "" {
		t.Errorf("%+v: %+v", all, r)
	}
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
	if r := run(t, folder, "exec", "-model", "demo", "--dry-run", "--json"); r.code != 0 || !strings.Contains(r.problem, want) || !strings.Contains(r.out, `"executes_code": false`) {
		t.Errorf("a dry run: %+v", r)
	}
	if r := run(t, folder, "exec", "-model", "demo", "経費の計算"); r.code != 0 || !strings.HasPrefix(r.problem, want) || !strings.Contains(r.out, "failed: この環境では、コードを実行できません。") {
		t.Errorf("%+v", r)
	}
}

func TestAScriptEndsWithItsContest(t *testing.T) {
	s := refusing(t, `cat >/dev/null; echo '{"begun":{"held":[]}}'; exec sleep 300`)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	o := isolated.Order{Action: "A", Type: isolated.ShellCommand, Script: ":", TimeoutSeconds: 60, Deadline: time.Now().Add(time.Minute)}
	if _, err := s.Run(ctx, o, func(isolated.Line) error { return nil }); err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
