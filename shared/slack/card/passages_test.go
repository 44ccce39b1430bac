package card

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestAPageShowsCodeAsItIs(t *testing.T) {
	for text, want := range map[string][]Passage{
		"a `2**3` ~b~\n\n```go\n\tx[1:n:2]\n```\nc": {{Text: "a "}, {Text: "2**3", Code: true}, {Text: " ~b~"}, {Text: "\tx[1:n:2]\n", Block: true}, {Text: "c"}},
		"␚ `a`␚ ✅":        {{Text: "␚ "}, {Text: "a", Code: true}, {Text: "␚ ✓"}},
		"`a\u202e`\u202e": {{Text: ""}, {Text: "a⟨U+202E⟩", Code: true}},
		" \u200b\n ":      nil,
		"**a** # b":       {{Text: "**a** # b"}},
	} {
		if diff := cmp.Diff(want, Passages(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestAPageShowsAnAnswersBoldText(t *testing.T) {
	for text, want := range map[string][]Passage{
		"には**ありません**。": {{Text: "には"}, {Text: "ありません", Strong: true}, {Text: "。"}},
		"**「x」**は `**y**` **`z` と** 2**3 a_b *c*": {{Text: ""}, {Text: "「x」", Strong: true}, {Text: "は "}, {Text: "**y**", Code: true},
			{Text: " "}, {Text: "z", Code: true, Strong: true}, {Text: " と", Strong: true}, {Text: " 2**3 a_b *c*"}},
		"**a**␚**b␚**\n**c": {{Text: ""}, {Text: "a", Strong: true}, {Text: "␚"}, {Text: "b␚", Strong: true}, {Text: "\n**c"}},
	} {
		if diff := cmp.Diff(want, Answered(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
	expect.Same(t, []Passage{{Text: "には**ありません**。"}}, Passages("には**ありません**。"))
}

// A page has the same code as a card.
func TestPagesAndCardsFindTheSameCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		var got, want []string
		for _, p := range Answered(text) {
			if p.Code || p.Block && strings.TrimSpace(p.Text) != "" {
				got = append(got, strings.Trim(p.Text, " \t\n"))
			}
			expect.That(t, !strings.ContainsAny(p.Text, "\u202e\ue000\ue001\ue002\ue003\ue004"), "%q of %q", p.Text, text)
		}
		for _, p := range legible.MarkdownPieces(strings.TrimRight(text, " \t\n")) {
			code := legible.Code(p.Text)
			if p.Kind == legible.Span {
				code = strings.ReplaceAll(code, "\n", " ")
			}
			if p.Kind == legible.Span || p.Kind == legible.Block && strings.TrimSpace(code) != "" {
				want = append(want, strings.Trim(code, " \t\n"))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q:\n%s", text, diff)
		}
	})
}
