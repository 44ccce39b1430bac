package legible_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// code lists the code of a text: a block as its language, "|" and its text, code within a line in parentheses.
func code(text string) string {
	var out []string
	for _, p := range legible.MarkdownPieces(text) {
		switch p.Kind {
		case legible.Block:
			out = append(out, p.Language+"|"+p.Text)
		case legible.Span:
			out = append(out, "("+p.Text+")")
		}
	}
	return strings.Join(out, " ")
}

// The examples of the specification's sections 4.4 (indented code), 4.5 (fences) and 6.1 (code spans), by number.
func TestCodeIsFoundAsCommonMarkSays(t *testing.T) {
	for name, x := range map[string][2]string{
		"107": {"    a simple\n      indented code block\n", "|a simple\n  indented code block\n"},
		"108": {"  - foo\n\n    bar\n", ""},
		"109": {"1.  foo\n\n    - bar\n", ""},
		"110": {"    <a/>\n    *hi*\n\n    - one\n", "|<a/>\n*hi*\n\n- one\n"},
		"111": {"    chunk1\n\n    chunk2\n  \n \n \n    chunk3\n", "|chunk1\n\nchunk2\n\n\n\nchunk3\n"},
		"113": {"Foo\n    bar\n", ""},
		"114": {"    foo\nbar\n", "|foo\n"},
		"115": {"# Heading\n    foo\nHeading\n------\n    foo\n----\n", "|foo\n |foo\n"},
		"119": {"```\n<\n >\n```\n", "|<\n >\n"},
		"120": {"~~~\n<\n >\n~~~\n", "|<\n >\n"},
		"121": {"``\nfoo\n``\n", "(foo)"},
		"122": {"```\naaa\n~~~\n```\n", "|aaa\n~~~\n"},
		"123": {"~~~\naaa\n```\n~~~\n", "|aaa\n```\n"},
		"124": {"````\naaa\n```\n``````\n", "|aaa\n```\n"},
		"125": {"~~~~\naaa\n~~~\n~~~~\n", "|aaa\n~~~\n"},
		"126": {"```\n", "|"},
		"127": {"`````\n\n```\naaa\n", "|\n```\naaa\n"},
		"128": {"> ```\n> aaa\n\nbbb\n", "|aaa\n"},
		"129": {"```\n\n  \n```\n", "|\n  \n"},
		"130": {"```\n```\n", "|"},
		"131": {" ```\n aaa\naaa\n```\n", "|aaa\naaa\n"},
		"132": {"  ```\naaa\n  aaa\naaa\n  ```\n", "|aaa\naaa\naaa\n"},
		"133": {"   ```\n   aaa\n    aaa\n  aaa\n   ```\n", "|aaa\n aaa\naaa\n"},
		"134": {"    ```\n    aaa\n    ```\n", "|```\naaa\n```\n"},
		"135": {"```\naaa\n  ```\n", "|aaa\n"},
		"136": {"   ```\naaa\n  ```\n", "|aaa\n"},
		"138": {"``` ```\naaa\n", "( )"},
		"139": {"~~~~~~\naaa\n~~~ ~~\n", "|aaa\n~~~ ~~\n"},
		"140": {"foo\n```\nbar\n```\nbaz\n", "|bar\n"},
		"141": {"foo\n---\n~~~\nbar\n~~~\n# baz\n", "|bar\n"},
		"142": {"```ruby\ndef foo(x)\n  return 3\nend\n```\n", "ruby|def foo(x)\n  return 3\nend\n"},
		"143": {"~~~~    ruby startline=3 $%@#$\ndef foo(x)\n~~~~~~~\n", "ruby|def foo(x)\n"},
		"144": {"````;\n````\n", "|"},
		"145": {"``` aa ```\nfoo\n", "(aa)"},
		"146": {"~~~ aa ``` ~~~\nfoo\n~~~\n", "aa|foo\n"},
		"147": {"```\n``` aaa\n```\n", "|``` aaa\n"},
		"328": {"`foo`\n", "(foo)"},
		"329": {"`` foo ` bar ``\n", "(foo ` bar)"},
		"330": {"` `` `\n", "(``)"},
		"331": {"`  ``  `\n", "( `` )"},
		"332": {"` a`\n", "( a)"},
		"334": {"` `\n`  `\n", "( ) (  )"},
		"335": {"``\nfoo\nbar  \nbaz\n``\n", "(foo bar   baz)"},
		"338": {"`foo\\`bar`\n", "(foo\\)"},
		"339": {"``foo`bar``\n", "(foo`bar)"},
		"340": {"` foo `` bar `\n", "(foo `` bar)"},
		"341": {"*foo`*`\n", "(*)"},
		"347": {"```foo``\n", ""},
		"348": {"`foo\n", ""},
		"349": {"`foo``bar``\n", "(bar)"},

		"a fence in a list":                      {"1. first\n   ```sh\n   a\n     b\n   ```\n2. second\n", "sh|a\n  b\n"},
		"one that is its item's first line":      {"- ```go\n  x\n  ```\n", "go|x\n"},
		"lines that leave the list's column":     {"- a\n  ```\nb\n  ```\nc `d`\n", "|b\n (d)"},
		"a quote in a quote":                     {"> > ```\n> > a\n> > ```\n> `b`\n", "|a\n (b)"},
		"a quote that ends first":                {"> ```\n> a\nb `c`\n", "|a\n (c)"},
		"a backslash before a fence":             {"\\```[x](https://e.example)\\```", ""},
		"a paragraph's end":                      {"a ` b\n\nc ` d", ""},
		"another item":                           {"- a ` b\n- c ` d", ""},
		"a line end of another system":           {"```\r\na\r\n```\r\n`b\r\nc`", "|a\n (b c)"},
		"a tab before code":                      {"\tfoo\n", "|foo\n"},
		"a fence without an end":                 {"a\n```py\nx = 1\n", "py|x = 1\n"},
		"a language that is a sentence":          {"```<!channel> yes\nx\n```", "|x\n"},
		"an item's text that is indented deeply": {"- a\n\n      code\n", "|code\n"},
	} {
		expect.Is(t, code(x[0]), x[1], "%s: %q", name, x[0])
	}
}

