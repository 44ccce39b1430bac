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

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// What Python compiles is nothing that a person can read, so no pull request takes it.
func TestPythonLeavesNothingCompiled(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		got := ran(t, l, `command -v python3 >/dev/null || { echo none; exit; }
mkdir -p a; echo 'x = 1' > a/m.py; python3 -c 'import a.m; print(a.m.x)'; find . -name '*.pyc'`)
		if got.text() == "none" && os.Getenv("CI") == "" {
			t.Skip("there is no python3 where commands look for programs")
		}
		expect.Is(t, got.text(), "1")
	})
}

// lambdaPython installs the Python of the function's package, and returns the beginning of a script that finds it
// first.
func lambdaPython(t *testing.T) string {
	t.Helper()
	expect.Patience(t)
	dir := process.StartNode(t, "python", os.DirFS("python"))
	return "PATH=" + dir + ":$PATH\n"
}

// In Lambda commands find Python in the package, after all that the managed runtime has; elsewhere they find the
// machine's.
func TestCommandsFindThePythonBesideTheBinaryInLambda(t *testing.T) {
	own := filepath.Dir(expect.Value(os.Executable())(t))
	expect.Is(t, searched(machine), isolated.Searched+":"+filepath.Join(own, "python"))
	expect.Is(t, searched(namespaces), isolated.Searched)
	info := expect.Value(os.Stat("python/python3"))(t)
	expect.That(t, info.Mode()&0o111 != 0, "python3 can't be executed: %s", info.Mode())
}

func TestThePythonOfLambda(t *testing.T) {
	t.Parallel()
	const refused = `RuntimeError WebAssembly stack switching not supported in this JavaScript runtime
OSError [Errno 138] emscripten does not support processes.
RuntimeError can't start new thread
RemoteDisconnected Remote end closed connection without response
ModuleNotFoundError No module named 'numpy'
ModuleNotFoundError No module named 'pip'`
	begin := lambdaPython(t)
	version := strings.Fields(strings.SplitAfter(isolated.Installed(""), "CPython ")[1])[0]
	for name, tt := range map[string]struct {
		script string
		want   string // in the output
		code   int
	}{
		"the version that models are told": {script: `python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])'`,
			want: version},
		"a file with an argument": {script: "echo 'import sys; print(sys.argv)' > a.py; python3 a.py one 'two three'",
			want: "['a.py', 'one', 'two three']"},
		"data through a pipe": {script: `echo あ | python3 -c 'print(input() * 2)'`, want: "ああ"},
		"files of the command": {script: `python3 -c '
import tempfile
with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").close()
open("a.txt", "w").write("kept")'; cat a.txt`, want: "kept"},
		"an end of the program's own": {script: `python3 -c 'import atexit, sys
atexit.register(print, "left")
sys.exit(3)'`, want: "left", code: 3},
		"an exception": {script: `python3 -c '1/0'`, want: "ZeroDivisionError", code: 1},
		"no event loop, process, thread, network or other package": {script: `python3 - 2>warnings <<'END'
import asyncio, importlib, subprocess, threading, urllib.request
for call in (
    lambda: asyncio.run(asyncio.sleep(0)), lambda: subprocess.run(["true"]),
    lambda: threading.Thread(target=print).start(),
    lambda: urllib.request.urlopen("http://127.0.0.1:1"), lambda: importlib.import_module("numpy"),
    lambda: importlib.import_module("pip")):
    try:
        print("done", call())
    except Exception as e:
        print(type(e).__name__, e)
END`, want: refused},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.code != 3 {
				expect.AtNight(t) // each start takes seconds
			}
			t.Parallel()
			o := newStore(t).order(begin + tt.script)
			o.TimeoutSeconds = 150 // it starts in 4 s, and in a minute where others compute
			got := run(t, machine, o)
			expect.NoError(t, got.err)
			expect.That(t, got.end.ExitCode == tt.code && strings.Contains(got.text(), tt.want), "%+v\n%s", got.end, got.text())
			t.Logf("%s: %s", got.took, got.text())
		})
	}
}

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
		expect.Must(t, os.Getenv("CI") == "" || os.Getenv("RINGI_WITHOUT_NODE") != "",
			"there is no node for the managed runtime's handler")
		t.Skip("there is no node for the managed runtime's handler")
	}
	dir := expect.Value(os.MkdirTemp("", "managed-"))(t) // which goes with the tests' folder
	expect.NoError(t, os.Chmod(dir, 0o755))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "index.mjs"), expect.Value(os.ReadFile("index.mjs"))(t), 0o644))
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "bootstrap"),
		expect.Value(os.ReadFile(expect.Value(os.Executable())(t)))(t), 0o755))
	event := expect.Value(json.Marshal(o))(t)
	cmd := exec.Command(node, append([]string{"--input-type=module", "-e", runtimeScript, "--", string(event)},
		args...)...)
	cmd.Env = []string{"LAMBDA_TASK_ROOT=" + dir, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=2048",
		"AWS_SECRET_ACCESS_KEY=an access key", "PATH=/usr/bin:/bin"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	expect.NoError(t, cmd.Run())
	return stdout.String(), stderr.String()
}

func TestTheManagedRuntimeStreamsACommand(t *testing.T) {
	t.Parallel()
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
	expect.That(t, end.ExitCode == 4 && len(end.Held) != 0 && strings.Contains(all, "it is done") &&
		!strings.Contains(all, "access key") && strings.Contains(errs, "handled"), "%+v\n%s\n%s", end, all, errs)
	expect.Same(t, []string{"f"}, s.after(t))
}

// If the caller disconnects, no process of the command continues.
func TestTheManagedRuntimeKillsWhatNobodyListensTo(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	o := newStore(t).order("while :; do echo line; sleep 0.05; done")
	_, errs := managedRuntime(t, o, "2000")
	expect.That(t, strings.Contains(errs, "failed: the client is gone") && time.Since(begun) <= 20*time.Second,
		"after %s: %s", time.Since(begun), errs)
}
