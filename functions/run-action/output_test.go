package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
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
	expect.That(t, x.Lines == 10000 && x.Dropped == 9979, "%d lines, %d dropped", x.Lines, x.Dropped)
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == 21 && log[19].Order == 19 && log[20].Order == 9999 && log[20].Text == "late 10000", "%+v",
		log[len(log)-1])
	told := w.Newest().Content
	for _, want := range []string{"10,000 lines", "Not kept: 9,979.", "\n20: early 20\n10000: late 10000"} {
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
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == conversation.MostLines && log[0].Order == 200 && x.Dropped == 200,
		"%d lines from %d, not kept: %d", len(log), log[0].Order, x.Dropped)
	told := w.Newest().Content
	expect.Has(t, told, "Not kept: 200. The last ones")
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
	log := expect.Value(w.Rows.Log(t.Context(), w.Ref, x.ActionID, 0))(t)
	expect.That(t, len(log) == 10 && log[0].Order == 500 && x.Lines == 510 && x.Dropped == 500,
		"%d lines, not kept: %d", len(log), x.Dropped)
}

// The agent's part of the output has whole lines, each after its number, within its limit.
func TestTheEndOfTheOutputHasWholeLines(t *testing.T) {
	long := strings.Repeat("あ", isolated.MaxLine/3)
	l := &lines{last: []isolated.Line{{Number: 7, Text: strings.Repeat("s", 99)}, {Number: 9, Text: long}}}
	text := l.tail()
	expect.That(t, text == "9: "+long && len(text) <= mostTail, "%d bytes", len(text))
	l.last = nil
	for i := range 200 {
		l.last = append(l.last, isolated.Line{Number: i + 1, Text: strings.Repeat("x", 300)})
	}
	text = l.tail()
	all := strings.Split(text, "\n")
	from := 200 - len(all) + 1
	expect.That(t, len(text) <= mostTail && strings.HasPrefix(all[0], fmt.Sprint(from, ": xxx")) &&
		slices.Min(lengths(all)) > 300, "%d lines from %d", len(all), from)
	l.last = nil
	expect.Is(t, l.tail(), "", "of nothing")
	l.last = []isolated.Line{{Number: 3}, {Number: 7}, {Number: 8}}
	expect.Is(t, l.tail(), "3: \n7: \n8: ", "with a gap")
}

func lengths(all []string) (out []int) {
	for _, s := range all {
		out = append(out, len(s))
	}
	return out
}
