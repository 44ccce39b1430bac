package explain

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
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

// What is done is told as past, and a sheet with the rows that it got.
func TestWhatIsDoneIsPast(t *testing.T) {
	sheet := task.Step{Order: 1, Tool: toolSheet, Access: aggregate.Write, ToolInput: aggregate.JSON(
		`{"spreadsheet_id":"s","sheet":"9月","columns":[],"rows":{"$ref":"x.result.rows"}}`)}
	dm := task.Step{Order: 2, Tool: toolMessage, Access: aggregate.Write,
		ToolInput: `{"recipient":"U0SATO","text":"x","details":[]}`}
	for _, tc := range []struct {
		locale, rows string
		step         task.Step
		want         string
	}{
		{"ja", "1200", sheet, "シート「s」のタブ「9月」に書き込みました — 1,200 行"},
		{"en", "11", sheet, "Wrote to the tab “9月” of the sheet “s” — 11 rows"},
		{"en", "", sheet, "Wrote to the tab “9月” of the sheet “s”"},
		{"ja", "", dm, "U0SATO さんに DM を送りました"},
		{"en", "", dm, "Sent a DM to U0SATO"},
	} {
		e := EffectOf(tc.locale, tc.step, nil, nil)
		e.Amount = rules.Nothing()
		expect.Is(t, plain(e.Done(tc.locale, tc.rows)), tc.want)
	}
}

// Of an act whose words aren't among those of the past, a card would say that it is still to come.
func TestEachActHasAPast(t *testing.T) {
	for _, locale := range language.All {
		w := effectWordsOf.In(locale)
		past := strings.NewReplacer(strings.Split(w.Past, "/")...)
		for act, forms := range w.Acts {
			for _, form := range []string{"Both", "Party", "Items", "Bare"} {
				said := forms[form]
				expect.That(t, said == "" || past.Replace(said) != said, "%s: %s is not told as past: %s", locale, act, said)
			}
		}
	}
}
