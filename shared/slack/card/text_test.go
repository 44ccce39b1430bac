package card

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestInlineCannotForge(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain words stay", "勤怠　集計 list_employees", "勤怠　集計 list_employees"},
		{"control characters", "<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"},
		{"a second line", "title\n✅ 2. done\r\nx\u2028y", "title ✓ 2. done x y"},
		{"bold, code and strike", "a* b *c* `d` ~e~", "a＊ b ＊c＊ ｀d｀ ～e～"},
		{"italics, but no name with underscores", "_a_ b_c", "＿a＿ b_c"},
		{"a name in double underscores", "__pycache__ __a_", "__pycache__ __a＿"},
		{"a link", "<https://evil.example|safe> https://x", "&lt;https:\u2060//evil.example|safe&gt; https:\u2060//x"},
		{"words that call everybody", "@channel @here @Everyone @yamada",
			"@\u2060channel @\u2060here @\u2060Everyone @yamada"},
		{"reading direction", "\u202egnp.exe\u2066\u200f", "gnp.exe"},
		{"right to left is isolated", "שלום x", "\u2068שלום x\u2069"},
		{"nothing to see", "\u200b\u200d\u00a0 \t\n\ufe0f", ""},
		{"joined emoji stay whole", "👩‍👩‍👧 ok", "👩‍👩‍👧 ok"},
		{"invalid UTF-8", "a\xff\xfeb", "a\ufffdb"},
		{"our marks", "✅ 承認 ✔️ ☑ ❌ ⏹️ 🔄 ⌛ 🎉", "✓ 承認 ✓\ufe0f ✓ ✗ ■\ufe0f ↻ ・ 🎉"},
		{"names of emoji", ":white_check_mark: 10:30:00 :x:", ":\u2060white_check_mark: 10:30:00 :\u2060x:"},
		{"names of emoji in any script", ":承認: :a:b: :+1: 目的: 集計 a::b",
			":\u2060承認: :\u2060a:\u2060b: :\u2060+1: 目的: 集計 a::b"},
		{"what is too long for a name of an emoji", ":" + strings.Repeat("x", 101) + ":",
			":" + strings.Repeat("x", 101) + ":"},
		{"a capital whose lower case is longer in bytes", "İ a@b.jp @here @HERE @ſomebody",
			"İ a@b.jp @\u2060here @\u2060HERE @ſomebody"},
		{"Hangul fillers", "\u3164", ""}, {"Braille without dots", "\u2800\u2800", ""},
		{"what is not drawn", "\U0001d159 \uffa0\u034f\u200d\U000e0041\u0301", ""},
		{"what is not drawn between letters", "a\u3164\u3164b\u034fc\u200d\ufe0f\ufe0f", "a bc"},
		{"an old script from right to left", "𐤀 x", "\u2068𐤀 x\u2069"},
		{"control bytes", "a\x00\x1bb\u0085c", "ab c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := inline(tc.in, 1000)
			expect.That(t, got == tc.want, "inline(%q) = %q, want %q", tc.in, got, tc.want)
		})
	}
}

func TestParagraphKeepsItsLinesAndMarks(t *testing.T) {
	got := paragraph("  # 方針\n- **集計** <!here> @here\r\n\u202e1 < 2  ", 1000)
	expect.Same(t, "# 方針\n- **集計** &lt;!here&gt; @\u2060here\n1 &lt; 2", got)
}

// TestTextsStayInBounds: any input gives a text that is short enough and valid, with complete entities and no character
// with an effect in Slack.
func TestTextsStayInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom(hostileParts)), 0, 60).Draw(t, "parts")
		in, limit := strings.Join(parts, ""), rapid.IntRange(10, 400).Draw(t, "limit")
		for name, out := range map[string]string{
			"inline": inline(in, limit), "plain": plain(in, limit), "paragraph": paragraph(in, limit), "code": code(in, limit),
		} {
			expect.Must(t, units(out) <= limit && utf8.ValidString(out), "%s: %d units over %d, or invalid: %q", name,
				units(out), limit, out)
			expect.Must(t, !strings.ContainsAny(out, "<>\u202e\u2066\u200f\x00") &&
				(name == "paragraph" || !strings.Contains(out, "\n")), "%s lets through: %q", name, out)
			expect.Must(t, (name != "inline" || !strings.ContainsAny(out, "*`~")) &&
				(name != "code" || !strings.Contains(out, "`")), "%s formats: %q", name, out)
			expect.Must(t, !strings.ContainsAny(out, "✅❌✔☑✖❎🔄⏹➡❓⚠⬜⌛⏳⏱🔍🚀📝📋⚙") && !strings.Contains(out, ":white_check_mark:"),
				"%s speaks with our marks: %q", name, out)
			bare := strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(out)
			expect.Must(t, !strings.Contains(bare, "&"), "%s cuts an entity: %q", name, out)
		}
	})
}

