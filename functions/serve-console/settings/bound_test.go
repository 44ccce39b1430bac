package settings

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A bound is a sentence with its unit; of hours it says days where they come out even.
func TestBoundsAreSentences(t *testing.T) {
	now := tenancy.DefaultSettings()
	said := map[string]string{}
	for _, locale := range language.All {
		for _, section := range tenancy.Sections {
			p := settingsPage{Section: section, now: now, form: formOf(now)}
			for _, in := range inputsIn(settingsTexts{web.TextsOf("settings", locale)}.sheetOf(p).Groups) {
				said[locale+" "+in.Name] = in.Bound
			}
		}
	}
	for name, want := range map[string]string{
		"ja approval_timeout_hours":   "1 時間〜364 日の間で決めます。",
		"en approval_timeout_hours":   "Between 1 hour and 364 days.",
		"ja draft_contest.max_rounds": "1〜10 回の間で決めます。",
		"en fiscal_year_month":        "Between 1 and 12.",
		"en max_open_tasks":           "Between 0 and 100,000 requests. 0 means no limit.",
		"ja max_cost_usd":             "0 にすると上限はありません。",
	} {
		expect.Is(t, said[name], want, name)
	}
}
