package demo

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestDraftsAreTextsToRead(t *testing.T) {
	for request, title := range map[string]string{
		"経費精算の差し戻しを減らす方針を書いて": "経費精算の差し戻しを減らす方針", "出張の申請手順をまとめて": "出張の申請手順", "Write down how travel is requested": "How to request business travel",
		"新入社員の受け入れ計画": "入社初日から 30 日の受け入れ計画", "Draft an onboarding plan": "Onboarding: the first 30 days", "テレワークのルール": "在宅勤務の運用ルール",
		"Rules for remote work": "Working from home", "会議を減らしたい": "会議を減らし、短くする方針", "Fewer meetings, please": "Fewer and shorter meetings",
		"残業を減らす方針": "残業を減らす方針", "How do we get less overtime?": "Less overtime", "備品の管理方法": "「備品の管理方法」の進め方", "How we name files": "How to handle “How we name files”",
		"Fewer expense claims sent back": "Fewer expense claims sent back",
	} {
		d, _ := allDrafts.In(language.Of(request, "ja")).on(request)
		expect.Is(t, d.Title, title)
		before := 0
		for round := range 3 {
			lines := d.text(round, round)
			expect.That(t, len(lines) > before && len(lines) >= 5, "%s, round %d: %d lines", request, round, len(lines))
			before = len(lines)
			expect.That(t, strings.Join(d.text(0, round), "") != strings.Join(d.text(1, round), ""), "%s: two views are alike", request)
		}
	}
}

// A topic that lacks something in one language would be noticed only in a contest about it.
func TestDraftsAreCompleteInBothLanguages(t *testing.T) {
	of := func(locale string) Drafts { return *allDrafts.In(locale) }
	for _, locale := range language.All {
		d, first := of(locale), of(language.All[0])
		expect.That(t, len(d.Policy) == len(d.Views) && len(d.Topics) == len(first.Topics) && len(d.Topics) >= 6, "%s: %+v", locale, d)
		for i, x := range append([]Draft{d.General}, d.Topics...) {
			expect.That(t, x.Title != "" && x.Aim != "" && x.Found != "" && len(x.Rules) >= 4 && len(x.Views) == len(d.Views) &&
				len(x.Rounds) == 2, "%s, %d: %+v", locale, i, x)
			for _, line := range append(append([]string{x.Title, x.Aim, x.Found}, x.Rules...), x.Views...) {
				expect.That(t, hasJapanese(line) == (locale == "ja"), "%s: %s", locale, line)
			}
		}
	}
}
