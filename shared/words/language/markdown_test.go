package language_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// code lists the code of a text: a block as its language, "|" and its text, code within a line in parentheses.
func code(text string) string {
	var out []string
	for _, p := range language.MarkdownPieces(text) {
		switch p.Kind {
		case language.Block:
			out = append(out, p.Language+"|"+p.Text)
		case language.Span:
			out = append(out, "("+p.Text+")")
		}
	}
	return strings.Join(out, " ")
}

// By number: examples of CommonMark's sections 4.5 (fences) and 6.1 (code spans).
func TestCodeIsFound(t *testing.T) {
	for name, x := range map[string][2]string{
		"119": {"```\n<\n >\n```\n", "|<\n >\n"},
		"123": {"~~~\naaa\n```\n~~~\n", "|aaa\n```\n"},
		"124": {"````\naaa\n```\n``````\n", "|aaa\n```\n"},
		"126": {"```\n", "|"},
		"128": {"> ```\n> aaa\n\nbbb\n", "|aaa\n"},
		"132": {"  ```\naaa\n  aaa\naaa\n  ```\n", "|aaa\naaa\naaa\n"},
		"133": {"   ```\n   aaa\n    aaa\n  aaa\n   ```\n", "|aaa\n aaa\naaa\n"},
		"138": {"``` ```\naaa\n", "( )"},
		"139": {"~~~~~~\naaa\n~~~ ~~\n", "|aaa\n~~~ ~~\n"},
		"140": {"foo\n```\nbar\n```\nbaz\n", "|bar\n"},
		"143": {"~~~~    ruby startline=3 $%@#$\ndef foo(x)\n~~~~~~~\n", "ruby|def foo(x)\n"},
		"144": {"````;\n````\n", "|"},
		"146": {"~~~ aa ``` ~~~\nfoo\n~~~\n", "aa|foo\n"},
		"147": {"```\n``` aaa\n```\n", "|``` aaa\n"},
		"329": {"`` foo ` bar ``\n", "(foo ` bar)"},
		"330": {"` `` `\n", "(``)"},
		"331": {"`  ``  `\n", "( `` )"},
		"332": {"` a`\n", "( a)"},
		"334": {"` `\n`  `\n", "( ) (  )"},
		"338": {"`foo\\`bar`\n", "(foo\\)"},
		"347": {"```foo``\n", ""},
		"349": {"`foo``bar``\n", "(bar)"},

		"a fence in a list":                  {"1. first\n   ```sh\n   a\n     b\n   ```\n2. second\n", "sh|a\n  b\n"},
		"one that is its item's first line":  {"- ```go\n  x\n  ```\n", "go|x\n"},
		"lines that leave the list's column": {"- a\n  ```\nb\n  ```\nc `d`\n", "|b\n (d)"},
		"a quote in a quote":                 {"> > ```\n> > a\n> > ```\n> `b`\n", "|a\n (b)"},
		"a quote that ends first":            {"> ```\n> a\nb `c`\n", "|a\n (c)"},
		"a backslash before a fence":         {"\\```[x](https://e.example)\\```", ""},
		"another line":                       {"- a ` b\n- c ` d", ""},
		"a line end of another system":       {"```\r\na\r\n```\r\n`b`\r\n", "|a\n (b)"},
		"indented":                           {"a\n\n    b `c`\n", "(c)"},
		"a fence without an end":             {"a\n```py\nx = 1\n", "py|x = 1\n"},
		"a language that is a sentence":      {"```<!channel> yes\nx\n```", "|x\n"},
	} {
		expect.Is(t, code(x[0]), x[1], "%s: %q", name, x[0])
	}
}

var bits = []string{"`", "``", "```", "````", "~~~", "\n", "\n\n", "    ", "  ", " ", "\t", "- ", "1. ", "> ", "# ",
	"a", "b ", "漢字", "\\", "**", "*", "_", "~", "---", "go", "\r\n", "<x>", "。"}

func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 40).Draw(t, "bits"), "")
}