var bits = []string{"`", "``", "```", "````", "~~~", "\n", "\n\n", "    ", "  ", " ", "\t", "- ", "1. ", "> ", "# ",
	"a", "b ", "漢字", "\\", "**", "*", "_", "~", "---", "go", "\r\n", "<x>", "。"}

func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 40).Draw(t, "bits"), "")
}

func sources(pieces []legible.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Source)
	}
	return b.String()
}

func TestPiecesAreTheWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		if got := sources(legible.MarkdownPieces(text)); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		pieces, rest := legible.SettledPieces(text)
		if got := sources(pieces) + rest; got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// merged joins prose that stands beside prose.
func merged(pieces []legible.Piece) (out []legible.Piece) {
	for _, p := range pieces {
		if n := len(out); p.Kind == legible.Prose && n > 0 && out[n-1].Kind == legible.Prose {
			out[n-1].Text += p.Text
			continue
		}
		out = append(out, legible.Piece{Kind: p.Kind, Text: p.Text, Language: p.Language})
	}
	return out
}

func TestWhatIsSettledStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		whole := merged(legible.MarkdownPieces(text))
		for i := range text {
			pieces, _ := legible.SettledPieces(text[:i])
			begun := merged(pieces)
			expect.Must(t, len(begun) <= len(whole), "%q of %q: %+v, then %+v", text[:i], text, begun, whole)
			for n, p := range begun {
				last := n == len(begun)-1 && p.Kind != legible.Span
				expect.Must(t, p.Kind == whole[n].Kind && (p.Text == whole[n].Text ||
					(last && strings.HasPrefix(whole[n].Text, p.Text))) &&
					p.Language == whole[n].Language, "%q of %q: %+v, then %+v", text[:i], text, begun, whole)
			}
		}
	})
}

func TestCodeIsWrittenSoThatItIsFoundAgain(t *testing.T) {
	for _, x := range []string{"x", "a`b", "``", "`", " a ", " ", "a```b`c", "`a", "漢字"} {
		expect.Is(t, code("see "+legible.Ticked(x)+" there"), "("+x+")", "%q", x)
	}
	for _, x := range []string{"x\n", "```\na\n```\n", "\n", "  a\n\tb\n", "````", ""} {
		want := x
		if x != "" && !strings.HasSuffix(x, "\n") {
			want += "\n"
		}
		expect.Is(t, code("see\n"+legible.Fenced(x, "go")+"\nthere"), "go|"+want, "%q", x)
	}
}

func TestALongTextIsReadInGoodTime(t *testing.T) {
	expect.Within(t, 5*time.Second, func() {
		for _, line := range []string{"x\n", "`", "```\n", "    x\n", "> x\n", "- ", "` `` ", "\n", "- x\n  ```\n", "\\`"} {
			text := strings.Repeat(line, 1<<19/len(line))
			legible.MarkdownPieces(text)
			legible.SettledPieces("```\n" + text)
		}
	})
}
