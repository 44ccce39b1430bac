package explain

import (
	"regexp"
	"slices"
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
			expect.That(t, form["Short"] != "" && form["ShortBare"] != "" && form["Final"] != "" && form["Bare"] != "",
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
		expect.Is(t, Plain(e.Done(tc.locale, tc.rows)), tc.want)
	}
}

// A card tells each sentence about what will be done also once it is done, with the same names in it.
func TestEachActHasAPast(t *testing.T) {
	names := regexp.MustCompile(`\{\w+\}`)
	namesIn := func(said string) []string { return slices.Sorted(slices.Values(names.FindAllString(said, -1))) }
	for _, locale := range language.All {
		acts, others := effectWordsOf.In(locale).Acts, effectWordsOf.In(language.All[0]).Acts
		for _, act := range append(rules.Acts, rules.ActSheet, rules.ActRead, "dm", "") {
			forms := acts[string(act)]
			expect.That(t, forms["Bare"] != "", "%s has no sentence for %q", locale, act)
			for _, form := range []string{"Both", "Party", "Items", "Bare"} {
				is, done := forms[form], forms[form+"Done"]
				expect.That(t, (is == "") == (others[string(act)][form] == ""), "%q has %s in one language", act, form)
				expect.That(t, (is == "") == (done == "") && (is == "" || is != done) &&
					slices.Equal(namesIn(is), namesIn(done)), "%s: %q is done by %q", locale, is, done)
			}
		}
	}
}

// A key of a server's result is told in words, unless these could be a row's place.
func TestAPartOfAResultIsNamedInWords(t *testing.T) {
	for key, want := range map[string]string{
		"order_number": "“order number” from step 1", "item_1": "“item_1” from step 1",
		"a__b":         "“a__b” from step 1",
		"order number": "““order number”” from step 1", "item_no.0": "“item no › item 1” from step 1",
	} {
		l := writer{locale: "en", w: lineWordsOf("en"), earlier: []task.Step{{StepID: "step-1", Order: 1, Tool: "x.y"}}}
		expect.That(t, l.from("step-1.result."+key), "%s leads nowhere", key)
		expect.Is(t, Plain(l.out), want)
	}
}

// A part of a result has the name that the tool's mark gives it, and nothing else passes for that.
func TestAPartOfAResultHasItsName(t *testing.T) {
	mark := &rules.Mark{Version: "v1", Act: rules.ActOrder, Results: map[string]language.Texts{
		"/order_number": {"ja": "発注番号", "en": "Order number"}, "/rows/*/id": {"ja": "行の番号"}}}
	ordered := task.Step{StepID: "step-1", Order: 1, Tool: "x.y", ToolVersion: "v1", Mark: mark}
	for _, tc := range []struct{ locale, at, want string }{
		{"ja", "order_number", "ステップ1の結果の「発注番号」"}, {"en", "order_number", "“Order number” from step 1"},
		{"ja", "発注番号", "ステップ1の結果の「「発注番号」」"}, {"ja", "Order_number", "ステップ1の結果の「「Order_number」」"},
		{"en", "ORDER_NUMBER", "““ORDER_NUMBER”” from step 1"}, {"ja", "rows.1.id", "ステップ1の結果の「rows › 2 件目 › 行の番号」"},
		{"en", "rows.1.id", "“rows › item 2 › 行の番号” from step 1"}, {"ja", "id", "ステップ1の結果の「id」"},
	} {
		l := writer{locale: tc.locale, w: lineWordsOf(tc.locale), earlier: []task.Step{ordered}}
		expect.That(t, l.from("step-1.result."+tc.at), "%s leads nowhere", tc.at)
		expect.Is(t, Plain(l.out), tc.want)
	}
	other := ordered
	other.StepID, other.Order, other.Mark = "step-2", 2, nil
	l := writer{locale: "en", w: lineWordsOf("en"), earlier: []task.Step{ordered, other}}
	l.list([]any{map[string]any{"$ref": "step-1.result.order_number"},
		map[string]any{"$ref": "step-2.result.order_number"}})
	expect.Is(t, Plain(l.out), "“Order number” from step 1, “order number” from step 2")
}
