//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// runtime stands in for Lambda's managed runtime: it loads the handler, calls it with the event in the first argument,
// and writes the streamed answer to standard output. With a second argument it disconnects after that many bytes.
const runtimeScript = `
import { Writable } from "node:stream";
globalThis.awslambda = { streamifyResponse: (handler) => handler };
const { handler } = await import(process.env.LAMBDA_TASK_ROOT + "/index.mjs");
const [event, limit] = process.argv.slice(1);
let seen = 0;
const answer = new Writable({ write(chunk, _, done) {
  seen += chunk.length;
  process.stdout.write(chunk);
  done(limit && seen > Number(limit) ? new Error("the client is gone") : null);
} });
try {
  await handler(JSON.parse(event), answer, {});
  console.error("handled");
} catch (err) {
  console.error("failed: " + err.message);
}
`

// managedRuntime runs the handler as Lambda would. The sandbox is this test's binary.
func managedRuntime(t *testing.T, o isolated.Order, args ...string) (out, errs string) {
	t.Helper()
	expect.Patience(t)
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") != "" && os.Getenv("RINGI_WITHOUT_NODE") == "" {
			t.Fatal("there is no node for the managed runtime's handler")
		}
		t.Skip("there is no node for the managed runtime's handler")
	}
	dir := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "index.mjs"), expect.Value(os.ReadFile("index.mjs"))(t), 0o644))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "bootstrap"), expect.Value(os.ReadFile(expect.Value(os.Executable())(t)))(t), 0o755))
	event := expect.Value(json.Marshal(o))(t)
	cmd := exec.Command(node, append([]string{"--input-type=module", "-e", runtimeScript, "--", string(event)}, args...)...)
	cmd.Env = []string{"LAMBDA_TASK_ROOT=" + dir, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=2048", "AWS_SECRET_ACCESS_KEY=an access key", "PATH=/usr/bin:/bin"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	expect.NoError(t, cmd.Run())
	return stdout.String(), stderr.String()
}

func TestTheManagedRuntimeStreamsACommand(t *testing.T) {
	s := newStore(t)
	tree := s.order("echo あ > f; env; echo 'it is done' >&2; exit 4")
	out, errs := managedRuntime(t, tree)
	var text []string
	end, err := isolated.Read(strings.NewReader(out), func(l isolated.Line) error {
		text = append(text, l.Text)
		return nil
	})
	expect.NoError(t, err)
	all := strings.Join(text, "\n")
	if end.ExitCode != 4 || len(end.Held) == 0 || !strings.Contains(all, "it is done") || strings.Contains(all, "access key") || !strings.Contains(errs, "handled") {
		t.Errorf("%+v\n%s\n%s", end, all, errs)
	}
	expect.Same(t, []string{"f"}, s.after(t).Paths())
}

// If the caller disconnects, no process of the command continues.
func TestTheManagedRuntimeKillsWhatNobodyListensTo(t *testing.T) {
	begun := time.Now()
	o := newStore(t).order("while :; do echo line; sleep 0.05; done")
	_, errs := managedRuntime(t, o, "2000")
	if !strings.Contains(errs, "failed: the client is gone") || time.Since(begun) > 20*time.Second {
		t.Errorf("after %s: %s", time.Since(begun), errs)
	}
	noneIsLeft(t)
}
