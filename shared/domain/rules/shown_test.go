package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// told is a mark with all that people are shown.
func told() *rules.Mark {
	m := productOf("/items/*/quantity", "/items/*/unit_price")
	m.Act, m.Party, m.Item, m.Words = rules.ActOrder, "/supplier", "/items/*/name", "/note"
	m.Labels = map[string]string{"acme": "アクメ", "globex": "Globex 株式会社"}
	return m
}

func TestProblemsOfWhatAMarkShows(t *testing.T) {
	expect.Is(t, len(told().Problems()), 0)
	only := &rules.Mark{Version: "v1", Act: rules.ActBooking}
	expect.Is(t, len(only.Problems()), 0)
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
		"a label twice":               {func(m *rules.Mark) { m.Labels["acme2"] = "アクメ" }, "labels[acme2]"},
		"a label of nothing":          {func(m *rules.Mark) { m.Labels[""] = "x" }, "labels[]"},
		"a label that hides":          {func(m *rules.Mark) { m.Labels["b"] = "\u3164" }, "labels[b]"},
		"a long label":                {func(m *rules.Mark) { m.Labels["b"] = strings.Repeat("b", 61) }, "labels[b]"},
		"all together too long": {func(m *rules.Mark) {
			for i := range 12 {
				m.Labels[strings.Repeat("v", 198)+fmt.Sprint(i)] = fmt.Sprintf("v%d", i)
			}
		}, "labels"},
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
		m.Labels = rapid.MapOf(pointers, rapid.SampledFrom([]string{"a", "b"})).Draw(t, "labels")
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
