package legible_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

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
		"jinji@exаmple.com": "jinji@exа⟨U+0430⟩mple.com", "jınjı": "jı⟨U+0131⟩njı⟨U+0131⟩", "https://a.jp⁄x": "https://a.jp⁄⟨U+2044⟩x", "𝟷2": "𝟷⟨U+1D7F7⟩2", "2026‐04": "2026‐⟨U+2010⟩04",
		"e\u0301 か\u3099 a\u0336": "e\u0301⟨U+0301⟩ か\u3099⟨U+3099⟩ a⟨U+0336⟩", "é が Müller x='Москва' α版 क\u0301": "é が Müller x='Москва' α版 क\u0301", "5\u212a": "5\u212a⟨U+212A⟩",
		// without the number this would be drawn as rm ב */א
		"rm א/* ב": "rm א⟨U+05D0⟩/* ב", "\"אב\" 100": "\"אב⟨U+05D1⟩\" 100", "שלום עולם.\n1": "שלום עולם.\n1", "א foo 1": "א foo 1",
		"\ufffc\U00013441": "⟨U+FFFC⟩⟨U+13441⟩",
		"\xff\ufffd":       "⟨0xFF⟩⟨U+FFFD⟩",
		"":                 "",
	} {
		expect.Is(t, legible.Spelled(s), want, "%+q", s)
	}
}

func TestALineHasNoOther(t *testing.T) {
	for s, want := range map[string]string{
		"a\nb": "a ⏎ b", "a\n\nb\n": "a ⏎ ⏎ b ⏎", "\n": "⏎", "a" + strings.Repeat("\n", 4000) + " b": "a ⟨⏎ ×4000⟩ ␣b", "a ⏎ b": "a ⟨U+23CE⟩ b", "a \n b": "a␣ ⏎ ␣b",
	} {
		expect.Is(t, legible.OneLine(s), want, "%q", s)
	}
}

// FuzzTwoTextsHaveTwoSpellings checks that people can see every difference between two texts.
func FuzzTwoTextsHaveTwoSpellings(f *testing.F) {
	for _, pair := range [][2]string{{"a b", "a  b"}, {"a", "a "}, {"a\u200b", "a"}, {"␣", " "}, {"⟨U+200B⟩", "\u200b"}, {"a\u00a0b", "a b"}, {"\xff", "\ufffd"}, {"a\n", "a ⏎"}, {"         ", "⟨␣ ×9⟩"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := legible.Spelled(a), legible.Spelled(b)
		expect.That(t, a == b || first != second, "%+q and %+q are both %q", a, b, first)
		one, two := legible.OneLine(a), legible.OneLine(b)
		expect.That(t, a == b || one != two, "%+q and %+q are both %q in a line", a, b, one)
		expect.Is(t, legible.Visible(first), first, "%+q is spelled, of which a part is not seen", a)
	})
}

// TestALongWordIsSpelledInGoodTime uses the longest word that fits into a call's value.
func TestALongWordIsSpelledInGoodTime(t *testing.T) {
	expect.Within(t, 2*time.Second, func() {
		for _, word := range []string{"ж", "Ⅽ", "א(", "が"} {
			_ = legible.Spelled(strings.Repeat(word, 1<<17))
		}
	})
}
