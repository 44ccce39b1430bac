package main

import (
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
	"ringi/shared/store/tasks"
	"ringi/shared/words/language"
)

// An administrator of a further workspace sees at the budget of a day what bounds it whatever they save, and a contest that they
// begin is bounded by it; at the deployment's own workspace nothing is said.
func TestTheBudgetOfADayShowsWhatBoundsAFurtherWorkspace(t *testing.T) {
	db := storetest.Start(t)
	for _, locale := range language.All {
		for own, further := range map[string]bool{"T0HOME": true, slacktest.Team: false} {
			w := newWorld(t, db)
			rows := tasks.New(w.db, w.table) // as the function has it that meets requests
			expect.NoError(t, rows.CapFurther("2.50"))
			expect.NoError(t, rows.NoteDeployment(t.Context(), aggregate.TenantID(own), w.Now()))
			w.c.Begin = &beginner{w: w}
			b := w.as(workspace.Suzuki)
			b.locale = locale
			said := web.TextsOf("settings", locale).Say("further_day", "usd", "2.50")
			if a := b.get("/console/settings"); a.status != 200 || strings.Contains(a.text(), said) != further {
				t.Errorf("%s, %s: %d %s", locale, own, a.status, a.text())
			}
			if a := b.get("/console/contests/new"); a.status != 200 || strings.Contains(a.text(), "2.50") != further {
				t.Errorf("%s, %s: %d %s", locale, own, a.status, a.text())
			}
		}
	}
}
