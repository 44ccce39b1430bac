package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

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
			if line.Number = 0; !line.Err { // where an error stands among them is chance
				out = append(out, line)
			}
		}
		expect.Same(t, []isolated.Line{{Text: "before"}, {Text: "end", Unfinished: true}}, out)
		expect.Is(t, len(got.lines), 3, "lines %+v", got.lines)
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
		got := run(t, l, s.order(`ln -s /etc/passwd l; mkfifo p; echo x > f`))
		expect.NoError(t, got.err)
		expect.That(t, got.end.ExitCode == 0 && len(got.end.Left) == 2 &&
			strings.Contains(strings.Join(got.end.Left, " "), `"l": a link`), "%+v", got.end)
		expect.Same(t, []string{"f"}, s.after(t))
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
		{"a progress bar", "1%\r2%\r\ndone\n", []isolated.Line{{Text: "1%"}, {Text: "2%"}, {Text: "done"}}},
		{"an empty line after a progress bar", "1%\r\n\nx\n", []isolated.Line{{Text: "1%"}, {}, {Text: "x"}}},
		{"no UTF-8", "a\xff\xfeb\n", []isolated.Line{{Text: "a\ufffdb"}}},
		{"Japanese", "失敗\t1件\n", []isolated.Line{{Text: "失敗\t1件"}}},
		{"colours, a title and a bell", "\x1b[1;31mred\x1b[0m \x1b]0;title\x07x\a\n", []isolated.Line{{Text: "red x\ufffd"}}},
		{"as long as may be", long + "\n", []isolated.Line{{Text: long}}},
		{"longer", long + "yz\n", []isolated.Line{{Text: long[:isolated.MaxLine-64] + " … (+66 bytes)"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOutput()
			io.Copy(&o.stdout, iotest.OneByteReader(strings.NewReader(tt.text)))
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
	o := newOutput()
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&text, i)
	}
	io.WriteString(&o.stdout, text.String())
	first := lines(t, o, false)
	expect.That(t, len(first) == maxAtOnce && first[0].Text == "1500" && first[0].Number == 1501,
		"%d lines at once, from %+v", len(first), first[0])
	rest := lines(t, o, true)
	expect.That(t, o.dropped == 1500 && len(rest) == maxWaiting-maxAtOnce && rest[len(rest)-1].Text == "1999",
		"%d dropped, %d sent at the end", o.dropped, len(rest))
	// The limit in bytes: 500 lines of 8 KiB would be 4 MiB.
	io.WriteString(&o.stdout, strings.Repeat(strings.Repeat("x", isolated.MaxLine-1)+"\n", 500))
	expect.Is(t, len(lines(t, o, false)), 2, "lines of 8 KiB at once")
	got := lines(t, o, true)
	expect.That(t, len(got)*isolated.MaxLine <= maxWaitingBytes+isolated.MaxLine, "%d lines of 8 KiB waited", len(got))
}
