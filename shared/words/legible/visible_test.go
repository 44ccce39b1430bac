package legible_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/legible"
)

func TestWhatIsVisible(t *testing.T) {
	for s, want := range map[string]string{
		"承認\U000e0061\U000e0070\U000e0070してください":       "承認してください",                // tags spell ASCII that nobody sees
		"a\u202eb\u2066c\u2069\u200e":                  "abc",                     // they turn the reading direction
		"se\u200bcr\u2060et\ufeff\u00ad":               "secret",                  // no width
		"a\u3164b\u2800c\u00a0d":                       "a b c d",                 // drawn empty
		"👨\u200d👩\u200d👧 ❤\ufe0f":                      "👨\u200d👩\u200d👧 ❤\ufe0f", // one picture each
		"葛\U000e0100城":                                 "葛\U000e0100城",            // another form of the letter
		"x\ufe01\ufe02\ufe03\ufe04":                    "x",                       // bytes can be hidden in these
		"通\ufe01知\U000e0141a\U000e0142b\u200dc\u200cd": "通\ufe01知\U000e0141abcd",
		strings.Repeat("知\U000e0141", 99):              strings.Repeat("知\U000e0141", 32) + strings.Repeat("知", 67),
		"1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 ℹ\ufe0f क\u094d\u200dष می\u200cخواهم": "1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 " +
			"👩🏽\u200d🚀 ℹ\ufe0f क\u094d\u200dष می\u200cخواهم",
		// models read words that are struck out
		"全\u0336員\u0336に送\u20e0る =\u0338": "全員に送る =\u0338",
		"a\r\nb\u2028c\vd\x00\x1b":        "a\nb\nc\nd",
		"勤怠 <b> & \"q\" \\":               "勤怠 <b> & \"q\" \\",
	} {
		expect.Is(t, legible.Visible(s), want, "%+q", s)
	}
}

func TestJSONKeepsItsFormAndLosesWhatNobodySees(t *testing.T) {
	in := "{\"a\\\"\\u200bb\": [\"x\\udb40\\udc61\", \"\\\\\\\"\u202e\", 1e400, 18446744073709551616, true, null, " +
		"\"\\u003c\\n\", \"a\\t\\tb\"]}"
	want := `{"a\"b": ["x", "\\\"", 1e400, 18446744073709551616, true, null, "\u003c\n", "a\t\tb"]}`
	got := string(legible.JSON([]byte(in)))
	expect.That(t, got == want && json.Valid([]byte(got)), "%s, want %s", got, want)
}

func TestEmptyLinesAreOneInARow(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb": "a\nb", "a\n\nb\n": "a\n\nb\n", "a\n\n\n\nb": "a\n\nb", "a\n \n\u2800\n\u3164\nb": "a\n" +
			" \nb", "  - a": "  - a", "": "",
		"a" + strings.Repeat("\u3000", 7000) + "b": "a" + strings.Repeat("\u3000", 8) + "b", strings.Repeat(" \t",
			9) + "a": strings.Repeat(" \t", 4) + "a",
		"a" + strings.Repeat("\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u3000\u200d",
			444) + "b": "a" + strings.Repeat("\u3000", 8) + "\u200db",
		"a" + strings.Repeat("\u3000\u200c", 444) + " b": "a" + strings.Repeat("\u3000", 8) + "b",
		"a" + strings.Repeat("\U00013441", 444) + "b":    "a" + strings.Repeat("\U00013441", 8) + "b",
		"a" + strings.Repeat("\u00a0\u034f", 444) + "b":  "a" + strings.Repeat("\u00a0\u034f", 4) + "b",
		"👩\u200d👩 ❤\ufe0f\u200d🔥 क\u094d\u200dष e\u0301 1\ufe0f\u20e3": "👩\u200d👩 ❤\ufe0f\u200d🔥 क\u094d\u200dष e\u0301 " +
			"1\ufe0f\u20e3",
	} {
		expect.Is(t, legible.Paragraphs(text), want, "%q became", text)
	}
}

func TestTextsOfNothing(t *testing.T) {
	for name, s := range map[string]string{
		"nothing": "", "spaces": " \t\n\u3000\u00a0\u1680", "Hangul fillers": "\u3164\uffa0\u115f\u1160",
		"Braille without dots": "\u2800\u2800",
		"a null notehead":      "\U0001d159", "joiners": "\u200d\u200c\ufe0f\u034f", "tags": "\U000e0041\U000e007f",
		"unassigned ignorables": "\u2065\U000e0fff",
		"Mongolian separators":  "\u180b\u180e\u180f", "Khmer vowels that are not " +
			"drawn": "\u17b4\u17b5", "a mark alone": "\u0301", "private use": "\ue000\U000f0000",
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
		"Hebrew": unicode.Hebrew, "Arabic": unicode.Arabic, "Syriac": unicode.Syriac, "Thaana": unicode.Thaana,
		"Nko": unicode.Nko, "Adlam": unicode.Adlam,
		"Phoenician": unicode.Phoenician, "Cypriot": unicode.Cypriot, "Kharoshthi": unicode.Kharoshthi,
		"Old Hungarian": unicode.Old_Hungarian,
		"Sogdian":       unicode.Sogdian, "Yezidi": unicode.Yezidi, "Avestan": unicode.Avestan, "Mandaic": unicode.Mandaic,
		"Samaritan":       unicode.Samaritan,
		"Hanifi Rohingya": unicode.Hanifi_Rohingya, "Mende Kikakui": unicode.Mende_Kikakui, "Lydian": unicode.Lydian,
		"Old Turkic": unicode.Old_Turkic,
	} {
		for _, r := range first(script) {
			expect.That(t, !unicode.IsLetter(r) || legible.RightToLeft(r), "%s: %U is said to be written from left to right",
				name, r)
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
		ignorable := !drawn && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point)
		expect.Is(t, legible.Ignorable(r), ignorable, "%U is ignorable", r)
		shows := drawn || !ignorable && !legible.Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
		expect.Is(t, legible.Shows(r), shows, "%U shows", r)
	}
}
