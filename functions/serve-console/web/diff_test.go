package web

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
)

// For any texts, the lines that were not added are the first text, and those that were not removed the second.
func TestADifferenceHasBothTexts(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c", "同じ", "- x"}), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		before, after := strings.Join(lines.Draw(t, "before"), "\n"), strings.Join(lines.Draw(t, "after"), "\n")
		var was, is []string
		for _, l := range Diff(before, after) {
			if l.Change != Added {
				was = append(was, l.Text)
			}
			if l.Change != Removed {
				is = append(is, l.Text)
			}
		}
		if strings.Join(was, "\n") != before || strings.Join(is, "\n") != after {
			t.Fatalf("%q to %q is %v", before, after, Diff(before, after))
		}
	})
}

func TestADifferenceIsTheFewestLines(t *testing.T) {
	expect.Same(t, []Line{{Same, "a"}, {Removed, "b"}, {Same, "c"}, {Added, "x"}, {Same, "d"}}, Diff("a\nb\nc\nd", "a\nc\nx\nd"))
	for _, l := range Diff("同じ\n本文", "同じ\n本文") {
		expect.That(t, l.Change == Same, "%+v of two that are the same", l)
	}
	long := strings.Repeat("x\n", 5000)
	expect.Within(t, 3*time.Second, func() {
		n := len(Diff("a\n"+long+"b", "c\n"+strings.Repeat("y\n", 5000)+"d"))
		expect.That(t, n >= 10000, "%d lines", n)
	})
	alike := strings.Repeat("\nx", 40_000)
	expect.Within(t, 3*time.Second, func() {
		if lines := Diff("a"+alike, "b"+alike); len(lines) != 40_002 || lines[1].Change != Added || lines[40_001] != (Line{Same, "x"}) {
			t.Errorf("%d lines with the same end", len(lines))
		}
	})
}

// Prompts repeat what cards mask.
func TestWhatModelsWereSentIsMasked(t *testing.T) {
	parts, left := Parts([]byte(`{"system":"一行目\n二行目","messages":[{"content":"tanaka@example.com \u200b"}],"max_tokens":100,"seed":null}`))
	expect.Same(t, []Part{{"max_tokens", "100"}, {"messages › 1 › content", "t*****@example.com ⟨U+200B⟩"}, {"system", "一行目\n二行目"}}, parts)
	expect.That(t, left == 0, "%d are left out", left)
	if _, left := Parts([]byte(`["` + strings.Repeat("x", maxSent) + `","y"]`)); left != 1 {
		t.Errorf("%d are left out", left)
	}
}
