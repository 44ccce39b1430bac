package rules_test

import (
	"slices"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// An amount is in the mark's currency only if all that says a currency or unit says so.
func TestAnAmountInAnotherCurrencyIsUnknown(t *testing.T) {
	mark := func(pointer string, units, asides []string) *rules.Mark {
		return &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY", Units: units, Asides: asides}
	}
	currency, unit := []string{"/currency"}, []string{"/unit"}
	for name, c := range map[string]struct {
		mark *rules.Mark
		args string
		want rules.Why
	}{
		"the mark's":           {mark("/amount", currency, nil), `{"amount":90000,"currency":"JPY"}`, ""},
		"in small letters":     {mark("/amount", currency, nil), `{"amount":90000,"currency":"jpy"}`, ""},
		"another":              {mark("/amount", currency, nil), `{"amount":90000,"currency":"USD"}`, rules.WhyCurrencies},
		"none":                 {mark("/amount", currency, nil), `{"amount":90000}`, rules.WhyMissing},
		"nothing":              {mark("/amount", currency, nil), `{"amount":90000,"currency":null}`, rules.WhyMissing},
		"from an earlier step": {mark("/amount", currency, nil), `{"amount":90000,"currency":{"$ref":"step-1.c"}}`, rules.WhyReference},
		"another, unmarked":    {mark("/amount", nil, nil), `{"amount":90000,"currency":"USD"}`, rules.WhyCurrencies},
		"the mark's, unmarked": {mark("/amount", nil, nil), `{"amount":90000,"currencyCode":"JPY"}`, ""},
		"none, unmarked":       {mark("/amount", nil, nil), `{"amount":90000}`, ""},
		"within, unmarked":     {mark("/pay/amount", nil, nil), `{"pay":{"amount":9,"currency":{"code":"EUR"}}}`, rules.WhyCurrencies},
		"within, marked": {mark("/amount", []string{"/currency/code"}, []string{"/currency/name"}),
			`{"amount":9,"currency":{"code":"JPY","name":"Yen"}}`, ""},
		"within, half marked": {mark("/amount", []string{"/currency/code"}, nil),
			`{"amount":9,"currency":{"code":"JPY","name":"Yen"}}`, rules.WhyCurrencies},
		"in Japanese":                {mark("/金額", nil, nil), `{"金額":90000,"通貨":"米ドル"}`, rules.WhyCurrencies},
		"yen in Japanese":            {mark("/金額", nil, nil), `{"金額":90000,"単位":"円"}`, ""},
		"thousands of yen":           {mark("/金額", []string{"/金額単位"}, nil), `{"金額":90,"金額単位":"千円"}`, rules.WhyCurrencies},
		"a unit of something else":   {mark("/amount", nil, nil), `{"amount":90000,"unit":"箱"}`, rules.WhyCurrencies},
		"which says nothing of it":   {mark("/amount", nil, unit), `{"amount":90000,"unit":"箱"}`, ""},
		"a number":                   {mark("/amount", nil, nil), `{"amount":9000,"currency_id":1}`, rules.WhyCurrencies},
		"a number, marked":           {mark("/amount", currency, nil), `{"amount":9000,"currency":840}`, rules.WhyCurrencies},
		"a number, aside":            {mark("/amount", nil, currency), `{"amount":9000,"currency":840}`, ""},
		"a number within":            {mark("/amount", nil, nil), `{"amount":9000,"currency":{"numericCode":840}}`, rules.WhyCurrencies},
		"an object, marked":          {mark("/amount", currency, nil), `{"amount":9000,"currency":{"code":"JPY"}}`, rules.WhyCurrencies},
		"a list, marked":             {mark("/amount", currency, nil), `{"amount":9000,"currency":["JPY"]}`, rules.WhyCurrencies},
		"its rows, marked":           {mark("/amount", []string{"/currency/*"}, nil), `{"amount":9000,"currency":["JPY"]}`, ""},
		"an empty object":            {mark("/amount", nil, nil), `{"amount":9000,"currency":{}}`, rules.WhyCurrencies},
		"an empty list":              {mark("/amount", nil, nil), `{"amount":9000,"currency":[]}`, rules.WhyCurrencies},
		"a unit's code":              {mark("/amount", nil, nil), `{"amount":9000,"unit_code":"千円"}`, rules.WhyCurrencies},
		"a unit's kind in Japanese":  {mark("/amount", nil, nil), `{"amount":9000,"単位区分":"千円"}`, rules.WhyCurrencies},
		"a multiple":                 {mark("/amount", nil, nil), `{"amount":9000,"unit":1000}`, rules.WhyCurrencies},
		"how many in Japanese":       {mark("/amount", nil, nil), `{"amount":9000,"単位数":3}`, ""},
		"a price of each, in kanji":  {mark("/単位価格", nil, nil), `{"単位価格":9000}`, ""},
		"of an older system":         {mark("/amount", nil, nil), `{"amount":9000,"CURNCYID":"Z-US$"}`, rules.WhyCurrencies},
		"in Chinese":                 {mark("/amount", nil, nil), `{"amount":9000,"币种":"USD"}`, rules.WhyCurrencies},
		"in other Chinese":           {mark("/amount", nil, nil), `{"amount":9000,"货币":"USD"}`, rules.WhyCurrencies},
		"cut short":                  {mark("/amount", nil, nil), `{"amount":9000,"cur":"USD"}`, rules.WhyCurrencies},
		"a place in a list":          {mark("/amount", nil, nil), `{"amount":9000,"cursor":"USD"}`, ""},
		"how many units":             {mark("/amount", nil, nil), `{"amount":90000,"units":3}`, ""},
		"a price of each":            {mark("/unit_price", nil, nil), `{"unit_price":90000}`, ""},
		"rows of one":                {mark("/items/*/price", nil, nil), `{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"JPY"}]}`, ""},
		"rows of several":            {mark("/items/*/price", []string{"/items/*/currency"}, nil), `{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"USD"}]}`, rules.WhyCurrencies},
		"a row without":              {mark("/items/*/price", []string{"/items/*/currency"}, nil), `{"items":[{"price":1,"currency":"JPY"},{"price":2}]}`, rules.WhyMissing},
		"rows of several, unmarked":  {mark("/items/*/price", nil, nil), `{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"USD"}]}`, rules.WhyCurrencies},
		"rows that say nothing else": {mark("/items/*/price", nil, []string{"/items/*/unit"}), `{"items":[{"price":1,"unit":"kg"}]}`, ""},
	} {
		expect.Is(t, len(c.mark.Problems()), 0, name)
		is := c.mark.Of("1", aggregate.Write, aggregate.JSON(c.args))
		expect.That(t, is.Why == c.want && is.Known() == (c.want == ""), "%s: %+v", name, is)
	}
	expect.That(t, mark("/amount", currency, nil).Covers("1", []string{"amount"}) && mark("/amount", currency, nil).Covers("1", []string{"currency"}),
		"what comes later decides the amount")
}

// Whatever it is called, and although the mark says nothing of it: what is nothing but a currency or a scale may be
// that of the amount. What only looks like one decides nothing.
func TestACurrencyOrScaleUnderAnyNameMakesAnAmountUnknown(t *testing.T) {
	mark := rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/amount"}, Currency: "JPY"}
	for known, all := range map[bool][]string{
		false: {`"iso_code":"USD"`, `"isoCode":"usd"`, `"外貨":"USD"`, `"denomination":"USD"`, `"money":"USD"`, `"symbol":"$"`,
			`"symbol":"US$"`, `"symbol":"￦"`, `"in_usd":true`, `"ドル建て":true`, `"scale":1000`, `"multiplier":1000`,
			`"ｃｕｒｒｅｎｃｙ":"USD"`, `"as":"ＵＳＤ"`, `"kind":"米ドル"`, `"shown_in":"千円"`, `"in":"thousands"`,
			`"payment":{"of":[{"x":"EUR"}]}`},
		true: {`"iso_code":"JP"`, `"isoCode":"JPY"`, `"symbol":"¥"`, `"symbol":"￥"`, `"in_usd":false`, `"外貨":false`,
			`"in_jpy":true`, `"status":"ALL"`, `"memo":"USD 900 を含む"`, `"name":"ドルチェ"`, `"amount_usd":600`,
			`"plan":"TRY"`, `"note":""`, `"rush":true`, `"cursor":"USD"`},
	} {
		for _, beside := range all {
			is := mark.Of("1", aggregate.Write, aggregate.JSON(`{"amount":90000,`+beside+`}`))
			expect.Is(t, is.Known(), known, beside)
		}
	}
	mark.Asides = []string{"/to"}
	expect.That(t, mark.Of("1", aggregate.Write, `{"amount":90000,"to":"USD"}`).Known(), "an aside says nothing of it")
}

// What a mark takes for nothing of the amount can't have the amount, or its unit, in it.
func TestAnAsideIsBesideTheAmount(t *testing.T) {
	for aside, wrong := range map[string]bool{
		"/items": true, "/items/*": true, "/items/*/price": true, "/items/*/currency": true, "/items/*/currency/code": true,
		"/item": false, "/items/*/pricey": false, "/items/*/currency/name": false,
	} {
		m := &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/items/*/price"}, Currency: "JPY",
			Units: []string{"/items/*/currency/code"}, Asides: []string{aside}}
		p := m.Problems()
		expect.That(t, (len(p) > 0) == wrong && (!wrong || p[0].Field == "asides[0]"), "%s: %v", aside, p)
		is := m.Of("1", aggregate.Write, aggregate.JSON(`{"items":[{"price":9,"currency":{"code":"JPY"}}]}`))
		expect.Is(t, is.Known(), !wrong, aside)
	}
}

// What a schema calls like a currency or unit, a mark has to mention, wherever it stands.
func TestAMarkSaysOfEachCurrencyAndUnit(t *testing.T) {
	object := func(members string) string {
		return `{"type":"object","properties":{"amount":{"type":"number"},` + members + `}}`
	}
	for name, c := range map[string]struct {
		schema, unsaid string
		units, asides  []string
	}{
		"a text":                 {object(`"currency":{"type":"string"}`), "/currency", nil, nil},
		"a text that is a unit":  {object(`"currency":{"type":"string"}`), "", []string{"/currency"}, nil},
		"a text aside":           {object(`"unit":{"type":"string"}`), "", nil, []string{"/unit"}},
		"without a type":         {object(`"currency":{}`), "/currency", nil, nil},
		"anything":               {object(`"currency":true`), "/currency", nil, nil},
		"a choice":               {object(`"単位":{"enum":["円","千円"]}`), "/単位", nil, nil},
		"a code's number":        {object(`"currency_id":{"type":"integer"}`), "/currency_id", nil, nil},
		"a number aside":         {object(`"currency_id":{"type":"integer"}`), "", nil, []string{"/currency_id"}},
		"codes to choose from":   {object(`"currency":{"enum":[392,840]}`), "/currency", nil, nil},
		"by a pattern":           {`{"patternProperties":{"^currency$":{"type":"string"}}}`, "/^currency$", nil, nil},
		"by a pattern, said":     {`{"patternProperties":{"^currency$":{"type":"string"}}}`, "", []string{"/currency"}, nil},
		"by another pattern":     {`{"patternProperties":{"^x-":{"type":"string"}}}`, "", nil, nil},
		"or nothing":             {object(`"currency":{"type":["string","null"]}`), "/currency", nil, nil},
		"a number":               {object(`"units":{"type":"integer"}`), "", nil, nil},
		"numbers to choose from": {object(`"units":{"enum":[1,2]}`), "", nil, nil},
		"in an object":           {object(`"currency":{"type":"object","properties":{"code":{"type":"string"}}}`), "/currency/code", nil, nil},
		"in one, half said": {object(`"currency":{"properties":{"code":{"type":"string"},"name":{"type":"string"}}}`),
			"/currency/name", []string{"/currency/code"}, nil},
		"the whole object":   {object(`"currency":{"properties":{"code":{"type":"string"}}}`), "", nil, []string{"/currency"}},
		"an open object":     {object(`"currency":{"type":"object"}`), "/currency", nil, nil},
		"a list":             {object(`"currencies":{"type":"array","items":{"type":"string"}}`), "/currencies/*", nil, nil},
		"in rows":            {object(`"rows":{"items":{"properties":{"a/b_unit":{"type":"string"}}}}`), "/rows/*/a~1b_unit", nil, nil},
		"in a tuple":         {object(`"rows":{"prefixItems":[{"properties":{"ccy":{}}}]}`), "/rows/*/ccy", nil, nil},
		"by reference":       {`{"$defs":{"m":{"properties":{"currency":{"$ref":"#/$defs/c"}}},"c":{"type":"string"}},"$ref":"#/$defs/m"}`, "/currency", nil, nil},
		"one of two":         {object(`"pay":{"oneOf":[{"type":"number"},{"properties":{"currencyCode":{"type":"string"}}}]}`), "/pay/currencyCode", nil, nil},
		"where there is one": {`{"if":{"required":["x"]},"then":{"properties":{"currency":{"type":"string"}}}}`, "/currency", nil, nil},
		"without an end":     {`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, "", nil, nil},
		"no schema":          {`{`, "", nil, nil},
	} {
		m := &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/amount"}, Currency: "JPY", Units: c.units, Asides: c.asides}
		var want []aggregate.ErrField
		if c.unsaid != "" {
			want = []aggregate.ErrField{{Field: "units", Limit: "must say of " + c.unsaid}}
		}
		is := m.Unsaid(c.schema)
		expect.That(t, slices.Equal(is, want), "%s: %v", name, is)
		m = &rules.Mark{Version: "1", How: rules.HowNothing}
		expect.Is(t, len(m.Unsaid(c.schema)), 0, name)
	}
}
