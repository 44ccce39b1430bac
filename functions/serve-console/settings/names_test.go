package settings_test

import (
	"strings"
	"testing"

	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// People pass the name of a setting from a sentence on to an administrator: the settings page must use that name.
func TestSentencesNameSettingsAsTheirPageDoes(t *testing.T) {
	for _, locale := range language.All {
		words := settings.Texts{web.TextsOf("settings", locale)}
		for field, reasons := range map[string][]aggregate.Reason{
			"max_cost_usd": {task.ReasonCostLimit, task.ReasonModelUnpriced}, "max_cost_day_usd": {task.ReasonDayBudget, task.ReasonModelUnpriced},
			"max_open_tasks.person": {task.ReasonOpenPerson}, "max_open_tasks.tenant": {task.ReasonOpenTenant, task.ReasonNearlyFull},
			"max_tasks_per_hour.person": {task.ReasonHourPerson}, "max_tasks_per_hour.tenant": {task.ReasonHourTenant},
		} {
			for _, r := range reasons {
				said := explain.Ended(locale, r, "")
				expect.That(t, strings.Contains(said, words.Label(field)), "%s %s: %q", locale, field, said)
			}
		}
	}
}
