package legible_test

import (
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

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
		expect.Is(t, legible.Code(s), want, "%+q", s)
	}
}

func FuzzCodeIsSeen(f *testing.F) {
	f.Add("a\u200b\xff\r\n\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		got := legible.Code(s)
		expect.Is(t, legible.Code(got), got, "%+q, twice", s)
		for _, r := range got {
			expect.That(t, r == '\n' || r == '\t' || legible.Joiner(r) || !legible.Ignorable(r), "%+q became %+q", s, got)
		}
	})
}
