package outbound_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

func read(text string) (lines []isolated.Line, end isolated.End, err error) {
	end, err = isolated.Read(iotest.HalfReader(strings.NewReader(text)), func(l isolated.Line) error {
		lines = append(lines, l)
		return nil
	})
	return lines, end, err
}

func TestAnAnswerIsReadAsItWasWritten(t *testing.T) {
	var out bytes.Buffer
	w := isolated.NewWriter(&out)
	want := []isolated.Line{{Number: 1, Text: "ok  \u3042"}, {Number: 2, Text: "warning"},
		{Number: 9501, Text: "more", Unfinished: true}}
	end := isolated.End{ExitCode: -1, Signal: "killed", TimedOut: true, Dropped: 3, Version: "abc",
		Held: []string{"namespaces"}}
	expect.NoError(t, w.Begun())
	for _, l := range want {
		expect.NoError(t, w.Line(l))
	}
	expect.NoError(t, w.End(end))
	lines, got, err := read(out.String())
	expect.NoError(t, err)
	expect.Same(t, want, lines)
	expect.Same(t, end, got)
}

// Numbers of lines come from the sandbox, which may send any.
func TestNumbersOfLinesAscend(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"begun":{"held":[]}}` + "\n")
	for _, n := range []int{0, 0, 7, 7, -3, 1 << 40, 11} {
		fmt.Fprintf(&text, `{"line":{"text":"x","number":%d}}`+"\n", n)
	}
	lines, _, err := read(text.String() + `{"end":{"exit_code":0}}` + "\n")
	expect.NoError(t, err)
	var got []int
	for _, l := range lines {
		got = append(got, l.Number)
	}
	expect.Same(t, []int{1, 2, 7, 8, 9, 10, 11}, got)
}

func TestAnAnswerIsNotBelievedTooMuch(t *testing.T) {
	const begun, end = `{"begun":{"held":[]}}` + "\n", `{"end":{"exit_code":0}}` + "\n"
	tests := []struct {
		name, text string
		notBegun   bool
		cannot     bool
	}{
		{"nothing has begun", `{"not_begun":{"why":"x"}}` + "\n", true, false},
		{"nothing ever will", `{"not_begun":{"why":"x","lasting":true}}` + "\n", true, true},
		{"what began is taken back", begun + `{"not_begun":{"why":"x"}}` + "\n", false, false},
		{"it is taken back after a line", `{"line":{"text":"x"}}` + "\n" + `{"not_begun":{"why":"x"}}` + "\n", false, false},
		{"no end", begun, false, false},
		{"an end that is cut off", begun + strings.TrimSpace(end), false, false},
		{"no JSON", begun + "hello\n" + end, false, false},
		{"a frame without an end", begun + `{"line":{"text":"` + strings.Repeat("x", 1<<20) + "\n" + end, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(tt.text)
			expect.That(t, err != nil && errors.Is(err, isolated.ErrNotBegun) == tt.notBegun &&
				errors.Is(err, isolated.ErrCannot) == tt.cannot, "got %v", err)
		})
	}
}

// Reading stops if a sender never ends.
func TestAnEndlessAnswerIsLeft(t *testing.T) {
	lines := 0
	_, err := isolated.Read(endless{}, func(isolated.Line) error { lines++; return nil })
	expect.That(t, err != nil && lines != 0, "%d lines, %v", lines, err)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	line := []byte(`{"line":{"text":"` + strings.Repeat("x", 4000) + `"}}` + "\n")
	return copy(p, line[:min(len(line), len(p))]), nil
}

func TestAForgedLineIsCut(t *testing.T) {
	long := strings.Repeat("あ", isolated.MaxLine/2)
	lines, _, err := read(fmt.Sprintf(`{"line":{"text":%q}}`+"\n"+`{"end":{}}`+"\n", long))
	expect.NoError(t, err)
	if got := lines[0].Text; len(got) > isolated.MaxLine || !utf8.ValidString(got) || !strings.HasSuffix(got, " bytes)") {
		t.Errorf("%d bytes, ending %q", len(got), got[len(got)-20:])
	}
}

func TestALineThatNobodyTakesEndsTheReading(t *testing.T) {
	_, err := isolated.Read(strings.NewReader(`{"line":{"text":"x"}}`+"\n"+`{"end":{}}`+"\n"),
		func(isolated.Line) error { return io.ErrClosedPipe })
	expect.That(t, errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, isolated.ErrNotBegun), "got %v", err)
}

func TestAnOrderNamesWhatIsWrongWithIt(t *testing.T) {
	good := func() isolated.Order {
		return isolated.Order{Action: "a", Type: isolated.TestRun, Argv: []string{"go", "test"},
			TimeoutSeconds: 600, Deadline: time.Unix(1, 0)}
	}
	tests := map[string]func(*isolated.Order){
		"":                                 func(*isolated.Order) {},
		"action is missing":                func(o *isolated.Order) { o.Action = "" },
		"timeout_seconds is 601":           func(o *isolated.Order) { o.TimeoutSeconds = 601 },
		"timeout_seconds is 0":             func(o *isolated.Order) { o.TimeoutSeconds = 0 },
		"deadline is missing":              func(o *isolated.Order) { o.Deadline = time.Time{} },
		"type \"code_generate\" runs in":   func(o *isolated.Order) { o.Type = "code_generate" },
		"test_run takes argv":              func(o *isolated.Order) { o.Argv = nil },
		"test_run takes argv, and":         func(o *isolated.Order) { o.Script = "x" },
		"shell_command takes script":       func(o *isolated.Order) { o.Type = isolated.ShellCommand },
		"argv has 257 elements":            func(o *isolated.Order) { o.Argv = make([]string, 257); o.Argv[0] = "x" },
		"argv has 1 elements and 131074 b": func(o *isolated.Order) { o.Argv = []string{strings.Repeat("x", 131073)} },
		"script has 65537 bytes": func(o *isolated.Order) {
			o.Type, o.Argv, o.Script = isolated.ShellCommand, nil, strings.Repeat("x", 65537)
		},
	}
	for want, change := range tests {
		t.Run(want, func(t *testing.T) {
			o := good()
			change(&o)
			err := o.Validate()
			expect.That(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)), "got %v", err)
		})
	}
}

// What a model is told of programs is what commands find: each can be started from the folders that are searched, and
// none that is there is left out.
func TestAModelIsToldWhatIsInstalled(t *testing.T) {
	told := ", " + isolated.Programs() + ","
	t.Setenv("PATH", isolated.Searched)
	for _, name := range []string{"bash", "gcc", "git", "go", "jq", "node", "perl", "python3"} {
		path, err := exec.LookPath(name)
		if err == nil {
			path = expect.Value(filepath.EvalSymlinks(path))(t)
		}
		found := slices.ContainsFunc(isolated.Tools, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
		expect.Is(t, strings.Contains(told, ", "+name+","), found, "%s, found at %q, is told", name, path)
	}
	expect.Has(t, isolated.Installed("git, python3"),
		"sh, the usual small programs of Linux, and git, python3. There is no network")
	expect.That(t, strings.Contains(isolated.Installed(""), "Node.js 24") && isolated.Runtime == "nodejs24.x",
		"in Lambda: %s", isolated.Installed(""))
}
