package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

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
			o := &output{}
			o.read(iotest.OneByteReader(strings.NewReader(tt.text)), false)
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
	o.read(strings.NewReader(text.String()), false)
	first := lines(t, o, false)
	if len(first) != maxAtOnce || first[0].Text != "1500" || first[0].Number != 1501 {
		t.Errorf("%d lines at once, from %+v", len(first), first[0])
	}
	rest := lines(t, o, true)
	if dropped, _ := o.summary(); dropped != 1500 || len(rest) != maxWaiting-maxAtOnce ||
		rest[len(rest)-1].Text != "1999" {
		t.Errorf("%d dropped, %d sent at the end", dropped, len(rest))
	}
	// The limit in bytes: 500 lines of 8 KiB would be 4 MiB.
	o.read(strings.NewReader(strings.Repeat(strings.Repeat("x", isolated.MaxLine-1)+"\n", 500)), false)
	expect.Is(t, len(lines(t, o, false)), 2, "lines of 8 KiB at once")
	got := lines(t, o, true)
	expect.That(t, len(got)*isolated.MaxLine <= maxWaitingBytes+isolated.MaxLine, "%d lines of 8 KiB waited", len(got))
}

// planned is an order of several commands, each with ten seconds.
func (s *store) planned(scripts ...string) isolated.Order {
	o := s.order("")
	o.TimeoutSeconds = 0
	for _, script := range scripts {
		o.Commands = append(o.Commands, isolated.Command{Script: script, TimeoutSeconds: 10})
		o.TimeoutSeconds += 10
	}
	return o
}

// told is what an outcome says, without times: each beginning and line, and each command's end.
func (o outcome) told() (lines []string, ran []isolated.Ran) {
	for _, l := range o.lines {
		text := l.Text
		if l.Begins > 0 {
			text = "begins " + string(rune('0'+l.Begins))
		}
		lines = append(lines, text)
	}
	for _, r := range o.end.Ran {
		r.Millis = 0
		ran = append(ran, r)
	}
	return lines, ran
}

// Each command of a plan begins after all of the one before it has ended, in the files that this one left.
func TestAPlanRunsOneCommandAfterAnother(t *testing.T) {
	t.Parallel()
	inBox(t, func(t *testing.T, l level) {
		s := newStore(t)
		got := run(t, l, s.planned(`printf one > a; echo first; printf unfinished; (sleep 60; echo late > late) &`,
			`cat a; cat /proc/self/oom_score_adj 2>&1; mv ../workspace ../other 2>/dev/null; true`, `cat a; printf three > c`))
		expect.NoError(t, got.err)
		lines, ran := got.told()
		expect.Same(t, []string{"begins 1", "first", "unfinished", "begins 2", "one1000", "begins 3", "one"}, lines)
		expect.Same(t, []isolated.Ran{{Lines: 2}, {Lines: 1}, {Lines: 1}}, ran)
		expect.That(t, got.end.ExitCode == 0 && got.end.Limit == "" && got.took < 20*time.Second, "%+v after %s", got.end,
			got.took)
		expect.Same(t, []string{"a", "c"}, s.after(t).Paths())
	})
}

func TestAPlanStopsAtTheFirstCommandThatFails(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	second := func(o isolated.Order, script string, seconds int) isolated.Order {
		o.TimeoutSeconds += seconds - o.Commands[1].TimeoutSeconds
		o.Commands[1] = isolated.Command{Script: script, TimeoutSeconds: seconds}
		return o
	}
	for name, tt := range map[string]struct {
		script  string
		seconds int // the start of its process counts, which takes more than one on a busy machine
		want    isolated.End
	}{
		"its code": {"exit 3", 10, isolated.End{ExitCode: 3, Ran: []isolated.Ran{{}, {ExitCode: 3}}}},
		"a signal": {"kill -KILL $$", 10, isolated.End{ExitCode: -1, Signal: "SIGKILL",
			Ran: []isolated.Ran{{}, {ExitCode: -1, Signal: "SIGKILL"}}}},
		"its own time": {"sleep 30", 3, isolated.End{ExitCode: -1, Signal: "SIGTERM", TimedOut: true,
			Ran: []isolated.Ran{{}, {ExitCode: -1, Signal: "SIGTERM", TimedOut: true}}}},
		"time that it outlasts": {"trap 'exit 0' TERM; sleep 30 & wait", 3,
			isolated.End{TimedOut: true, Ran: []isolated.Ran{{}, {TimedOut: true}}}},
		"no such tool": {"nosuchtool", 10, isolated.End{ExitCode: 127, Missing: "nosuchtool",
			Ran: []isolated.Ran{{}, {ExitCode: 127, Lines: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			inBox(t, func(t *testing.T, l level) {
				got := run(t, l, second(s.planned("echo x > first", "", "echo x > third"), tt.script, tt.seconds))
				expect.NoError(t, got.err)
				expect.Same(t, []string{"first"}, s.after(t).Paths())
				_, ran := got.told()
				got.end.Held, got.end.Version, got.end.Ran = nil, "", ran
				expect.Same(t, tt.want, got.end)
			})
		})
	}
}

// A cancellation ends a plan for good, also one that ends a command with success.
func TestACancelledPlanGoesNoFurther(t *testing.T) {
	t.Parallel()
	inBox(t, func(t *testing.T, l level) {
		s := newStore(t)
		time.AfterFunc(500*time.Millisecond, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.cancelled = true
		})
		got := run(t, l, s.planned("true", "trap 'exit 0' TERM; sleep 9 & wait", "echo third"))
		expect.NoError(t, got.err)
		expect.That(t, got.end.Cancelled && len(got.end.Ran) == 2 && !strings.Contains(got.text(), "third") &&
			s.uploaded == nil,
			"%+v %q", got.end, got.text())
	})
}

// The time of a claim bounds all commands together.
func TestAPlanEndsWithItsClaim(t *testing.T) {
	t.Parallel()
	inBox(t, func(t *testing.T, l level) {
		s := newStore(t)
		o := s.planned("sleep 1", "sleep 20", "echo third")
		o.Deadline = time.Now().Add(reserve + 6*time.Second) // also on a busy machine the second command begins
		got := run(t, l, o)
		expect.NoError(t, got.err)
		expect.That(t, got.end.TimedOut && len(got.end.Ran) == 2 && got.end.Version != "" && got.took < 15*time.Second,
			"%+v after %s",
			got.end, got.took)
	})
}
