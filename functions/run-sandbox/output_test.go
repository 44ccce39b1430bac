package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
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
	expect.That(t, len(first) == maxAtOnce && first[0].Text == "1500" && first[0].Number == 1501,
		"%d lines at once, from %+v", len(first), first[0])
	rest := lines(t, o, true)
	expect.That(t, o.lost() == 1500 && len(rest) == maxWaiting-maxAtOnce && rest[len(rest)-1].Text == "1999",
		"%d dropped, %d sent at the end", o.lost(), len(rest))
	// The limit in bytes: 500 lines of 8 KiB would be 4 MiB.
	o.read(strings.NewReader(strings.Repeat(strings.Repeat("x", isolated.MaxLine-1)+"\n", 500)), false)
	expect.Is(t, len(lines(t, o, false)), 2, "lines of 8 KiB at once")
	got := lines(t, o, true)
	expect.That(t, len(got)*isolated.MaxLine <= maxWaitingBytes+isolated.MaxLine, "%d lines of 8 KiB waited", len(got))
}
