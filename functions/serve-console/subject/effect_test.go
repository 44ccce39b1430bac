package subject_test

import (
	"strings"
	"testing"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func order(items string) task.Step {
	return task.Step{
		StepID: "step-1", Order: 1, Tool: "rooms.place_order", ToolVersion: "v1", Access: aggregate.Write,
		RequiresHumanCheck: true, LeftOut: `{"note":"none"}`,
		ToolInput: aggregate.JSON(`{"supplier":"Acme","currency":"JPY","items":[` + items + `]}`),
		Mark: &rules.Mark{
			Version: "v1", How: rules.HowProduct, Pointers: []string{"/items/*/quantity", "/items/*/unit_price"},
			CurrencyAt: "/currency",
		},
	}
}

func written(pieces []subject.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text + p.ID)
	}
	return b.String()
}

func TestAPageTellsMoneyFirstAndEveryArgument(t *testing.T) {
	dm := task.Step{StepID: "step-2", Order: 2, Tool: "send_slack_dm", ToolVersion: "v1", Access: aggregate.Write,
		ToolInput: aggregate.JSON(`{"recipient":"U0HANAKO","text":"The order is placed.",` +
			`"details":[{"label":"Text","value":2}` + strings.Repeat(`,{"label":"n","value":3}`, 7) + `]}`)}
	for _, locale := range language.All {
		r := subject.Reader{Locale: locale, Person: func(string) string { return "Hanako" }}
		sum := r.Sum([]task.Step{order(`{"name":"Laptop","quantity":2,"unit_price":149000}`), dm})
		expect.Is(t, sum.Amount, "¥298,000")
		expect.Is(t, len(sum.Writes), 2)
		first, second := sum.Writes[0], sum.Writes[1]
		expect.Is(t, first.Amount, "")
		alone := r.Effect(explain.EffectOf(locale, order(`{"name":"Laptop","quantity":2,"unit_price":149000}`), nil, nil))
		expect.Is(t, alone.Amount, "¥298,000")
		expect.Is(t, first.Orders, "1")
		expect.That(t, first.Checked != "" && second.Checked == "" && first.Warning != "",
			"%s: %+v", locale, first)
		all := func(e subject.Effect) string {
			return web.Joined(e.Rest, func(a subject.Argument) string { return written(a.Name) + "=" + written(a.Value) }, "\n")
		}
		by := map[string]string{"ja": " (サーバーの既定値)", "en": " (server's default)"}[locale]
		expect.Is(t, all(first), "currency=JPY\nitems › 1=name: Laptop · quantity: 2 · unit_price: 149000\nsupplier=Acme\n"+
			"note"+by+"=none")
		expect.That(t, strings.Contains(written(second.Sentence), "HanakoU0HANAKO"), "%s: %+v", locale, second)
		expect.Is(t, written(second.Text), "The order is placed.")
		label := map[string]string{"ja": "「Text」=2", "en": "“Text”=2"}[locale]
		expect.That(t, strings.HasPrefix(all(second), label+"\n") && len(second.Rest) == 8, "%s: %s", locale, all(second))
	}
}

func TestAPageTellsWhatAVersionDoesOtherwise(t *testing.T) {
	r := subject.Reader{Locale: "en", Person: func(id string) string { return id }}
	was := []task.Step{order(`{"name":"Laptop","quantity":3,"unit_price":149000}`)}
	is := []task.Step{order(`{"name":"Laptop","quantity":2,"unit_price":149000}`)}
	changes := r.Changes(1, explain.Between(r.Locale, was, is))
	expect.Is(t, changes.Version, 1)
	total := changes.All[len(changes.All)-1]
	expect.Is(t, written(total.Was)+" "+written(total.Is), "¥447,000 ¥298,000")
	expect.That(t, r.Changes(1, explain.Between(r.Locale, was, was)) == nil, "versions that do the same differ")
}
