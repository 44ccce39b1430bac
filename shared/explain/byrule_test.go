package explain

import (
	"strings"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A refusal for want of people says why, and which page of the console helps, whatever the reason.
func TestWhyNobodyIsFoundIsSaidWithWhatToDo(t *testing.T) {
	as := func(marks string) func(string) string { return func(s string) string { return marks + s } }
	for _, locale := range language.All {
		pages := map[string][]string{"ja": {"「組織」", "「回覧ルール」"}, "en": {"“Organisation”", "“Routing rules”"}}[locale]
		for _, detail := range []string{"課長", "課長\nabo", "課長\nabove\nU1\n高額", "課長\nvacant\nU1\n高額",
			"課長\nvacant\n\n高額", "課長\nstanding\n\n高額", "課長\nown\n\n高額", "課長\ntwice\n\n高額", "\nhands\n\n高額",
			"課長\nmany\n\n高額", "課長\nchannel\n\n高額", "\nfloor\n\n高額", "\nbounds\n\n高額", "課長\nnew\n\n高額"} {
			said := Ended(locale, task.ReasonNoRoute, FitDetail(task.ReasonNoRoute, detail, as(""), as("@")), NoRetry)
			expect.That(t, strings.Contains(said, pages[0]) || strings.Contains(said, pages[1]), "%q: %s", detail, said)
			expect.That(t, !strings.ContainsAny(said, "{}\n"), "%q: %s", detail, said)
			expect.Is(t, strings.Contains(said, "@U1"), strings.Contains(detail, "U1"), said)
			expect.Is(t, strings.Contains(said, "課長"), strings.HasPrefix(detail, "課長"), said)
		}
		for _, code := range []string{rules.LeftVacant, rules.LeftStanding, rules.LeftOwn, rules.LeftTwice, rules.LeftHands,
			rules.LeftMany, rules.LeftChannel, rules.LeftFloor, rules.LeftBounds, rules.LeftAbove + "_of"} {
			expect.That(t, endWordsOf.In(locale).Lacks[code] != "", "%s has no words for %s", locale, code)
		}
	}
	detail := FitDetail(task.ReasonUnknownPost, "課長\nabove\nU1\n高額", as(""), func(string) string { return "加藤 真" })
	said := Ended("ja", task.ReasonUnknownPost, detail, NoRetry)
	expect.Has(t, said, "加藤 真 さんの上長が、組織表にありません。管理者に、コンソールの「組織」への登録を頼み")
}