func sources(pieces []language.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Source)
	}
	return b.String()
}

func TestPiecesAreTheWholeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		got := sources(language.MarkdownPieces(text))
		expect.Must(t, got == text, "%q became %q", text, got)
	})
}

func TestCodeIsWrittenSoThatItIsFoundAgain(t *testing.T) {
	for _, x := range []string{"x", "a`b", "``", "`", " a ", " ", "a```b`c", "`a", "漢字"} {
		expect.Is(t, code("see "+language.Ticked(x)+" there"), "("+x+")", "%q", x)
	}
	for _, x := range []string{"x\n", "```\na\n```\n", "\n", "  a\n\tb\n", "````", ""} {
		want := x
		if x != "" && !strings.HasSuffix(x, "\n") {
			want += "\n"
		}
		expect.Is(t, code("see\n"+language.Fenced(x, "go")+"\nthere"), "go|"+want, "%q", x)
	}
}

func TestALongTextIsReadInGoodTime(t *testing.T) {
	took := expect.Computed(t, func() {
		for _, line := range []string{"x\n", "`", "```\n", "    x\n", "> x\n", "- ", "` `` ", "\n", "- x\n  ```\n", "\\`"} {
			text := strings.Repeat(line, 1<<19/len(line))
			language.MarkdownPieces(text)
			language.MarkdownPieces("```\n" + text)
		}
	})
	expect.That(t, took < 5*time.Second, "it computes %s", took)
}

func TestATextIsCutBetweenCharacters(t *testing.T) {
	for name, x := range map[string]struct {
		text                          string
		most                          int
		first, bytes, beginning, clip string
	}{
		"shorter":         {"稟議", 3, "稟議", "稟", "稟議", "稟議"},
		"as long":         {"稟議書", 3, "稟議書", "稟", "稟議書", "稟議書"},
		"longer":          {"稟議書類", 3, "稟議書", "稟", "稟議書…", "稟議…"},
		"of two widths":   {"a稟議", 5, "a稟議", "a稟", "a稟議", "a稟議"},
		"of four bytes":   {"😀😀", 1, "😀", "", "😀…", "…"},
		"empty":           {"", 3, "", "", "", ""},
		"no UTF-8 at all": {"a\xff\xfeb", 2, "a\xff", "a\xff", "a\xff…", "a…"},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Is(t, language.First(x.text, x.most), x.first, "First")
			expect.Is(t, language.FirstBytes(x.text, x.most), x.bytes, "FirstBytes")
			expect.Is(t, language.Beginning(x.text, x.most), x.beginning, "Beginning")
			expect.Is(t, language.Clip(x.text, x.most), x.clip, "Clip")
		})
	}
}

func TestATextIsCutAfterAWholeLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n12345\t67890\nc": "a\tb\n12345\t", "a\tbcdefgh\n1234567": "a\tbcdefgh\n", "abcdefghijkl": "abcdefghijkl",
		"abcdefghijkl\nx": "abcdefghijkl", "abcdefghijklmn": "abcdefghijkl", "a,営業、人事部の全員の残業": "a,営業、人事部の全員の",
		"稟議書類です。人事部の全員": "稟議書類です。",
	} {
		expect.Is(t, language.FirstLines(text, 12), want, "%q", text)
	}
}

func TestNamesThatFileSystemsConfuseHaveOneForm(t *testing.T) {
	for _, same := range [][2]string{
		{"Makefile", "makefile"}, {"caf\u00e9.txt", "cafe\u0301.txt"}, {"ﬁle", "FILE"}, {"ａ１", "A1"}, {"straße", "STRASSE"},
		{"がっこう", "か\u3099っこう"}, {"ｶﾞ", "ガ"}, {"한", "\u1112\u1161\u11ab"}, {"ΣΑΣ", "σας"}, {"ᾳ", "αι"}, {"K", "\u212a"}, {"ſ",
			"S"},
	} {
		expect.Is(t, language.Folded(same[0]), language.Folded(same[1]), "%q and %q", same[0], same[1])
	}
	for _, other := range [][2]string{{"a", "b"}, {"a/b", "ab"}, {"а", "a"}, {"は", "ば"}, {"1", "l"}} {
		expect.That(t, language.Folded(other[0]) != language.Folded(other[1]), "%q and %q have one form", other[0], other[1])
	}
}

