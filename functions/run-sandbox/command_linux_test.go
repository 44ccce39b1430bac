package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"ringi/infra/local/process"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func TestACommandRunsInItsWorkspace(t *testing.T) {
	inBoxes(t, func(t *testing.T, l level) {
		s := newStore(t)
		tree := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "in/a.txt", Content: "before\n"}}))(t)
		s.archive = expect.Value(tree.Archive())(t)
		o := s.order(`cat in/a.txt; echo warn >&2; mkdir out; printf after > out/b.txt; rm in/a.txt; printf end`)
		o.Workspace = s.URL + "/workspace"
		got := run(t, l, o)
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && got.end.Limit == "" && got.end.Version == files.Sum(s.uploaded), "%+v",
			got.end)
		var out []isolated.Line
		for i, line := range got.lines {
			expect.Is(t, line.Number, i+1, "number of a line")
			line.Number = 0
			out = append(out, line)
		}
		expect.Same(t, []isolated.Line{{Text: "before"}, {Text: "warn"}, {Text: "end", Unfinished: true}}, out)
		expect.Same(t, []string{"out/b.txt"}, s.after(t))
	})
}

func TestACommandsEndIsToldAsItWas(t *testing.T) {
	t.Parallel()
	expect.Patience(t)
	s := newStore(t)
	tests := []struct {
		name   string
		change func(*isolated.Order)
		want   isolated.End
	}{
		{"its code", func(o *isolated.Order) { o.Script = "exit 3" }, isolated.End{ExitCode: 3}},
		{"a signal", func(o *isolated.Order) { o.Script = "kill -SEGV $$" }, isolated.End{ExitCode: -1, Signal: "SIGSEGV"}},
		{"a signal that its parent may ignore", func(o *isolated.Order) { o.Script = "kill -HUP $$" },
			isolated.End{ExitCode: -1, Signal: "SIGHUP"}},
		{"a tool that is not installed", func(o *isolated.Order) {
			o.Type, o.Script, o.Argv = isolated.TestRun, "",
				[]string{"pytestt", "-q"}
		}, isolated.End{ExitCode: 127, Missing: "pytestt"}},
		{"an interpreter that is not installed", func(o *isolated.Order) {
			o.Type, o.Script, o.Argv = isolated.TestRun, "", []string{"sh", "-c",
				"printf '#!/no/such\n' > x; chmod +x x; exec ./x"}
		}, isolated.End{ExitCode: 127}},
		{"arguments as they are", func(o *isolated.Order) {
			o.Type, o.Script, o.Argv = isolated.TestRun, "", []string{"test", "$HOME", "=", "$HOME"}
		}, isolated.End{}},
		{"a script that begins with a dash", func(o *isolated.Order) { o.Script = "-x" },
			isolated.End{ExitCode: 127}},
		{"its time", func(o *isolated.Order) { o.Script, o.TimeoutSeconds = "sleep 30", 1 },
			isolated.End{ExitCode: -1, Signal: "SIGTERM", TimedOut: true}},
		{"the claim's time, which is shorter", func(o *isolated.Order) {
			o.Script, o.Deadline = "sleep 30", time.Now().Add(reserve+1500*time.Millisecond)
		}, isolated.End{ExitCode: -1, Signal: "SIGTERM", TimedOut: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBox(t, func(t *testing.T, l level) {
				o := s.order("")
				tt.change(&o)
				got := run(t, l, o)
				expect.NoError(t, got.err)
				expect.That(t, got.end.Version != "", "the workspace was not kept: %+v", got.end)
				got.end.Held, got.end.Version = nil, ""
				expect.Same(t, tt.want, got.end)
			})
		})
	}
}

// What is kept for packing and uploading is kept however long its files take to come.
func TestAClaimsTimeRunsWhileFilesCome(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	archive := tree(t, "a.txt", "a")
	s.Config.Handler.(*http.ServeMux).HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(3 * time.Second)
		w.Write(archive)
	})
	inBox(t, func(t *testing.T, l level) {
		o := s.order("sleep 30")
		o.Workspace, o.Deadline = s.URL+"/slow", time.Now().Add(reserve+4*time.Second)
		begun := time.Now()
		got := run(t, l, o)
		expect.NoError(t, got.err)
		took := time.Since(begun)
		expect.That(t, got.end.TimedOut && took < 6500*time.Millisecond, "%+v after %s", got.end, took)
	})
}

