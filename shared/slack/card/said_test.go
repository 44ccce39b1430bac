package card

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// itsEnd is a text after which nothing of what came before may change.
const itsEnd = "\n\n終わり。\n\n"

// grown is what the stream shows of a text that has ended.
func grown(text string) string {
	return strings.TrimSuffix(strings.TrimRight(strings.TrimSuffix(Streamed(text+itsEnd), "終わり。"), "\n"), "\n")
}

// The first text is what the model wrote, the second what its card has, the third what was streamed, if that differs.
func TestCodeReachesPeopleAsItIs(t *testing.T) {
	for name, x := range map[string][3]string{
		"decorators": {"```python\n@app.route(\"/\")\n@here\ndef f(): pass\n```",
			"```\n@app.route(\"/\")\n@here\ndef f(): pass\n```", "```python\n@app.route(\"/\")\n@here\ndef f(): pass\n```"},
		"signs within a line": {"`npm i @types/node` と `git reset HEAD~1`、`~/.bashrc`",
			"`npm i @types/node` と `git reset HEAD~1`、`~/.bashrc`", ""},
		"stars": {"`f(*a, **kw)` は `g(**x)` と同じで、`2**3` は `8`、`4**5` は `1024` です",
			"`f(*a, **kw)` は `g(**x)` と同じで、`2**3` は `8`、`4**5` は `1024` です", ""},
		"colons": {"```cpp\nstd::map<int,int>::iterator it; a::b::c();\n```",
			"```\nstd::map&lt;int,int&gt;::iterator it; a::b::c();\n```",
			"```cpp\nstd::map&lt;int,int&gt;::iterator it; a::b::c();\n```"},
		"names of emoji": {"`:x:` :x:", "`:x:` :\u2060x:", ""},
		"times and volumes": {"```\n12:30:45 x[1:n:2] docker run -v /a:/b:ro redis:7\n```",
			"```\n12:30:45 x[1:n:2] docker run -v /a:/b:ro redis:7\n```", ""},
		"headings of a shell": {"```\n# comment\n**bold**\n\n\n\n\ta\n```", "```\n# comment\n**bold**\n\n\n\n\ta\n```", ""},
		"a heading with code": {"# `x` の説明", "*`x` の説明*", "**`x` の説明**"},
		"bold with code":      {"**use `a*b`** now", "*use `a*b`* now", "**use `a*b`** now"},
		"tildes": {"~~~sh\nssh user@host \"@here\" <!channel> ~\n~~~",
			"```\nssh user@host \"@here\" &lt;!channel&gt; ~\n```", "```sh\nssh user@host \"@here\" &lt;!channel&gt; ~\n```"},
		"mentions": {"`<@U1>` `<!channel>` `@here` `a@example.com` `https://example.com/a`",
			"`&lt;@U1&gt;` `&lt;!channel&gt;` `@here` `a@example.com` `https://example.com/a`", ""},
		"a fence within": {"````md\n```go\nx\n```\n````", "```\n`\u2060`\u2060`go\nx\n`\u2060`\u2060`\n```",
			"```md\n`\u2060`\u2060`go\nx\n`\u2060`\u2060`\n```"},
		"two backticks": {"`` a`b `` and `` ` ``", "```a`b``` and ``` ` ```", ""},
		"indentation":   {"見て:\n\n    2**3\n      ~\n\nはい", "見て:\n```\n2**3\n  ~\n```\n\nはい", ""},
		"in a list": {"- a\n  ```\n  2**3\n  ```\n- b", "- a\n```\n2**3\n```\n- b",
			"\u2060- a\n```\n2**3\n```\n\u2060- b"},
		"in a quote":           {"> ```\n> 2**3\n> ```", "```\n2**3\n```", ""},
		"a fence without end":  {"はい\n```py\n2**3", "はい\n```\n2**3\n```", "はい\n```py\n2**3\n\n終わり。"},
		"nothing in a fence":   {"a\n```\n```\nb", "a\nb", ""},
		"what hides":           {"`a\u202eb\u200bc\u2028d` x\u202ey", "`a⟨U+202E⟩b⟨U+200B⟩c⟨U+2028⟩d` xy", ""},
		"marks of Ringi":       {"✅ `✅`", "✓ `✅`", ""},
		"a space at both ends": {"`  a  `", "` a `", "`  a  `"},
		"our sign for code":    {"␚ `a` ␚␚", "␚ `a` ␚␚", ""},
		"one beside another":   {"`a`\u200b``b``", "`a`\u2060`b`", ""},
		"stars that are none": {"2**3 は 8、4**5 は 1024、a*b*c、2 * 3、snake_case_x",
			"2**3 は 8、4**5 は 1024、a*b*c、2 * 3、snake_case_x",
			`2\*\*3 は 8、4\*\*5 は 1024、a\*b\*c、2 \* 3、snake_case_x`},
		"emphasis": {"*a* _b_ **c** __d__ ***e***", "*a* _b_ *c* __d__ ***e***",
			`*a* _b_ **c** \_\_d\_\_ \*\*\*e\*\*\*`},
		"bold in Japanese": {"には**ありません**。\n**注意**：APIは**3件**です",
			"には\u200b*ありません*\u200b。\n*注意*\u200b：APIは\u200b*3件*\u200bです",
			"には**ありません**。\n**注意**：APIは**3件**です"},
		"bold in brackets": {"次の**「README」**を直す。**重要(必読)**です",
			"次の\u200b*「README」*\u200bを直す。\u200b*重要(必読)*\u200bです",
			"次の「README」を直す。重要(必読)です"},
		"bold code": {"この**`a*b`**と**`c` の値**を", "この\u200b*`a*b`*\u200bと\u200b*`c` の値*\u200bを",
			"この`a*b`と`c` の値を"},
		"bold after Latin": {"Goでは**ない**。a**b**c 値**x** y*斜*体",
			"Goでは\u200b*ない*\u200b。a**b**c 値\u200b*x* y*斜*体",
			`Goでは**ない**。a\*\*b\*\*c 値**x** y\*斜\*体`},
		"emoji by underscores": {"a :_x: b", "a :\u2060_x: b", "a :\u2060\\_x: b"},
		"a table":              {"a | b\n---|---\n1 | 2", "a | b\n---|---\n1 | 2", "a | b\n\u2060---|---\n1 | 2"},
		"escapes":              {"\\* \\`x\\`", "\\* ｀x｀", "\\\u2060\\* ｀x｀"},
		"people":               {"`<@U123>` <@U123>", "`&lt;@U123&gt;` <@U123> (U123)", "`&lt;@U123&gt;` &lt;@U123&gt;"},
	} {
		expect.Is(t, said(x[0]), x[1], "%s: the card of %q", name, x[0])
		if x[2] == "" {
			x[2] = x[1]
		}
		if name != "a fence without end" {
			expect.Is(t, grown(x[0]), x[2], "%s: what is streamed of %q", name, x[0])
		}
	}
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

// shownOf is what people see of the stream's Markdown outside of code, in Slack's formatting.
func shownOf(streamed string) string {
	return strings.NewReplacer(joiner, "", `\*`, "*", `\_`, "_", "**", "*").Replace(streamed)
}

func TestWhatIsStreamedIsWhatTheCardShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		whole := written(legible.MarkdownPieces(text), false, streamed)
		_, got := slackCode(whole)
		_, want := slackCode(cardWithoutPeople(text))
		if got, want = strings.TrimRight(shownOf(got), " \n"), strings.ReplaceAll(want, joiner, ""); got != want {
			t.Fatalf("%q is streamed as %q: people see %q, in its card %q", text, whole, got, want)
		}
		shown := ""
		for i := range text + "." {
			now := Streamed(text[:i])
			if !strings.HasPrefix(now, shown) || !strings.HasPrefix(whole, now) {
				t.Fatalf("%q of %q: %q, then %q, in the end %q", text[:i], text, shown, now, whole)
			}
			shown = now
		}
	})
}

