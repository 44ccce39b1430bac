package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
	"ringi/shared/store/storetest"
)

// broken is a store whose output can't be saved for a while.
type broken struct {
	Store
	left int
}

func (b *broken) AppendLog(ctx context.Context, ref aggregate.Ref, action string, lines []conversation.LogEntry,
	gone []int) error {
	if b.left--; b.left >= 0 {
		return errors.New("the table is away")
	}
	return b.Store.AppendLog(ctx, ref, action, lines, gone)
}

// testFlood: the first lines came, then so many at once that the sandbox dropped most of them.
func testFlood(t *testing.T, w *world) {
	for i := range 20 {
		w.box.lines = append(w.box.lines, fmt.Sprint("early ", i+1))
	}
	w.box.lines = append(w.box.lines, "late 10000")
	w.box.dropped, w.box.end = 9979, isolated.End{Dropped: 9979}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Lines == 10000 && x.Dropped == 9979 && x.NotKept() == "21–9,999", "%d lines, %d dropped: %s", x.Lines,
		x.Dropped, x.NotKept())
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref.Tenant, x.ActionID, 0))(t)
	expect.That(t, len(log) == 21 && log[19].Order == 19 && log[20].Order == 9999 && log[20].Text == "late 10000", "%+v",
		log[len(log)-1])
	told := w.Newest().Content
	for _, want := range []string{"10,000 lines", "Lines 21–9,999 are not kept", "\n20: early 20\n10000: late 10000"} {
		expect.Has(t, told, want)
	}
}

// testManyLines: of the lines that came, the newest are kept, and the agent sees the last of these.
func testManyLines(t *testing.T, w *world) {
	for i := range 700 {
		w.box.lines = append(w.box.lines, fmt.Sprint("line ", i+1))
	}
	expect.Value(w.handle())(t)
	x := w.action()
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref.Tenant, x.ActionID, 0))(t)
	expect.That(t, len(log) == conversation.MostLines && log[0].Order == 200 && x.Dropped == 200 && x.NotKept() == "1–200",
		"%d lines from %d, not kept: %s", len(log), log[0].Order, x.NotKept())
	told := w.Newest().Content
	expect.Has(t, told, "You are not shown lines 201–640.")
	expect.Has(t, told, "\n641: line 641\n")
}

// testUnsaved: output that couldn't be saved is said to be missing, and the lines after it have their numbers.
func testUnsaved(t *testing.T, w *world) {
	w.Handler.Store = &broken{w.Handler.Store, 1}
	for i := range 510 {
		w.box.lines = append(w.box.lines, fmt.Sprint("line ", i+1))
	}
	expect.Value(w.handle())(t)
	x := w.action()
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref.Tenant, x.ActionID, 0))(t)
	expect.That(t, len(log) == 10 && log[0].Order == 500 && x.Lines == 510 && x.NotKept() == "1–500",
		"%d lines, not kept: %s",
		len(log), x.NotKept())
}

// The agent's part of the output has whole lines, each after its number, within its limit.
func TestTheEndOfTheOutputHasWholeLines(t *testing.T) {
	long := strings.Repeat("あ", isolated.MaxLine/3)
	l := &lines{last: []isolated.Line{{Number: 7, Text: strings.Repeat("s", 99)}, {Number: 9, Text: long}}}
	text, shown := l.tail()
	expect.That(t, fmt.Sprint(shown) == "[{9 9}]" && text == "9: "+long && len(text) <= mostTail, "%d bytes of %v",
		len(text), shown)
	l.last = nil
	for i := range 200 {
		l.last = append(l.last, isolated.Line{Number: i + 1, Text: strings.Repeat("x", 300)})
	}
	text, shown = l.tail()
	all := strings.Split(text, "\n")
	from := 200 - len(all) + 1
	expect.That(t, slices.Equal(shown, []conversation.Lines{{From: from, To: 200}}) && len(text) <= mostTail &&
		strings.HasPrefix(all[0], fmt.Sprint(from, ": xxx")) &&
		slices.Min(lengths(all)) > 300, "%d lines from %d", len(all), from)
	l.last = nil
	text, shown = l.tail()
	expect.That(t, text == "" && shown == nil, "of nothing: %q of %v", text, shown)
	l.last = []isolated.Line{{Number: 3}, {Number: 7}, {Number: 8}}
	_, shown = l.tail()
	expect.Is(t, fmt.Sprint(shown), "[{3 3} {7 8}]", "with a gap")
}

func lengths(all []string) (out []int) {
	for _, s := range all {
		out = append(out, len(s))
	}
	return out
}

