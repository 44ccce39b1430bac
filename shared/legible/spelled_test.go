package legible_test

import (
	"testing"

	"ringi/shared/legible"
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
		"␣⟨U+200B⟩":               "⟨U+2423⟩⟨U+27E8⟩U+200B⟩",
		"\xff\ufffd":              "⟨0xFF⟩⟨U+FFFD⟩",
		"":                        "",
	} {
		if got := legible.Spelled(s); got != want {
			t.Errorf("%+q is %q, want %q", s, got, want)
		}
	}
}

// FuzzTwoTextsHaveTwoSpellings: whatever two texts differ in, people see that they do.
func FuzzTwoTextsHaveTwoSpellings(f *testing.F) {
	for _, pair := range [][2]string{{"a b", "a  b"}, {"a", "a "}, {"a\u200b", "a"}, {"␣", " "}, {"⟨U+200B⟩", "\u200b"}, {"a\u00a0b", "a b"}, {"\xff", "\ufffd"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		first, second := legible.Spelled(a), legible.Spelled(b)
		if a != b && first == second {
			t.Errorf("%+q and %+q are both %q", a, b, first)
		}
		if legible.Visible(first) != first {
			t.Errorf("%+q is spelled %+q, of which a part is not seen", a, first)
		}
	})
}
