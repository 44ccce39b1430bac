package legible_test

import (
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestTextsOfNothing(t *testing.T) {
	for name, s := range map[string]string{
		"nothing": "", "spaces": " \t\n\u3000\u00a0\u1680", "Hangul fillers": "\u3164\uffa0\u115f\u1160", "Braille without dots": "\u2800\u2800",
		"a null notehead": "\U0001d159", "joiners": "\u200d\u200c\ufe0f\u034f", "tags": "\U000e0041\U000e007f", "unassigned ignorables": "\u2065\U000e0fff",
		"Mongolian separators": "\u180b\u180e\u180f", "Khmer vowels that are not drawn": "\u17b4\u17b5", "a mark alone": "\u0301", "private use": "\ue000\U000f0000",
	} {
		expect.That(t, !legible.Text(s), "%s: %+q is taken for a text", name, s)
	}
	for _, s := range []string{"a", "勤怠", "👍🏽", "e\u0301", "\u0600", "가", "ሀ"} {
		expect.That(t, legible.Text(s), "%q is taken for nothing", s)
	}
}

// Every right-to-left script that Go knows is covered, not only Hebrew and Arabic.
func TestScriptsFromRightToLeft(t *testing.T) {
	for name, script := range map[string]*unicode.RangeTable{
		"Hebrew": unicode.Hebrew, "Arabic": unicode.Arabic, "Syriac": unicode.Syriac, "Thaana": unicode.Thaana, "Nko": unicode.Nko, "Adlam": unicode.Adlam,
		"Phoenician": unicode.Phoenician, "Cypriot": unicode.Cypriot, "Kharoshthi": unicode.Kharoshthi, "Old Hungarian": unicode.Old_Hungarian,
		"Sogdian": unicode.Sogdian, "Yezidi": unicode.Yezidi, "Avestan": unicode.Avestan, "Mandaic": unicode.Mandaic, "Samaritan": unicode.Samaritan,
		"Hanifi Rohingya": unicode.Hanifi_Rohingya, "Mende Kikakui": unicode.Mende_Kikakui, "Lydian": unicode.Lydian, "Old Turkic": unicode.Old_Turkic,
	} {
		for _, r := range first(script) {
			if unicode.IsLetter(r) && !legible.RightToLeft(r) {
				t.Errorf("%s: %U is said to be written from left to right", name, r)
			}
		}
	}
	for _, r := range "aБ漢カ가ไअ፩😀" {
		expect.That(t, !legible.RightToLeft(r), "%c is said to be written from right to left", r)
	}
}

// first returns the first characters of each range of a script.
func first(script *unicode.RangeTable) (out []rune) {
	for _, r := range script.R16 {
		out = append(out, rune(r.Lo), rune(r.Hi))
	}
	for _, r := range script.R32 {
		out = append(out, rune(r.Lo), rune(r.Hi))
	}
	return out
}

// TestEverydayCharactersAreAsTheTablesSay compares all characters with Unicode's tables, including those for which
// everyday skips the lookup.
func TestEverydayCharactersAreAsTheTablesSay(t *testing.T) {
	for r := ' '; r <= unicode.MaxRune; r++ {
		drawn := unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		ignorable := !drawn && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
		expect.Is(t, legible.Ignorable(r), ignorable, "%U is ignorable", r)
		shows := drawn || !ignorable && !legible.Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
		expect.Is(t, legible.Shows(r), shows, "%U shows", r)
	}
}
