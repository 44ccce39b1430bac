package card

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// The first text is what the model wrote, the second what Slack's markdown block gets.
func TestAnAnswerIsWrittenForSlacksMarkdown(t *testing.T) {
	for name, x := range map[string][2]string{
		"decorators": {"```python\n@app.route(\"/\")\n@here\n\tf()\n```", "```python\n@app.route(\"/\")\n@here\n\tf()\n```"},
		"signs within a line": {"`npm i @types/node` と `git reset HEAD~1`、`~/.bashrc`",
			"`npm i @types/node` と `git reset HEAD~1`、`~/.bashrc`"},
		"code that mentions": {"`<@U1>` `<!channel>` `@here`", "`&lt;@U1>` `&lt;!channel>` `@here`"},
		"people": {"<@U123> <!channel> <!here|x> @here @U1",
			"&lt;@U123> &lt;!channel> &lt;!here|x> @\u2060here @U1"},
		"names of emoji":      {"`:x:` :x:", "`:x:` :\u2060x:"},
		"a fence within":      {"````md\n```go\nx\n```\n````", "````md\n```go\nx\n```\n````"},
		"two backticks":       {"`` a`b `` and `` ` ``", "``a`b`` and `` ` ``"},
		"a fence without end": {"はい\n```py\n2**3", "はい\n```py\n2**3\n```"},
		"what hides":          {"`a\u202eb\u200bc\u2028d` x\u202ey", "`a⟨U+202E⟩b⟨U+200B⟩c⟨U+2028⟩d` xy"},
		"marks of Ringi":      {"✅ `✅`", "✓ `✅`"},
		"its own formatting":  {"# 見出し\n\n**太字** _斜体_\n- a\n- b\n> 引用", "# 見出し\n\n**太字** _斜体_\n- a\n- b\n> 引用"},
		"a backtick alone":    {"\\`x\\` a ` b ~~c~~", "｀x｀ a ｀ b ～～c～～"},
		"a tag":               {"<b>x</b> &lt;", "&lt;b>x&lt;/b> &amp;lt;"},
		"a link":              {"[the invoice](https://example.com/x)", "[the invoice]\u2060(https://example.com/x)"},
		"a picture":           {"![](https://example.com/?q=1)", "![]\u2060(https://example.com/?q=1)"},
		"a reference":         {"[a][1]\n\n[1]: https://e.example/", "[a]\u2060[1]\n\n[1]\u2060: https://e.example/"},
		"a hidden escape": {"\\\u200b`[the invoice](https://e.example/)`",
			"\\\u2060`[the invoice]\u2060(https://e.example/)`"},
		"a cell that cuts code": {"| `x | [the invoice](https://e.example/) | y` |",
			"| `x | [the invoice]\u2060(https://e.example/) | y` |"},
		"an address": {"see https://example.com/x", "see https://example.com/x"},
	} {
		expect.Is(t, said(x[0]), x[1], "%s: %q", name, x[0])
	}
	expect.That(t, units(said(strings.Repeat("](", 11_000))) <= maxMarkdown, "Slack would refuse it")
}

// A text of any piece, of which some close code that the text around them opened.
func anyAnswer(t *rapid.T) string {
	bits := []string{"`", "``", "```", "````", "\n```\n", "\n```go\n", "~~~", "\n", "\n\n", "    ", " ", "\t", "- ",
		"1. ", "> ", "# ", "a", "b ", "漢字。", "\\", "**", "*", "_",
		"~", "---", "\r\n", "<@U123>", "<!channel>", "@here", ":x:", "://e.example/", "](", "]", "[", "&lt;", "|", "␚",
		"\u202e", "\u200b", "\ue000", "\ue001", "\u2060", "✅", "❤\ufe0f", "\u2028", "=", "&"}
	if rapid.Bool().Draw(t, "any") {
		return rapid.String().Draw(t, "text")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 40).Draw(t, "bits"), "")
}