var several = conversation.Payload{Commands: []conversation.Command{
	{Script: "make", TimeoutSeconds: 60}, {Script: "make test", TimeoutSeconds: 120},
	{Script: "make report", TimeoutSeconds: 20}}}

// row returns what the action's row says of its commands, without times.
func (w *world) row() (ran []conversation.Ran) {
	w.T.Helper()
	for _, r := range w.action().Commands {
		expect.Must(w.T, !r.StartedAt.IsZero(), "%+v", r)
		r.StartedAt, r.Millis = time.Time{}, 0
		ran = append(ran, r)
	}
	return ran
}

// One yes covers all commands: one claim for their times together, one order, one version of the files at the end.
func TestSeveralCommandsAreOneAction(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, several)
	w.box.lines, w.box.begins = []string{"a", "b", "c", "d"}, map[int]int{0: 1, 2: 2, 3: 3}
	w.box.end = isolated.End{Version: "x", Ran: []isolated.Ran{{Lines: 2, Millis: 1500}, {Lines: 1}, {Lines: 1}}}
	w.archives.uploaded = expect.Value((&files.Tree{}).Apply([]files.File{{Path: "out", Content: "x"}}))(t)
	for range 3 {
		expect.Value(w.handle())(t)
	}
	x, zero := w.action(), 0
	expect.Must(t, x.Status == conversation.ActionSucceeded && w.box.ran == 1 && x.Version != "" && x.ExitCode == nil,
		"%+v", x)
	expect.That(t, x.TimeoutSeconds == 200 && x.Claim.LeaseUntil.Equal(w.now.Add(200*time.Second+leaseSpare)),
		"%+v", x.Claim)
	expect.Same(t, []conversation.Ran{
		{From: 1, Lines: 2, Over: true, ExitCode: &zero}, {From: 3, Lines: 1, Over: true, ExitCode: &zero},
		{From: 4, Lines: 1, Over: true, ExitCode: &zero}}, w.row())
	o := w.box.orders[0]
	expect.That(t, o.Script == "" && o.TimeoutSeconds == 200 && len(o.Commands) == 3 && o.Validate() == nil &&
		o.Commands[1] == isolated.Command{Script: "make test", TimeoutSeconds: 120}, "%+v", o)
	expect.Has(t, w.Newest().Content, "Command 1: exit code 0 · 1.5 s · lines 1–2 of the output\nCommand 2: exit code 0")
}

// What one command prints doesn't push out what another printed: people and the agent see the end of each.
func TestEachCommandKeepsItsPartOfTheOutput(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, several)
	for i := range 5 {
		w.box.lines = append(w.box.lines, fmt.Sprint("first ", i+1))
	}
	for i := range 1409 {
		w.box.lines = append(w.box.lines, fmt.Sprint("second ", i+6))
	}
	for i := range 400 {
		w.box.lines = append(w.box.lines, fmt.Sprint("third ", i+1415))
	}
	w.box.begins = map[int]int{0: 1, 5: 2, 1414: 3}
	w.box.end = isolated.End{Ran: []isolated.Ran{{Lines: 5}, {Lines: 1409}, {Lines: 400}}}
	expect.Value(w.handle())(t)
	x := w.action()
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref.Tenant, x.ActionID, 0))(t)
	expect.Must(t, len(log) == conversation.MostLines, "%d lines", len(log))
	var per [4]int
	for i, l := range log {
		word, n, _ := strings.Cut(l.Text, " ")
		expect.Must(t, n == fmt.Sprint(l.Order+1) && (i == 0 || log[i-1].Order < l.Order), "line %d is %q", l.Order, l.Text)
		per[map[string]int{"first": 1, "second": 2, "third": 3}[word]]++
	}
	expect.Same(t, [4]int{0, 5, 166, 329}, per)
	expect.That(t, x.NotKept() == "6–1,248, 1,415–1,485" && x.Lines == 1814 && x.Dropped == 1314, "not kept: %s of %d",
		x.NotKept(), x.Lines)
	told := w.Newest().Content
	for _, want := range []string{"\n5: first 5\n", "\n1414: second 1414\n", "\n1814: third 1814"} {
		expect.Has(t, told, want)
	}
}