func TestNothingHidesInWhatIsSpelled(t *testing.T) {
	for s, want := range map[string]string{
		"営業部":                     "営業部",
		"山田 太郎":                   "山田 太郎",
		"山田\u3000太郎":              "山田\u3000太郎",
		"a  b":                    "a␣␣b",
		" a ":                     "␣a␣",
		"a \n b\n\n":              "a␣\n␣b\n\n",
		"a\u3000 b\u3000":         "a⟨U+3000⟩ b⟨U+3000⟩",
		"a\tb\u00a0c\r":           "a⟨U+0009⟩b⟨U+00A0⟩c⟨U+000D⟩",
		"U0\u200bSATO\u2060":      "U0⟨U+200B⟩SATO⟨U+2060⟩",
		"a\u200db\u3164":          "a⟨U+200D⟩b⟨U+3164⟩",
		"👨\u200d👩\u200d👧 ❤\ufe0f": "👨\u200d👩\u200d👧 ❤\ufe0f",
		"👍🏽\u200d a":              "👍🏽⟨U+200D⟩ a",
		"葛\U000e0100城":            "葛⟨U+E0100⟩城",
		"␣⏎⟨U+200B⟩":              "⟨U+2423⟩⟨U+23CE⟩⟨U+27E8⟩U+200B⟩",
		"a" + strings.Repeat(" ", 9) + "b" + strings.Repeat("\u3000", 2800): "a⟨␣ ×9⟩b⟨U+3000 ×2800⟩",
		strings.Repeat("\u200b", 8) + strings.Repeat("\xff", 9):             strings.Repeat("⟨U+200B⟩", 8) + "⟨0xFF ×9⟩",
		"jinji@exаmple.com": "jinji@exа⟨U+0430⟩mple.com", "jınjı": "jı⟨U+0131⟩njı⟨U+0131⟩",
		"https://a.jp⁄x": "https://a.jp⁄⟨U+2044⟩x", "𝟷2": "𝟷⟨U+1D7F7⟩2", "2026‐04": "2026‐⟨U+2010⟩04",
		"e\u0301 か\u3099 a\u0336": "e\u0301⟨U+0301⟩ か\u3099⟨U+3099⟩ a⟨U+0336⟩", "é が Müller x='Москва' α版 " +
			"क\u0301": "é が Müller x='Москва' α版 क\u0301", "5\u212a": "5\u212a⟨U+212A⟩",
		// without the number this would be drawn as rm ב */א
		"rm א/* ב": "rm א⟨U+05D0⟩/* ב", "\"אב\" 100": "\"אב⟨U+05D1⟩\" 100", "שלום עולם.\n1": "שלום עולם.\n1",
		"א foo 1":          "א foo 1",
		"\ufffc\U00013441": "⟨U+FFFC⟩⟨U+13441⟩",
		"\xff\ufffd":       "⟨0xFF⟩⟨U+FFFD⟩",
		"":                 "",
	} {
		expect.Is(t, language.Spelled(s), want, "%+q", s)
	}
}

