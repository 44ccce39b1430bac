package settings_test

import (
	"net/http"
	"net/url"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// TestPrices is about the prices of models that an administrator gives.
func TestPrices(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a price is saved as it was typed":          testAPriceIsSaved,
		"bad input is named with field and limit":   testWhatIsNoPrice,
		"another administrator's price is not lost": testAnothersPrice,
	})
}

// prices returns the form with one price, and an empty row.
func prices(w *consoletest.World, change ...string) url.Values {
	return opened(w, append([]string{"prices.model", "compatible:box/llama3.2|", "prices.input", "0.10|",
		"prices.output", "0.4|", "prices.cached", "|", "prices.date", "2026-11-20|"}, change...)...)
}

var box = tenancy.ModelPrice{Model: "compatible:box/llama3.2", Input: "0.10", Output: "0.4", Date: "2026-11-20"}

func testAPriceIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/settings").Says(t, http.StatusOK, "モデルの料金", "100 万トークンあたり")
	b.Post("/console/settings", prices(w, "prices.input", "０.10|")).Leads(t, "/console/settings?done=saved")
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
	b.Get("/console/settings").Says(t, http.StatusOK, "compatible:box/llama3.2 0.10 0.4 2026-11-20") // in the history
	expect.Has(t, b.Get("/console/settings.yaml").Body, "model: compatible:box/llama3.2")
	b.Post("/console/settings", prices(w, "prices.model", "|", "prices.input", "|", "prices.output", "|",
		"prices.date", "|")).Leads(t, "/console/settings?done=saved")
	expect.Is(t, len(w.SettingsNow().Prices), 0, "an emptied row stays")
}

func testWhatIsNoPrice(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for _, tt := range []struct {
		change []string
		column string
		rule   tenancy.Rule
	}{
		{[]string{"prices.model", "llama|"}, "model", tenancy.RuleModel},
		{[]string{"prices.model", "demo|"}, "model", tenancy.RuleModel},
		{[]string{"prices.input", "1000|"}, "input", tenancy.RulePrice},
		{[]string{"prices.input", "|"}, "input", tenancy.RulePrice},
		{[]string{"prices.output", "-1|"}, "output", tenancy.RulePrice},
		{[]string{"prices.output", "0.1234567|"}, "output", tenancy.RulePrice},
		{[]string{"prices.cached", "free|"}, "cached", tenancy.RulePrice},
		{[]string{"prices.date", "|"}, "date", tenancy.RuleDate},
		{[]string{"prices.date", "2026-02-30|"}, "date", tenancy.RuleDate},
	} {
		page := b.Post("/console/settings", prices(w, tt.change...))
		page.Says(t, http.StatusUnprocessableEntity, ja.In("columns", "prices."+tt.column)+": "+ja.Rule(tt.rule))
	}
	twice := prices(w)
	for name, value := range map[string]string{"model": "compatible:box/llama3.2", "input": "1", "output": "2", "date": "2026-11-20"} {
		twice["prices."+name][1] = value
	}
	b.Post("/console/settings", twice).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.RuleTaken))
	expect.Is(t, len(w.SettingsNow().Prices), 0, "something was saved")
}

func testAnothersPrice(t *testing.T, w *consoletest.World) {
	b, late := w.As(webapi.Suzuki), opened(w, "max_versions", "7")
	b.Post("/console/settings", prices(w)).Leads(t, "/console/settings?done=saved")
	b.Post("/console/settings", late).Says(t, http.StatusConflict, "compatible:box/llama3.2")
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
}