func TestTheRowSaysWhichCommandsRan(t *testing.T) {
	server, zero, two := storetest.Start(t), 0, 2
	done := conversation.Ran{From: 1, Lines: 1, Over: true, ExitCode: &zero}
	for name, tt := range map[string]struct {
		begins map[int]int
		end    isolated.End
		err    error
		want   []conversation.Ran
		why    aggregate.Reason
		told   string
	}{
		"the second fails": {map[int]int{0: 1, 1: 2}, isolated.End{ExitCode: 2,
			Ran: []isolated.Ran{{Lines: 1}, {ExitCode: 2, Lines: 1}}}, nil,
			[]conversation.Ran{done, {From: 2, Lines: 1, Over: true, ExitCode: &two}}, conversation.ReasonExit,
			"Command 3: not run"},
		"the second is too slow": {map[int]int{0: 1, 1: 2},
			isolated.End{ExitCode: -1, Signal: "SIGTERM", TimedOut: true,
				Ran: []isolated.Ran{{Lines: 1}, {ExitCode: -1, Signal: "SIGTERM", TimedOut: true, Lines: 1}}}, nil,
			[]conversation.Ran{done, {From: 2, Lines: 1, Over: true, Signal: "SIGTERM", TimedOut: true}},
			conversation.ReasonTimeout, "Time limit: 120 s"},
		"it ends before the third": {map[int]int{0: 1, 1: 2}, isolated.End{Ran: []isolated.Ran{{Lines: 1}, {Lines: 1}}}, nil,
			[]conversation.Ran{done, {From: 2, Lines: 1, Over: true, ExitCode: &zero}}, conversation.ReasonUnfinished,
			"Command 3: not run"},
		"the box speaks of a command that nobody saw begin": {map[int]int{0: 1},
			isolated.End{Ran: []isolated.Ran{{Lines: 1}, {}, {}}}, nil,
			[]conversation.Ran{done}, conversation.ReasonUnfinished, "Command 2: not run"},
		"the box is gone": {map[int]int{0: 1, 1: 2}, isolated.End{}, errors.New("the stream broke off"),
			[]conversation.Ran{done, {From: 2}}, conversation.ReasonUnknown,
			"Command 2: started, outcome unknown"},
		"the box was gone at once": {nil, isolated.End{}, errors.New("the stream broke off"), nil,
			conversation.ReasonUnknown, "is unknown"},
		"the third begins first": {map[int]int{0: 3}, isolated.End{Ran: []isolated.Ran{{}, {}, {}}}, nil, nil,
			conversation.ReasonUnknown, "is unknown"},
	} {
		w := approved(t, server, conversation.ShellCommand, several)
		w.box.lines, w.box.begins, w.box.end, w.box.err = []string{"a", "b"}, tt.begins, tt.end, tt.err
		for range 3 {
			_, _ = w.handle()
		}
		x := w.action()
		if x.Status != conversation.ActionFailed || x.Error != tt.why || w.box.ran != 1 ||
			(x.Outcome == conversation.OutcomeUnknown) != (tt.why == conversation.ReasonUnknown) {
			t.Errorf("%s: %+v after %d runs", name, x, w.box.ran)
		}
		expect.Same(t, tt.want, w.row())
		if told := w.Newest().Content; !strings.Contains(told, tt.told) {
			t.Errorf("%s: the agent is told %q", name, told)
		}
	}
}

// If this function is gone in the middle, its row says which commands had begun.
func TestACrashLeavesWhichCommandsHadBegun(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, several)
	w.box.lines, w.box.begins = []string{"a", "b"}, map[int]int{0: 1, 1: 2}
	w.box.running = func() {
		for len(w.action().Commands) < 2 {
			time.Sleep(5 * time.Millisecond)
		}
		panic("the environment is gone")
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = w.handle()
	}()
	w.now = w.now.Add(time.Hour)
	w.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.Crashed(w.now) })
	x, zero := w.action(), 0
	expect.That(t, x.Outcome == conversation.OutcomeUnknown && w.box.ran == 1, "%+v", x)
	expect.Same(t, []conversation.Ran{{From: 1, Lines: 1, Over: true, ExitCode: &zero}, {From: 2}}, w.row())
	expect.That(t, !strings.Contains(w.Newest().Content, "Command 3"), "%q", w.Newest().Content)
}

// What can't be written into the row while the commands run holds up none of them.
func TestProgressThatCantBeKeptStopsNothing(t *testing.T) {
	w := approved(t, storetest.Start(t), conversation.ShellCommand, several)
	w.box.lines, w.box.begins = []string{"a", "b", "c"}, map[int]int{0: 1, 1: 2, 2: 3}
	w.box.end = isolated.End{Ran: []isolated.Ran{{Lines: 1}, {Lines: 1}, {Lines: 1}}}
	w.box.running = func() { // somebody cancels
		w.Cancel()
	}
	expect.Value(w.handle())(t)
	x := w.action()
	expect.That(t, x.Status == conversation.ActionCancelled && x.Late != nil &&
		x.Late.Status == conversation.ActionSucceeded && len(x.Commands) == 3,
		"%+v", x)
}