// Of characters and words that look the same, each but one has numbers.
func TestNoTwoWordsLookAlike(t *testing.T) {
	for _, same := range [][2]string{
		{"金田商店", "\uf90a田商店"}, {"小計", "⼩計"}, {"西", "⻄"}, {"TOYOTA", "ΤΟΥΟΤΑ"}, {"ACE", "АСЕ"}, {"株式会社ACE", "株式会社АСЕ"},
		{"A社", "Α社"}, {"3台", "З台"}, {"Cööp", "Сӧӧр"}, {"ÉA", "ÉА"}, {"ACE", "ᎪᏟᎬ"}, {"ACE", "𝖠𝖢𝖤"}, {"file", "ﬁle"},
		{"rm -rf a", "rm -rf а"}, {"./a", "./а"}, {"x=1", "х=1"}, {"cp o /tmp", "cp о /tmp"}, {"ln -s c d", "ln -s ϲ d"},
		{"rm o", "rm ο"}, {"rm i", "rm ı"}, {"1,000", "1‚000"}, {"kill -9", "kill −9"}, {"rm a*", "rm a∗"},
		{"kill 8", "kill ৪"}, {"kill 7", "kill 𝟽"},
		{"한", "\u1112\u1161\u11ab"}, {"한", "하\u11ab"}, {"क़", "\u0958"}, {"ऩ", "न\u093c"},
		{"\u0622\u064b", "\u0627\u064b\u0653"},
		{"ا", "\ufe8d"}, {"é", "e\u0301"}, {"a\u0323\u0302", "a\u0302\u0323"},
	} {
		seen := language.OneLine(same[1])
		expect.That(t, seen != same[1] && strings.Contains(seen, "⟨U+"), "%q is drawn as %q, as %q is",
			same[1], seen, same[0])
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if is := norm.NFC.String(string(r)); is != string(r) {
			expect.Has(t, language.OneLine(string(r)), fmt.Sprintf("⟨U+%04X⟩", r))
		}
	}
	for _, s := range []string{
		"α版 プラスα β線 χ値", "Ⅱ期 フェーズⅢ Ⅰ・Ⅴ", "ＡＢＣ株式会社 ｱｸﾒ ㈱ ① ㎏ ㎡ № ½", "大塚 﨑山 髙橋 々 〆切", "Ｖα", "Ｗ杯", "5 µm", "Москва",
		"Ελλάδα", "한국", "東京―大阪 コーヒー", "Élan naïve Ångström Łódź", "हिन्दी", "שלום", "Ω抵抗", "α = 0.05", "ⅰ 概要", "é", "第３期 ５",
	} {
		expect.Is(t, language.OneLine(s), s)
	}
}

func TestALineHasNoOther(t *testing.T) {
	for s, want := range map[string]string{
		"a\nb": "a ⏎ b", "a\n\nb\n": "a ⏎ ⏎ b ⏎", "\n": "⏎", "a" + strings.Repeat("\n",
			4000) + " b": "a ⟨⏎ ×4000⟩ ␣b", "a ⏎ b": "a ⟨U+23CE⟩ b", "a \n b": "a␣ ⏎ ␣b",
	} {
		expect.Is(t, language.OneLine(s), want, "%q", s)
	}
}

// FuzzTwoTextsHaveTwoSpellings checks that people can see every difference between two texts.
func FuzzTwoTextsHaveTwoSpellings(f *testing.F) {
	for _, pair := range [][2]string{{"a b", "a  b"}, {"a", "a "}, {"a\u200b", "a"}, {"␣", " "}, {"⟨U+200B⟩", "\u200b"},
		{"a\u00a0b", "a b"}, {"\xff", "\ufffd"}, {"a\n", "a ⏎"}, {"         ", "⟨␣ ×9⟩"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := language.Spelled(a), language.Spelled(b)
		expect.That(t, a == b || first != second, "%+q and %+q are both %q", a, b, first)
		one, two := language.OneLine(a), language.OneLine(b)
		expect.That(t, a == b || one != two, "%+q and %+q are both %q in a line", a, b, one)
		expect.Is(t, language.Visible(first), first, "%+q is spelled, of which a part is not seen", a)
	})
}

// TestALongWordIsSpelledInGoodTime uses the longest word that fits into a call's value.
func TestALongWordIsSpelledInGoodTime(t *testing.T) {
	took := expect.Computed(t, func() {
		for _, word := range []string{"ж", "Ⅽ", "א(", "が"} {
			_ = language.Spelled(strings.Repeat(word, 1<<17))
		}
	})
	expect.That(t, took < 2*time.Second, "it computes %s", took)
}

