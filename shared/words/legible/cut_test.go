package legible_test

import (
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

// What is cut ends with a whole word or sentence, and with no sign that something follows but the ellipsis.
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