// The block has the code that the answer has, and nothing around it mentions, links or hides.
func TestAnAnswerNotifiesNobodyAndHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		out := said(text)
		around := ""
		for _, p := range legible.MarkdownPieces(out) {
			if p.Kind == legible.Prose {
				around += p.Text + "|"
			}
		}
		for _, bad := range []string{"<", "@here", ":x:", "\u202e", "\u200b", "✅", "](", "][", "]:", "`"} {
			expect.Must(t, !strings.Contains(around, bad), "%q of %q has %q", out, text, bad)
		}
		for _, bad := range []string{"<@", "<!", "\u202e", "\u200b"} {
			expect.Must(t, !strings.Contains(out, bad), "%q of %q has %q", out, text, bad)
		}
	})
}

func TestAPageShowsCodeAsItIs(t *testing.T) {
	for text, want := range map[string][]legible.Passage{
		"a `2**3` ~b~\n\n```go\n\tx[1:n:2]\n```\nc": {{Text: "a "}, {Text: "2**3", Code: true}, {Text: " ～b～"},
			{Text: "\tx[1:n:2]\n", Block: true}, {Text: "c"}},
		"`a\u202e`\u202e": {{Text: "a⟨U+202E⟩", Code: true}},
		" \u200b\n ":      nil,
		"**a** # b":       {{Text: "**a** # b"}},
	} {
		diff := cmp.Diff(want, legible.Passages(text))
		expect.That(t, diff == "", "%q:\n%s", text, diff)
	}
}

func TestAPageShowsAnAnswersBoldText(t *testing.T) {
	for text, want := range map[string][]legible.Passage{
		"には**ありません**。": {{Text: "には"}, {Text: "ありません", Strong: true}, {Text: "。"}},
		"**「x」**は `**y**` 2**3 a_b *c*": {{Text: "「x」", Strong: true}, {Text: "は "}, {Text: "**y**", Code: true},
			{Text: " 2**3 a_b *c*"}},
		"**a**b\n**c": {{Text: "a", Strong: true}, {Text: "b\n**c"}},
	} {
		diff := cmp.Diff(want, legible.Answered(text))
		expect.That(t, diff == "", "%q:\n%s", text, diff)
	}
	expect.Same(t, []legible.Passage{{Text: "には**ありません**。"}}, legible.Passages("には**ありません**。"))
}

// A page has the same code as a card.
func TestPagesAndCardsFindTheSameCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		var got, want []string
		for _, p := range legible.Answered(text) {
			if p.Code || p.Block && strings.TrimSpace(p.Text) != "" {
				got = append(got, strings.Trim(p.Text, " \t\n"))
			}
			expect.That(t, !strings.Contains(p.Text, "\u202e"), "%q of %q", p.Text, text)
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
		diff := cmp.Diff(want, got)
		expect.Must(t, diff == "", "%q:\n%s", text, diff)
	})
}

func TestEachLanguageHasAllTexts(t *testing.T) {
	expect.Whole[words](t, embedded, "texts/cards")
	expect.Whole[conversationWords](t, embedded, "texts/conversations")
	expect.Whole[askWords](t, embedded, "texts/asks")
	expect.Whole[contestTexts](t, embedded, "texts/contests")
	expect.Whole[returnedWords](t, embedded, "texts/returned")
	expect.Whole[callWords](t, embedded, "texts/calls")
}

func TestSentenceShowsItsDetailAndNothingElse(t *testing.T) {
	got := Sentence("ja", task.ReasonToolFailed, "<!channel>\n*x*", explain.RetryRun)
	expect.Has(t, got, "失敗しました (&lt;!channel&gt; ＊x＊)。")
	got = Sentence("ja", task.ReasonToolFailed, strings.Repeat("x", 10000), explain.NoRetry)
	expect.That(t, len(got) <= 1000, "a long detail is not cut: %d bytes", len(got))
}
