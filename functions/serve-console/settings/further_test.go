package settings_test

import (
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// In a further workspace, the page shows an administrator the deployment's limit next to the day's budget, and a
// contest is bounded by it. In the deployment's own workspace the page shows no such limit.
func TestTheBudgetOfADayShowsWhatBoundsAFurtherWorkspace(t *testing.T) {
	db := storetest.Start(t)
	for _, locale := range language.All {
		for own, further := range map[string]bool{"T0HOME": true, slacktest.Team: false} {
			w := consoletest.New(t, db)
			rows := store.NewTasks(w.DB, w.Table) // as in the function that meets requests
			expect.NoError(t, rows.CapFurther("2.50"))
			expect.NoError(t, rows.NoteDeployment(t.Context(), aggregate.TenantID(own), w.Now()))
			w.Console.Begin = &consoletest.Beginner{W: w}
			b := w.As(webapi.Suzuki)
			b.Locale = locale
			said := web.TextsOf("settings", locale).Say("further_day", "usd", "2.50")
			if a := b.Get("/console/settings"); a.Status != 200 || strings.Contains(a.Text(), said) != further {
				t.Errorf("%s, %s: %d %s", locale, own, a.Status, a.Text())
			}
			prices := web.TextsOf("settings", locale).Say("further_prices")
			if a := b.Get("/console/settings"); strings.Contains(a.Text(), prices) != further {
				t.Errorf("%s, %s: prices of its own: %s", locale, own, a.Text())
			}
			if a := b.Get("/console/contests/new"); a.Status != 200 || strings.Contains(a.Text(), "2.50") != further {
				t.Errorf("%s, %s: %d %s", locale, own, a.Status, a.Text())
			}
		}
	}
}