func TestCodeIsShownAsItIsAndHidesNothing(t *testing.T) {
	for s, want := range map[string]string{
		"a  b\n\tmake -j ␣⏎⟨U+200B⟩ 2**3 `~` <x> :a:": "a  b\n\tmake -j ␣⏎⟨U+200B⟩ 2**3 `~` <x> :a:",
		"│\u00a0\u00a0 ├── 営業\u3000部 \ufffd":          "│\u00a0\u00a0 ├── 営業\u3000部 \ufffd",
		"a\r\nb\rc":                  "a\nb\nc",
		"if (x\u202e) {":             "if (x⟨U+202E⟩) {",
		"a\u200bb\u2060c\ufeff":      "a⟨U+200B⟩b⟨U+2060⟩c⟨U+FEFF⟩",
		"a\u2028b\u2029c\u0085d\v\f": "a⟨U+2028⟩b⟨U+2029⟩c⟨U+0085⟩d⟨U+000B⟩⟨U+000C⟩",
		"\x1b[31m\x00\x7f":           "⟨U+001B⟩[31m⟨U+0000⟩⟨U+007F⟩",
		"a\u0336 =\u0338 \u3164":     "a⟨U+0336⟩ =\u0338 ⟨U+3164⟩",
		"👨\u200d👩 ❤\ufe0f क्\u200d葛\U000e0100": "👨\u200d👩 ❤\ufe0f क्\u200d葛\U000e0100",
		"x\u200dy\ufe0f\U000e0041":             "x⟨U+200D⟩y⟨U+FE0F⟩⟨U+E0041⟩",
		"\ue000\xff":                           "⟨U+E000⟩⟨0xFF⟩",
		"שלום":                                 "שלום",
		"":                                     "",
	} {
		expect.Is(t, language.Code(s), want, "%+q", s)
	}
}

func FuzzCodeIsSeen(f *testing.F) {
	f.Add("a\u200b\xff\r\n\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := language.Code(s)
		expect.Is(t, language.Code(got), got, "%+q, twice", s)
		for _, r := range got {
			expect.That(t, r == '\n' || r == '\t' || language.Joiner(r) || !language.Ignorable(r), "%+q became %+q", s, got)
		}
	})
}

// Radicals, as PDFs give them, are kanji; but for two, of which Unicode knows none.
func TestARadicalIsItsKanji(t *testing.T) {
	for r := '\u2e80'; r <= '\u2fd5'; r++ {
		if !unicode.Is(unicode.Radical, r) || r == '\u2e80' {
			continue
		}
		got := language.Narrow(string(r))
		expect.That(t, unicode.Is(unicode.Unified_Ideograph, []rune(got)[0]), "%c is %s", r, got)
	}
	expect.Is(t, language.Narrow("\u2ed1\u2ed8\u2ef3"), "長青龟")
}

// Letters and digits of another script in a Latin word tell their numbers.
func TestAStrayLetterIsTold(t *testing.T) {
	for _, forged := range []string{"g\u1040\u1040gle.com", "c\U000104eaop", "\U00010300CME", "1\u0b66\u0b660", "l\u0661",
		"o\u0665", "\u15c5cme", "x\u2571y", "ac\u0e41me", "ac\u0271e"} {
		expect.That(t, strings.Contains(language.OneLine(forged), "⟨U+"), "%s stands as it is", forged)
	}
}

// What people write every day stays as it is.
func TestEverydayWordsHaveNoNumbers(t *testing.T) {
	words := strings.Fields(`工場 力仕事 口コミ 〆切 一ヶ月 データ一覧 プレゼン力 サーバー トイレへ ト書き PC部門 Web会議 IT推進室 SNS運用
		A4用紙 USBメモリ Wi-Fi e-Tax 10月分 2台 No.3 v2 R&D α版 μm Ａ社 １０月 ①番 ㈱山田 東京ー大阪`)
	for _, word := range words {
		expect.Is(t, language.OneLine(word), word)
	}
}