func cardWithoutPeople(text string) string {
	d := slackmark
	d.prose = func(escaped string) string { return escaped }
	d.edge, d.loose = streamed.edge, streamed.loose
	return strings.TrimRight(written(legible.MarkdownPieces(text), false, d), " \n")
}

// slackCode reads a message as Slack does: it lists the code, and returns the text around it.
func slackCode(s string) (code []string, around string) {
	for {
		at := strings.IndexByte(s, '`')
		if at < 0 {
			return code, around + s
		}
		ticks := "`"
		if strings.HasPrefix(s[at:], "```") {
			ticks = "```"
		}
		around += s[:at] + "|"
		inside, after, ok := strings.Cut(s[at+len(ticks):], ticks)
		if !ok {
			return append(code, "no end"), around
		}
		if ticks == "```" {
			if _, code, block := strings.Cut(inside, "\n"); block { // its first line names the language
				inside = code
			}
		}
		code, s = append(code, strings.Trim(strings.ReplaceAll(inside, joiner, ""), " \n")), after
	}
}

// Slack takes for code what Markdown takes for code, and nothing else: nobody ends code early to format what follows.
func TestSlackSeesTheCodeThatMarkdownSees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyAnswer(t)
		var want []string
		for _, p := range legible.MarkdownPieces(text) {
			if p.Kind == legible.Span || p.Kind == legible.Block && strings.Trim(p.Text, " \t\n") != "" {
				shown := strings.ReplaceAll(escape(legible.Code(p.Text)), joiner, "")
				if p.Kind == legible.Span {
					shown = strings.ReplaceAll(shown, "\n", " ")
				}
				want = append(want, strings.Trim(shown, " \n"))
			}
		}
		for name, out := range map[string]string{"the card": said(text),
			"the stream": written(legible.MarkdownPieces(text), false, streamed)} {
			code, around := slackCode(out)
			if strings.Join(code, "\x00") != strings.Join(want, "\x00") {
				t.Fatalf("%s of %q is %q with the code %q, want %q", name, text, out, code, want)
			}
			around = strings.ReplaceAll(strings.ReplaceAll(around, "<@U123> (U123)", ""), "&lt;", "")
			around = strings.NewReplacer(noWidth+"*", "*", "*"+noWidth, "*").Replace(around)
			for _, bad := range []string{"<", "@here", ":x:", "\u202e", "\u200b", "\ue000", "\ue001", "✅"} {
				if strings.Contains(around, bad) {
					t.Fatalf("%s of %q has %q: %q", name, text, bad, out)
				}
			}
		}
	})
}

