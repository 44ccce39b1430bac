package settings_test

import (
	"net/http"
	"net/url"
	"strings"
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

// prices returns the form with one price. change has texts of it, each with what stands there instead.
func prices(w *consoletest.World, change ...string) url.Values {
	return opened(w, "prices", strings.NewReplacer(change...).Replace("- model: compatible:box/llama3.2\n"+
		"  input: \"0.10\"\n  output: \"0.4\"\n"))
}

var box = tenancy.ModelPrice{Model: "compatible:box/llama3.2", Input: "0.10", Output: "0.4"}

func testAPriceIsSaved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get(formPage).Says(t, http.StatusOK, "モデルの料金", "100 万トークンあたり")
	b.Post(formPage, prices(w)).Leads(t, formPage+"?done=saved")
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
	b.Get(logPage).Says(t, http.StatusOK, "model: compatible:box/llama3.2")
	expect.Has(t, b.Get("/console/settings.yaml").Body, "model: compatible:box/llama3.2")
	b.Post(formPage, opened(w, "prices", " ")).Leads(t, formPage+"?done=saved")
	expect.Is(t, len(w.SettingsNow().Prices), 0, "an emptied list stays")
}

func testWhatIsNoPrice(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for _, tt := range []struct{ was, is, column, rule string }{
		{"compatible:box/llama3.2", "llama", "model", "model"},
		{"0.10", "1000", "input", "price"},
		{"0.4", "-1", "output", "price"},
	} {
		b.Post(formPage, prices(w, tt.was, tt.is)).
			Says(t, http.StatusUnprocessableEntity, tt.column+": "+ja.Rule(tt.rule))
	}
	twice := prices(w)
	twice.Set("prices", twice.Get("prices")+twice.Get("prices"))
	b.Post(formPage, twice).Says(t, http.StatusUnprocessableEntity, ja.Rule("taken"))
	expect.Is(t, len(w.SettingsNow().Prices), 0, "something was saved")
}

func testAnothersPrice(t *testing.T, w *consoletest.World) {
	b, late := w.As(webapi.Suzuki), opened(w, "max_versions", "7")
	b.Post(formPage, prices(w)).Leads(t, formPage+"?done=saved")
	b.Post(formPage, late).Says(t, http.StatusConflict)
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
}