var hostileParts = []string{
	"<!channel>", "<@U1>", "✅", "❌\ufe0f", "⏹️", ":white_check_mark:", ":x", ":", "&", "<", ">", "&amp;", "*",
	"_", "~",
	"`", "```", "\n", "\r\n", "\u202e", "\u2066", "\u200f", "\u2028", "\x00", "\xff",
	"👩‍👩‍👧", "👍🏽", "🇯🇵", "e\u0301", "שלום", "مرحبا", "@here", "https://evil.example",
	"  ", "\u3000", "長い題名", "{when}",
	"{who}", "%s",
}

// Other people's texts can't show a mark that Ringi's own texts use.
func TestNobodyElseWritesOurMarks(t *testing.T) {
	all := map[string]string{}
	texts(reflect.ValueOf(*wordsOf.In("ja")), "", all)
	texts(reflect.ValueOf(*wordsOf.In("en")), "", all)
	for _, locale := range language.All {
		for of, words := range map[string]any{"contest": *contestWords.In(locale),
			"ask": *askWordsOf.In(locale), "talk": *conversationWordsOf.In(locale)} {
			texts(reflect.ValueOf(words), locale+"."+of, all)
		}
	}
	for _, s := range []string{"⬜", "🔄", "✅", "❌", "❓", "🔍"} { // of steps
		all[s] = s
	}
	for field, text := range all {
		for _, r := range text {
			if r < 0x2190 || !unicode.Is(unicode.So, r) || strings.ContainsRune("→←…", r) {
				continue
			}
			got := language.Foreign("x" + string(r))
			expect.That(t, !strings.ContainsRune(got, r), "%s has %c (%U), and so may anybody's text", field, r, r)
		}
	}
	for _, like := range "🉑🆗🗹🗸☑✔🈴⭕🚫⛔☒" {
		got := language.Foreign("x" + string(like))
		expect.That(t, !strings.ContainsRune(got, like), "%c looks like a mark of ours and stays", like)
	}
}

// Slack counts characters without saying how. A text at a limit stays complete. A text that is one longer is cut
// between visible letters, so that it fits however Slack counts.
func TestTextsAtSlacksLimits(t *testing.T) {
	letters := map[string]string{"kanji": "漢", "emoji": "🎉", "skin": "👍🏽", "family": "👩‍👩‍👧",
		"accent":  "e\u0301",
		"escaped": "&"}
	for name, limit := range map[string]int{"section": maxSection, "header": maxHeader, "reason": maxReason,
		"detail": maxDetail, "button": 75, "field": 2000} {
		for kind, letter := range letters {
			t.Run(name+" of "+kind, func(t *testing.T) {
				sent := letter
				if kind == "escaped" {
					sent = "&amp;"
				}
				size := len(utf16.Encode([]rune(sent)))
				full := strings.Repeat("x", limit%size) + strings.Repeat(letter, limit/size)
				for how, prepare := range map[string]func(string, int) string{"inline": inline, "plain": plain,
					"paragraph": paragraph} {
					if got := prepare(full, limit); got != strings.ReplaceAll(full, letter, sent) {
						t.Errorf("%s cuts what has %d units at most: %d of %q", how, limit, len(utf16.Encode([]rune(got))),
							got[max(0, len(got)-12):])
					}
					got := prepare(full+letter, limit)
					rest, cut := strings.CutSuffix(got, ellipsis)
					n := len(utf16.Encode([]rune(got)))
					expect.That(t, cut && n <= limit && n > limit-size-len(ellipsis),
						"%s makes %d units of one letter too many, at most %d", how, n, limit)
					expect.Is(t, strings.ReplaceAll(strings.TrimLeft(rest, "x"), sent, ""), "", "%s leaves half a letter", how)
				}
			})
		}
	}
	expect.Is(t, cut("abcdef", 6)+" "+cut("abcdefg", 6), "abcdef abc...")
	expect.Is(t, cut("ab👍🏽cde", 7), "ab...", "an emoji without its skin")
	expect.Is(t, cut(strings.Repeat("\u0301", 20), 10), strings.Repeat("\u0301", 7)+ellipsis, "a letter of accents alone")
}

// characters counts as the sandbox does.
func TestCharactersAreCountedAsSlackDoes(t *testing.T) {
	for kind, b := range map[string]slack.Block{"section": section("*漢字* 🎉"),
		"fields":  slack.NewSectionBlock(nil, []*slack.TextBlockObject{mrkdwn("漢"), mrkdwn("字")}, nil),
		"context": contextLine("👩‍👩‍👧", "x")} {
		var sent any
		raw, err := json.Marshal(b)
		expect.Must(t, err == nil && json.Unmarshal(raw, &sent) == nil, "%v", err)
		got, want := characters(b), webapi.Characters(sent)
		expect.That(t, got == want && got != 0, "a %s has %d characters, want %d", kind, got, want)
	}
}