// A label must not hide the target of a link, even in text that looks like code but is none to Markdown. Slack must
// find no address, since previews can't be switched off for a message that is being streamed.
func TestNoLinkHidesWhereItLeadsWhileAnAnswerGrows(t *testing.T) {
	for about, text := range map[string]string{
		"an address":                    "see https://example.com/x now",
		"a link":                        "see [the invoice](https://example.com/x) now",
		"an image":                      "![](https://example.com/?q=1)",
		"by a reference":                "see [the invoice][1]\n\n[1]: https://example.com/x",
		"by its own name":               "see [the invoice]\n\n[the invoice]: https://example.com/x",
		"a fence behind a backslash":    "\\```[the invoice](https://example.com/x)\\```",
		"a reference in such a fence":   "\\```[the invoice][1]\\```\n\n[1]: https://example.com/x",
		"a fence that a line goes into": "a ``` b\n\n[the invoice](https://example.com/x)",
		"code whose end is escaped":     "\\`[the invoice](https://example.com/x)`",
	} {
		got := grown(text)
		for _, link := range []string{"](", "][", "]:", "://"} {
			expect.That(t, !strings.Contains(got, link), "%s: %q is a link", about, got)
		}
		expect.That(t, strings.Contains(got, "https:"+joiner+"//example.com/"), "%s: the address is gone from %q", about, got)
	}
}

