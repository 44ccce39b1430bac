package legible_test

import (
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// Radicals, as PDFs give them, are kanji; but for two, of which Unicode knows none.
func TestARadicalIsItsKanji(t *testing.T) {
	for r := '\u2e80'; r <= '\u2fd5'; r++ {
		if !unicode.Is(unicode.Radical, r) || r == '\u2e80' {
			continue
		}
		got := legible.Narrow(string(r))
		expect.That(t, unicode.Is(unicode.Unified_Ideograph, []rune(got)[0]), "%c is %s", r, got)
	}
	expect.Is(t, legible.Narrow("\u2ed1\u2ed8\u2ef3"), "長青龟")
}

func TestACutTextEndsWithAWholeWord(t *testing.T) {
	for _, x := range [][2]string{
		{"short", "short"}, {"Tell Alex and Kim that we meet", "Tell Alex and Kim…"},
		{"会議室を変えます。明日の十時です", "会議室を変えます。…"}, {"長い、ほんとうに区切りのない文です", "長い、ほんとうに区…"},
	} {
		most := 20
		if x[0][0] > 'z' {
			most = 10
		}
		got := legible.ClipWords(x[0], most)
		expect.Is(t, got, x[1], x[0])
	}
}

// Letters and digits of another script in a Latin word tell their numbers.
func TestAStrayLetterIsTold(t *testing.T) {
	for _, forged := range []string{"g\u1040\u1040gle.com", "c\U000104eaop", "\U00010300CME", "1\u0b66\u0b660", "l\u0661",
		"o\u0665", "\u15c5cme", "x\u2571y", "ac\u0e41me", "ac\u0271e"} {
		expect.That(t, strings.Contains(legible.OneLine(forged), "⟨U+"), "%s stands as it is", forged)
	}
}

// What people write every day stays as it is.
func TestEverydayWordsHaveNoNumbers(t *testing.T) {
	words := strings.Fields(`工場 力仕事 口コミ 〆切 一ヶ月 データ一覧 プレゼン力 サーバー トイレへ ト書き PC部門 Web会議 IT推進室 SNS運用
		A4用紙 USBメモリ Wi-Fi e-Tax 10月分 2台 No.3 v2 R&D α版 μm Ａ社 １０月 ①番 ㈱山田 東京ー大阪`)
	for _, word := range words {
		expect.Is(t, legible.OneLine(word), word)
	}
}

// Beside another text only what that text has nowhere is marked.
func TestALineThatOnlyMovedIsNoDifference(t *testing.T) {
	got := legible.Beside("order\nask first\n\npay", "ask first\norder\norder")
	expect.Same(t, got, []legible.Line{{Text: "order"}, {Text: "ask first"}, {}, {Text: "pay", Alone: true}})
}
