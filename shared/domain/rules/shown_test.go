package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// told is a mark with all that people are shown.
func told() *rules.Mark {
	m := productOf("/items/*/quantity", "/items/*/unit_price")
	m.Act, m.Party, m.Item, m.Words = rules.ActOrder, "/supplier", "/items/*/name", "/note"
	m.Names = map[string]language.Texts{"/supplier": {"ja": "取引先", "en": "Supplier"}, "/items/*/name": {"ja": "品目"},
		"/items/*/quantity": {"ja": "数量"}}
	m.Labels = map[string]string{"acme": "アクメ", "globex": "Globex 株式会社"}
	return m
}

func ja(name string) language.Texts { return language.Texts{"ja": name} }

func TestProblemsOfWhatAMarkShows(t *testing.T) {
	expect.Is(t, len(told().Problems()), 0)
	only := &rules.Mark{Version: "v1", Act: rules.ActBooking}
	expect.Is(t, len(only.Problems()), 0)
	many, long, french := map[string]language.Texts{}, strings.Repeat("長", 41), language.Texts{"fr": "Note"}
	for i := range 41 {
		many[fmt.Sprintf("/a%d", i)] = language.Texts{"ja": fmt.Sprintf("n%d", i)}
	}
	for name, c := range map[string]struct {
		change func(*rules.Mark)
		field  string
	}{
		"an act of its own":           {func(m *rules.Mark) { m.Act = "gift" }, "act"},
		"the act of Ringi's own tool": {func(m *rules.Mark) { m.Act = rules.ActSheet }, "act"},
		"parties in rows":             {func(m *rules.Mark) { m.Party = "/items/*/supplier" }, "party"},
		"no pointer to a party":       {func(m *rules.Mark) { m.Party = "supplier" }, "party"},
		"words in rows":               {func(m *rules.Mark) { m.Words = "/notes/*" }, "words"},
		"items in other rows":         {func(m *rules.Mark) { m.Item = "/others/*/name" }, "item"},
		"a party that is the words":   {func(m *rules.Mark) { m.Party = m.Words }, "party"},
		"an item that is the words":   {func(m *rules.Mark) { m.Item = m.Words }, "words"},
		"a name in quotation marks":   {func(m *rules.Mark) { m.Names["/note"] = ja("「備考」") }, "names[/note]"},
		"a name with a star":          {func(m *rules.Mark) { m.Names["/note"] = ja("備考*") }, "names[/note]"},
		"a name of two lines":         {func(m *rules.Mark) { m.Names["/note"] = ja("備\n考") }, "names[/note]"},
		"a long name":                 {func(m *rules.Mark) { m.Names["/note"] = ja(long) }, "names[/note]"},
		"a name that hides":           {func(m *rules.Mark) { m.Names["/note"] = ja("備\u200b考") }, "names[/note]"},
		"a name that looks like one":  {func(m *rules.Mark) { m.Names["/note"] = ja("N\u043ete") }, "names[/note]"},
		"a name in equal letters":     {func(m *rules.Mark) { m.Names["/note"] = ja("\uf90a額") }, "names[/note]"},
		"a name in Greek letters":     {func(m *rules.Mark) { m.Names["/note"] = ja("ΤΑΧ") }, "names[/note]"},
		"a name of radicals":          {func(m *rules.Mark) { m.Names["/note"] = ja("⼩計") }, "names[/note]"},
		"a name of Ringi's in width":  {func(m *rules.Mark) { m.Names["/note"] = ja("ＴＯＴＡＬ") }, "names[/note]"},
		"a name twice":                {func(m *rules.Mark) { m.Names["/tel"] = ja("取引先") }, "names[/tel]"},
		"a name of Ringi's":           {func(m *rules.Mark) { m.Names["/note"] = ja("SUBTOTAL") }, "names[/note]"},
		"a name of no pointer":        {func(m *rules.Mark) { m.Names["note"] = ja("備考") }, "names[note]"},
		"another's name in English":   {func(m *rules.Mark) { m.Names["/tel"] = language.Texts{"en": "取引先"} }, "names[/tel]"},
		"a name in no language":       {func(m *rules.Mark) { m.Names["/note"] = french }, "names[/note]"},
		"a result's name twice": {func(m *rules.Mark) {
			m.Results = map[string]language.Texts{"/id": ja("番号"), "/number": {"en": "番号"}}
		}, "results[/number]"},
		"a result's name like a row": {func(m *rules.Mark) {
			m.Results = map[string]language.Texts{"/id": {"en": "item 1"}}
		}, "results[/id]"},
		"many names":         {func(m *rules.Mark) { m.Names = many }, "names"},
		"a label twice":      {func(m *rules.Mark) { m.Labels["acme2"] = "アクメ" }, "labels[acme2]"},
		"a label of nothing": {func(m *rules.Mark) { m.Labels[""] = "x" }, "labels[]"},
		"a label that hides": {func(m *rules.Mark) { m.Labels["b"] = "\u3164" }, "labels[b]"},
		"a long label":       {func(m *rules.Mark) { m.Labels["b"] = strings.Repeat("b", 61) }, "labels[b]"},
		"all together too long": {func(m *rules.Mark) {
			for i := range 12 {
				m.Labels[strings.Repeat("v", 198)+fmt.Sprint(i)] = fmt.Sprintf("v%d", i)
			}
		}, "names"},
	} {
		m := told()
		c.change(m)
		fields := fieldsOf(m.Problems())
		expect.That(t, len(fields) > 0 && fields[0] == c.field, "%s: %v, want %s", name, fields, c.field)
	}
}