func TestACancelEndsACommand(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		var s *store
		var got outcome
		expect.Within(t, 10*time.Second, func() {
			s = newStore(t)
			time.AfterFunc(500*time.Millisecond, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.cancelled = true
			})
			got = run(t, l, s.order("echo begun; sleep 50"))
		})
		expect.NoError(t, got.err)
		expect.That(t, got.end.Cancelled && got.end.Signal == "SIGTERM" && got.text() == "begun", "%+v after %s, %q",
			got.end, got.took, got.text())
		expect.That(t, s.uploaded == nil, "the workspace of a cancelled command was kept")
	})
}

func TestWhatCantBeKeptOfAWorkspaceIsSaid(t *testing.T) {
	t.Parallel()
	inBoxes(t, func(t *testing.T, l level) {
		s := newStore(t)
		s.refuse = 1 // the second try succeeds
		// h and i are one file: making it readable here might do so elsewhere. Name spaces read all without that.
		kept := map[level][]string{machine: {"f"}, namespaces: {"f", "h", "i"}}[l]
		got := run(t, l, s.order(`ln -s /etc/passwd l; mkfifo p; echo x > f; echo y > h; ln h i; chmod 0 h`))
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && len(got.end.Left)+len(kept) == 5 &&
			strings.Contains(strings.Join(got.end.Left, " "), `"l": a link`), "%+v", got.end)
		expect.Same(t, kept, s.after(t))
		garbage := &box{result: expect.Value(os.Open("main.go"))(t)} // by what could reach the packing process
		_, err := garbage.packed()
		expect.That(t, err != nil, "what is no archive is uploaded")
		got = run(t, l, s.order(fmt.Sprintf(`i=0; while [ $i -le %d ]; do : > $i; i=$((i+1)); done`, files.MaxEntries)))
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && got.end.Version == "" &&
			strings.Contains(got.end.Limit, "more than 5000 files"), "%+v", got.end)
	})
}

func TestNothingBeginsThatCantBeDone(t *testing.T) {
	s := newStore(t)
	s.archive = []byte("no archive")
	for name, tt := range map[string]struct {
		change func(*isolated.Order)
		cannot bool
	}{
		"no time is left":             {func(o *isolated.Order) { o.Deadline = time.Now().Add(reserve) }, false},
		"the workspace is gone":       {func(o *isolated.Order) { o.Workspace = s.URL + "/gone" }, true},
		"the workspace doesn't come":  {func(o *isolated.Order) { o.Workspace = s.URL + "/down" }, false},
		"the workspace is no archive": {func(o *isolated.Order) { o.Workspace = s.URL + "/workspace" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := s.order("echo begun")
			tt.change(&o)
			got := run(t, namespaces, o)
			expect.That(t, errors.Is(got.err, isolated.ErrNotBegun) &&
				errors.Is(got.err, isolated.ErrCannot) == tt.cannot && !strings.Contains(fmt.Sprint(got.err), s.URL),
				"got %v", got.err)
		})
	}
}

func TestAMachineThatWithholdsTooLittleRunsNothing(t *testing.T) {
	t.Setenv("TMPDIR", "/no/such/folder") // so that no box is made
	got := run(t, machine, newStore(t).order("echo begun"))
	expect.That(t, errors.Is(got.err, isolated.ErrCannot) &&
		strings.Contains(got.err.Error(), "withholds too little") && len(got.lines) == 0, "%+v, %v", got.lines, got.err)
}

func lines(t *testing.T, o *output, all bool) (got []isolated.Line) {
	t.Helper()
	expect.NoError(t, o.send(all, func(l isolated.Line) error {
		got = append(got, l)
		return nil
	}))
	return got
}

