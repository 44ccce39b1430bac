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
		"kinds of matters are lines of a text":      testMattersAreLines,
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
	b.Get(budgetPage).Says(t, http.StatusOK, "モデルの料金", "100 万トークンあたり")
	b.Post(budgetPage, prices(w, "prices.input", "０.10|")).Leads(t, budgetPage+"?done=saved")
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
	b.Get(historyPage).Says(t, http.StatusOK, "モデル: compatible:box/llama3.2 入力 (100 万トークンあたり、米ドル): 0.10") // in the history
	expect.Has(t, b.Get("/console/settings.yaml").Body, "model: compatible:box/llama3.2")
	b.Post(budgetPage, prices(w, "prices.model", "|", "prices.input", "|", "prices.output", "|",
		"prices.date", "|")).Leads(t, budgetPage+"?done=saved")
	expect.Is(t, len(w.SettingsNow().Prices), 0, "an emptied row stays")
}

// A list of one column is a text, in which each line is a row: several are typed and saved at once.
func testMattersAreLines(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Post(approvalPage, opened(w, "matters.name", "物品購入\r\n\r\n 出張\r\n業務委託")).Leads(t, approvalPage+"?done=saved")
	three := []tenancy.MatterKind{{Name: "物品購入"}, {Name: "出張"}, {Name: "業務委託"}}
	expect.Same(t, three, w.SettingsNow().Matters)
	b.Get(approvalPage).Holds(t, `name="matters.name" rows="6"`, "物品購入\n出張\n業務委託</textarea>")
	long := strings.Repeat("あ", 41)
	for locale, says := range map[string]string{"ja": long + ": ", "en": long + ": "} {
		b.In(locale).Post(approvalPage, opened(w, "matters.name", "出張\n"+long)).Says(t, http.StatusUnprocessableEntity, says)
	}
	b.Post(approvalPage, opened(w, "matters.name", "")).Leads(t, approvalPage+"?done=saved")
	expect.Is(t, len(w.SettingsNow().Matters), 0)
}

func testWhatIsNoPrice(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for _, tt := range []struct {
		change []string
		column string
		rule   string
	}{
		{[]string{"prices.model", "llama|"}, "model", "model"},
		{[]string{"prices.input", "1000|"}, "input", "price"},
		{[]string{"prices.output", "-1|"}, "output", "price"},
		{[]string{"prices.cached", "free|"}, "cached", "price"},
		{[]string{"prices.date", "2026-02-30|"}, "date", "date"},
	} {
		b.Post(budgetPage, prices(w, tt.change...)).
			Says(t, http.StatusUnprocessableEntity, ja.In("columns", "prices."+tt.column)+": "+ja.Rule(tt.rule))
	}
	twice := prices(w)
	for name, value := range map[string]string{"model": "compatible:box/llama3.2", "input": "1", "output": "2",
		"date": "2026-11-20"} {
		twice["prices."+name][1] = value
	}
	b.Post(budgetPage, twice).Says(t, http.StatusUnprocessableEntity, ja.Rule("taken"))
	expect.Is(t, len(w.SettingsNow().Prices), 0, "something was saved")
}

func testAnothersPrice(t *testing.T, w *consoletest.World) {
	b, late := w.As(webapi.Suzuki), opened(w, "max_versions", "7")
	b.Post(budgetPage, prices(w)).Leads(t, budgetPage+"?done=saved")
	b.Post(budgetPage, late).Says(t, http.StatusConflict, box.Model)
	expect.Same(t, []tenancy.ModelPrice{box}, w.SettingsNow().Prices)
}