// FuzzFences: code blocks show a text completely, or say that a part is missing.
func FuzzFences(f *testing.F) {
	for _, s := range []string{
		`{"recipient":"U1","rows":[["a",1],["b",null]],` +
			`"n":12345678901234567890}`, "{\"a\":\"```\\n<!channel> & \\u202e\"}", `{"a":{},"b":[],"c":[[]],"d":1e999999}`,
		`{"":"\ud800","\u0000":" "}`, strings.Repeat(`{"a":`, 60), `{"a":"` + strings.Repeat("長い", 2000) + `"}`,
		"not JSON ``` ✅", "{\"a\":\"\xff\"}", "{\"a\":\"葛\U000e0100\u200b\U000e0041\"}", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pages, rest := fenced(visible(pretty(s)), maxSection, maxPages)
		expect.Must(t, len(pages) != 0 && len(pages) <= maxPages, "%d pages", len(pages))
		var all []string
		for _, p := range pages {
			inner, opened := strings.CutPrefix(p, "```\n")
			inner, closed := strings.CutSuffix(inner, "\n```")
			if !opened || !closed || strings.ContainsAny(inner, "`<>\u202e\u200b\x00") || units(p) > maxSection {
				t.Fatalf("a page of %d is %q", units(p), p)
			}
			all = append(all, strings.TrimSuffix(strings.ReplaceAll(inner, goesOn+"\n", ""), goesOn))
		}
		if rest || !json.Valid([]byte(s)) {
			return
		}
		// long lines are folded
		shown := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;",
			">").Replace(strings.ReplaceAll(strings.Join(all, ""), "\n", ""))
		d := cmp.Diff(numbers(t, s), numbers(t, shown))
		expect.That(t, d == "", "%q is shown as %q: %s", s, shown, d)
	})
}

func numbers(t *testing.T, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	err := d.Decode(&v)
	expect.Must(t, err == nil, "%q: %v", s, err)
	return v
}

// texts collects every text of a language, by the path of its field.
func texts(v reflect.Value, path string, out map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), path+"."+v.Type().Field(i).Name, out)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(v.MapIndex(k), path+"."+k.String(), out)
		}
	case reflect.String:
		out[path] = v.String()
	}
}

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
		"nothing between codes": {"`a`\u202e``b`c``", "`a`\u2060``b`c``"},
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
		for _, p := range language.MarkdownPieces(out) {
			if p.Kind == language.Prose {
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

func TestAPageShowsCodeAsItIsAndAnAnswersBoldText(t *testing.T) {
	for text, want := range map[string][]language.Passage{
		"a `2**3` ~b~\n\n```go\n\tx[1:n:2]\n```\nc": {{Text: "a "}, {Text: "2**3", Code: true}, {Text: " ～b～"},
			{Text: "\tx[1:n:2]\n", Block: true}, {Text: "c"}},
		"`a\u202e`\u202e": {{Text: "a⟨U+202E⟩", Code: true}},
		" \u200b\n ":      nil,
		"**a** # b":       {{Text: "**a** # b"}},
		"には**ありません**。":    {{Text: "には**ありません**。"}},
	} {
		expect.Same(t, want, language.Passages(text))
	}
	for text, want := range map[string][]language.Passage{
		"には**ありません**。": {{Text: "には"}, {Text: "ありません", Strong: true}, {Text: "。"}},
		"**「x」**は `**y**` 2**3 a_b *c*": {{Text: "「x」", Strong: true}, {Text: "は "}, {Text: "**y**", Code: true},
			{Text: " 2**3 a_b *c*"}},
		"**a**b\n**c": {{Text: "a", Strong: true}, {Text: "b\n**c"}},
	} {
		expect.Same(t, want, language.Answered(text))
	}
}

// A page has the same code as a card.
func TestPagesAndCardsFindTheSameCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		var got, want []string
		for _, p := range language.Answered(text) {
			if p.Code || p.Block && strings.TrimSpace(p.Text) != "" {
				got = append(got, strings.Trim(p.Text, " \t\n"))
			}
			expect.That(t, !strings.Contains(p.Text, "\u202e"), "%q of %q", p.Text, text)
		}
		for _, p := range language.MarkdownPieces(strings.TrimRight(text, " \t\n")) {
			code := language.Code(p.Text)
			if p.Kind == language.Span {
				code = strings.ReplaceAll(code, "\n", " ")
			}
			if p.Kind == language.Span || p.Kind == language.Block && strings.TrimSpace(code) != "" {
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

func TestAConversationIsCalledByNames(t *testing.T) {
	of := &conversation.Conversation{Title: "<@U0SATO> と <#C0HR> へ"}
	expect.Is(t, conversationTitle(of, askWordsOf.In("ja")), "<@U0SATO> (U0SATO) と <#C0HR> へ")
}