// What a mark shows decides nothing.
func TestWhatAMarkShowsDecidesNothing(t *testing.T) {
	pointers := rapid.SampledFrom([]string{"", "/supplier", "/note", "/amount", "/items/*/name", "/items/*/quantity"})
	rapid.Check(t, func(t *rapid.T) {
		m := told()
		if rapid.Bool().Draw(t, "sum") {
			m = sumOf("/amount")
		}
		decides := m.Decides()
		m.Act = rapid.SampledFrom(append(rules.Acts, "")).Draw(t, "act")
		m.Party, m.Words = pointers.Draw(t, "party"), pointers.Draw(t, "words")
		m.Item = pointers.Draw(t, "item")
		m.Names = rapid.MapOf(pointers, rapid.SampledFrom([]language.Texts{ja("a"), ja("金額の欄")})).Draw(t, "names")
		m.Labels = rapid.MapOf(pointers, rapid.SampledFrom([]string{"a", "b"})).Draw(t, "labels")
		m.Results = rapid.MapOf(pointers, rapid.SampledFrom([]language.Texts{ja("a"), ja("b")})).Draw(t, "results")
		if len(m.Problems()) > 0 {
			return
		}
		args := aggregate.JSON(rapid.SampledFrom([]string{
			`{"supplier":"acme","amount":5,"items":[{"name":"a","quantity":2,"unit_price":"1,000"}]}`,
			`{"supplier":["acme","globex"],"items":[]}`, `{"amount":{"$ref":"step-1.result.n"}}`, `{}`, `x`,
		}).Draw(t, "arguments"))
		expect.Same(t, m.AmountOf("v1", aggregate.Write, args), decides.AmountOf("v1", aggregate.Write, args))
		expect.That(t, m.DecidesAs(&decides), "it decides otherwise: %+v", m)
	})
}

func TestTheRowsOfAProductHaveAmounts(t *testing.T) {
	m := told()
	rows := aggregate.JSON(`{"items":[{"quantity":2,"unit_price":"1,000"},{"quantity":1,"unit_price":0.5}]}`)
	expect.Same(t, m.Subtotals("v1", rows), []rules.Amount{yen("2000"), yen("0.5")})
	expect.Same(t, m.Prices(), []string{"/items/*/unit_price"})
	for name, c := range map[string]struct {
		mark      *rules.Mark
		arguments aggregate.JSON
	}{
		"no mark": {nil, rows}, "a sum": {sumOf("/items/*/quantity"), rows}, "no rows": {m, `{"items":[]}`},
		"a factor beside the rows": {productOf("/a", "/b"), `{"a":1,"b":2}`},
		"one that isn't known":     {m, `{"items":[{"quantity":2,"unit_price":"?"},{"quantity":1,"unit_price":1}]}`},
	} {
		expect.That(t, c.mark.Subtotals("v1", c.arguments) == nil, "%s has subtotals", name)
	}
	expect.Same(t, sumOf("/a", "/b").Prices(), []string{"/a", "/b"})
	expect.That(t, productOf("/items/*/a", "/items/*/b").Prices() == nil, "one of two is taken for the price")
	m = productOf("/items/*/a", "/items/*/b")
	m.Names = map[string]language.Texts{"/items/*/a": {"ja": "台数", "en": "Machines"}}
	expect.Same(t, m.Prices(), []string{"/items/*/b"})
}

func TestWhichWriteIsToldFirst(t *testing.T) {
	money, none, unknown := yen("5"), rules.Nothing(), rules.Unknown(rules.WhyUnmarked)
	for name, c := range map[string]struct {
		acts    []rules.Act
		amounts []rules.Amount
		lead    int
		sum     rules.Amount
	}{
		"none":                {nil, nil, -1, none},
		"what moves money":    {[]rules.Act{"message", "", "order"}, []rules.Amount{none, none, money}, 2, money},
		"what is no message":  {[]rules.Act{"message", "sheet"}, []rules.Amount{none, none}, 1, none},
		"a message":           {[]rules.Act{"message", "message"}, []rules.Amount{none, none}, 0, none},
		"money, known or not": {[]rules.Act{"", "order"}, []rules.Amount{unknown, money}, 1, unknown},
	} {
		lead, sum := rules.Lead(c.acts, c.amounts)
		expect.That(t, lead == c.lead && sum == c.sum, "%s: %d, %+v", name, lead, sum)
	}
}