func TestOutputBecomesLinesThatPeopleCanRead(t *testing.T) {
	long := strings.Repeat("x", isolated.MaxLine)
	tests := []struct {
		name, text string
		want       []isolated.Line
	}{
		{"nothing", "", nil},
		{"lines", "a\n\nb\n", []isolated.Line{{Text: "a"}, {}, {Text: "b"}}},
		{"the last one is unfinished", "a\nb", []isolated.Line{{Text: "a"}, {Text: "b", Unfinished: true}}},
		{"line ends of Windows", "a\r\nb\r\n", []isolated.Line{{Text: "a"}, {Text: "b"}}},
		{"a progress bar", "1%\r2%\r\ndone\n", []isolated.Line{{Text: "2%"}, {Text: "done"}}},
		{"an empty line after a progress bar", "1%\r\n\nx\n", []isolated.Line{{Text: "1%"}, {}, {Text: "x"}}},
		{"many frames after a warning", "careful\n" + strings.Repeat("\rdownloading", 1001) + "\r\r\ndone",
			[]isolated.Line{{Text: "careful"}, {Text: "downloading"}, {Text: "done", Unfinished: true}}},
		{"no UTF-8", "a\xff\xfeb\n", []isolated.Line{{Text: "a\ufffdb"}}},
		{"Japanese", "失敗\t1件\n", []isolated.Line{{Text: "失敗\t1件"}}},
		{"colours, a title and a bell", "\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\a\n", []isolated.Line{{Text: "red x\ufffd"}}},
		{"as long as may be", long + "\n", []isolated.Line{{Text: long}}},
		{"longer", long + "yz\n", []isolated.Line{{Text: long[:isolated.MaxLine-64] + " … (+66 bytes)"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &output{}
			io.Copy(o, iotest.OneByteReader(strings.NewReader(tt.text)))
			o.end()
			got := lines(t, o, true)
			expect.Must(t, len(got) == len(tt.want), "%+v", got)
			for i, l := range got {
				expect.Is(t, l.Number, i+1, "number of a line")
				l.Number = 0
				expect.Same(t, tt.want[i], l)
				expect.That(t, len(l.Text) <= isolated.MaxLine && utf8.ValidString(l.Text), "%d bytes", len(l.Text))
			}
		})
	}
}

func TestOutputThatNobodyTakesIsDroppedFromItsBeginning(t *testing.T) {
	o := &output{}
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&text, i)
	}
	io.WriteString(o, text.String())
	first := lines(t, o, false)
	expect.That(t, len(first) == maxAtOnce && first[0].Text == "1500" && first[0].Number == 1501,
		"%d lines at once, from %+v", len(first), first[0])
	rest := lines(t, o, true)
	expect.That(t, o.dropped == 1500 && len(rest) == maxWaiting-maxAtOnce && rest[len(rest)-1].Text == "1999",
		"%d dropped, %d sent at the end", o.dropped, len(rest))
	// The limit in bytes: 500 lines of 8 KiB would be 4 MiB.
	io.WriteString(o, strings.Repeat(strings.Repeat("x", isolated.MaxLine-1)+"\n", 500))
	expect.Is(t, len(lines(t, o, false)), 2, "lines of 8 KiB at once")
	got := lines(t, o, true)
	expect.That(t, len(got)*isolated.MaxLine <= maxWaitingBytes+isolated.MaxLine, "%d lines of 8 KiB waited", len(got))
}

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
	// A file that this process had open for writing may be "busy": another test's child may still hold it.
	expect.NoError(t, exec.Command("cp", expect.Value(os.Executable())(t), filepath.Join(dir, "bootstrap")).Run())
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

// What is left once a command has killed inside ends with the supervisor's own process.
func TestNothingOutlivesTheSupervisor(t *testing.T) {
	t.Parallel()
	child := strayed + "orphan"
	o := newStore(t).order(`(exec -a ` + child + ` sleep 40) & echo here; sleep 0.5; kill -KILL $PPID`)
	out, errs := managedRuntime(t, o)
	pids := running(child)
	expect.That(t, len(pids) == 0 && strings.Contains(out, "here"), "%v are left: %s %s", pids, out, errs)
}