func TestAPageShowsCodeAsItIs(t *testing.T) {
	for text, want := range map[string][]Passage{
		"a `2**3` ~b~\n\n```go\n\tx[1:n:2]\n```\nc": {{Text: "a "}, {Text: "2**3", Code: true}, {Text: " ~b~"},
			{Text: "\tx[1:n:2]\n", Block: true}, {Text: "c"}},
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
		"**「x」**は `**y**` **`z` と** 2**3 a_b *c*": {{Text: ""}, {Text: "「x」", Strong: true}, {Text: "は "},
			{Text: "**y**", Code: true},
			{Text: " "}, {Text: "z", Code: true, Strong: true}, {Text: " と", Strong: true}, {Text: " 2**3 a_b *c*"}},
		"**a**␚**b␚**\n**c": {{Text: ""}, {Text: "a", Strong: true}, {Text: "␚"}, {Text: "b␚", Strong: true},
			{Text: "\n**c"}},
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

func TestEachLanguageHasAllTexts(t *testing.T) {
	expect.Whole[words](t, embedded, "texts/cards")
	expect.Whole[conversationWords](t, embedded, "texts/conversations")
	expect.Whole[askWords](t, embedded, "texts/asks")
	expect.Whole[routeWords](t, embedded, "texts/routes")
	expect.Whole[contestTexts](t, embedded, "texts/contests")
}

var place = regexp.MustCompile(`\{[a-z]+\}`)

func TestBothLanguagesSayEverything(t *testing.T) {
	ja, en := map[string]string{}, map[string]string{}
	texts(reflect.ValueOf(*wordsOf.In("ja")), "", ja)
	texts(reflect.ValueOf(*wordsOf.In("en")), "", en)
	expect.Same(t, slices.Sorted(maps.Keys(ja)), slices.Sorted(maps.Keys(en)))
	for field, text := range ja {
		if text == "" || en[field] == "" {
			t.Errorf("%s is empty: ja %q, en %q", field, text, en[field])
		}
		a, b := place.FindAllString(text, -1), place.FindAllString(en[field], -1)
		slices.Sort(a)
		slices.Sort(b)
		diff := cmp.Diff(a, b)
		expect.That(t, diff == "", "%s has other places (-ja +en)\n%s", field, diff)
	}
}

func TestSentenceShowsItsDetailAndNothingElse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		reason aggregate.Reason
		detail string
		want   string
	}{
		{"a tool", task.ReasonToolNotAllowed, "send_slack_dm", "許可されていないツールです (send_slack_dm)。"},
		{"seconds", task.ReasonTimeout, "360", "制限時間を超えました (360 秒)。"},
		{"a timeout of something else", task.ReasonTimeout, "step-3", "制限時間を超えました (step-3)。"},
		{"hostile", task.ReasonToolFailed, "<!channel>\n*x*", "失敗しました (&lt;!channel&gt; ＊x＊)。"},
		{"a place", task.ReasonToolFailed, "{detail}", "失敗しました ({detail})。"},
		{"unknown", "brand_new", "", "Ringi の内部で問題が起きました。"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Sentence("ja", tc.reason, tc.detail, explain.RetryRun)
			expect.That(t, strings.Contains(got, tc.want), "got %q, want it to contain %q", got, tc.want)
		})
	}
	if got := Sentence("ja", task.ReasonToolFailed, strings.Repeat("x", 10000), explain.NoRetry); len(got) > 1000 {
		t.Errorf("a long detail is not cut: %d bytes", len(got))
	}
}

// An absence has no hand whom a message could mention, whoever set or ended it.
// stored are states whose rows have a sentence in Japanese, which was the workspace's language when it was written,
// which a model answered to a request in Japanese, or which a form in Japanese led to.
var stored = []string{"execution_failed_constraint", "talk_said_of_task", "talk_said_of_typed", "task_answered_help",
	"task_answered_unsupported", "task_answered_and_changed", "matter_policy", "matter_steps", "matter_returned",
	"matter_returned_policy", "matter_decided", "matter_files_steps", "matter_refilled_before", "matter_refilled_first",
	"matter_refilled_policy", "matter_refilled_steps", "matter_other_files_steps", "matter_other_files_before"}

// A card is in one language: its headings, effects, summary and whatever else Ringi says. What people, models and
// vendors wrote in these states is in their files.
func TestACardIsInOneLanguage(t *testing.T) {
	ours := expect.SentencesBelow(t, "../..")
	var data []string
	for _, path := range []string{"scenario_test.go", "states_test.go", "furtherstates_test.go", "does_test.go"} {
		data = append(data, string(expect.Value(os.ReadFile(path))(t)))
	}
	for _, locale := range language.All {
		cards := strings.Split("\n"+string(expect.Value(os.ReadFile("testdata/golden/"+locale+".txt"))(t)), "\n== ")[1:]
		expect.Must(t, len(cards) >= 200, "%d cards", len(cards))
		for _, text := range cards {
			found := ours.Foreign(locale, text, data...)
			name := strings.Fields(text)[0]
			meant := locale != "ja" && slices.Contains(stored, name)
			expect.That(t, meant == (len(found) > 0), "%s says %q", name, found)
		}
	}
	for locale, said := range map[string]string{"en": "承認・却下できる人: x",
		"ja": "Until: You can't approve your own request."} {
		expect.Is(t, len(ours.Foreign(locale, said)), 1, "of another language in %q", said)
	}
}
