package explain

import (
	"slices"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestEachLanguageSaysWhatIsDone(t *testing.T) {
	expect.Whole[effectWords](t, texts, "texts/effect")
	for _, locale := range language.All {
		w := effectWordsOf.In(locale)
		for _, name := range []string{w.Subtotal, w.Total, w.Unread} {
			expect.That(t, slices.Contains(rules.OwnNames, name), "an argument may be called %s", name)
		}
		for _, act := range append(rules.Acts, rules.ActSheet, "dm", "") {
			form := w.Acts[string(act)]
			expect.That(t, form["Short"] != "" && form["ShortBare"] != "" && form["Final"] != "" && (act == "" || form["Bare"] != ""),
				"%s lacks words for %q", locale, act)
		}
	}
}
