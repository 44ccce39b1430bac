package rules_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/currency"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// An amount is in the mark's currency only if all that says a currency or unit says so.
func TestAnAmountInAnotherCurrencyIsUnknown(t *testing.T) {
	mark := func(pointer string, units, asides []string) *rules.Mark {
		return &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY", Units: units,
			Asides: asides}
	}
	currency, unit := []string{"/currency"}, []string{"/unit"}
	for name, c := range map[string]struct {
		mark *rules.Mark
		args string
		want rules.Why
	}{
		"the mark's":       {mark("/amount", currency, nil), `{"amount":90000,"currency":"JPY"}`, ""},
		"in small letters": {mark("/amount", currency, nil), `{"amount":90000,"currency":"jpy"}`, ""},
		"another":          {mark("/amount", currency, nil), `{"amount":90000,"currency":"USD"}`, rules.WhyCurrencies},
		"none":             {mark("/amount", currency, nil), `{"amount":90000}`, rules.WhyMissing},
		"nothing":          {mark("/amount", currency, nil), `{"amount":90000,"currency":null}`, rules.WhyMissing},
		"from an earlier step": {mark("/amount", currency, nil), `{"amount":90000,"currency":{"$ref":"step-1.c"}}`,
			rules.WhyReference},
		"another, unmarked":    {mark("/amount", nil, nil), `{"amount":90000,"currency":"USD"}`, rules.WhyCurrencies},
		"the mark's, unmarked": {mark("/amount", nil, nil), `{"amount":90000,"currencyCode":"JPY"}`, ""},
		"none, unmarked":       {mark("/amount", nil, nil), `{"amount":90000}`, ""},
		"within, unmarked": {mark("/pay/amount", nil, nil), `{"pay":{"amount":9,"currency":{"code":"EUR"}}}`,
			rules.WhyCurrencies},
		"within, marked": {mark("/amount", []string{"/currency/code"}, []string{"/currency/name"}),
			`{"amount":9,"currency":{"code":"JPY","name":"Yen"}}`, ""},
		"within, half marked": {mark("/amount", []string{"/currency/code"}, nil),
			`{"amount":9,"currency":{"code":"JPY","name":"Yen"}}`, rules.WhyCurrencies},
		"in Japanese":              {mark("/金額", nil, nil), `{"金額":90000,"通貨":"米ドル"}`, rules.WhyCurrencies},
		"yen in Japanese":          {mark("/金額", nil, nil), `{"金額":90000,"単位":"円"}`, ""},
		"thousands of yen":         {mark("/金額", []string{"/金額単位"}, nil), `{"金額":90,"金額単位":"千円"}`, rules.WhyCurrencies},
		"a unit of something else": {mark("/amount", nil, nil), `{"amount":90000,"unit":"箱"}`, rules.WhyCurrencies},
		"which says nothing of it": {mark("/amount", nil, unit), `{"amount":90000,"unit":"箱"}`, ""},
		"a number":                 {mark("/amount", nil, nil), `{"amount":9000,"currency_id":1}`, rules.WhyCurrencies},
		"a number, marked":         {mark("/amount", currency, nil), `{"amount":9000,"currency":840}`, rules.WhyCurrencies},
		"a number, aside":          {mark("/amount", nil, currency), `{"amount":9000,"currency":840}`, ""},
		"a number within": {mark("/amount", nil, nil), `{"amount":9000,"currency":{"numericCode":840}}`,
			rules.WhyCurrencies},
		"an object, marked": {mark("/amount", currency, nil), `{"amount":9000,"currency":{"code":"JPY"}}`,
			rules.WhyCurrencies},
		"a list, marked": {mark("/amount", currency, nil), `{"amount":9000,"currency":["JPY"]}`,
			rules.WhyCurrencies},
		"its rows, marked": {mark("/amount", []string{"/currency/*"}, nil), `{"amount":9000,"currency":["JPY"]}`,
			""},
		"an empty object":           {mark("/amount", nil, nil), `{"amount":9000,"currency":{}}`, rules.WhyCurrencies},
		"an empty list":             {mark("/amount", nil, nil), `{"amount":9000,"currency":[]}`, rules.WhyCurrencies},
		"a unit's code":             {mark("/amount", nil, nil), `{"amount":9000,"unit_code":"千円"}`, rules.WhyCurrencies},
		"a unit's kind in Japanese": {mark("/amount", nil, nil), `{"amount":9000,"単位区分":"千円"}`, rules.WhyCurrencies},
		"a multiple":                {mark("/amount", nil, nil), `{"amount":9000,"unit":1000}`, rules.WhyCurrencies},
		"how many in Japanese":      {mark("/amount", nil, nil), `{"amount":9000,"単位数":3}`, ""},
		"a price of each, in kanji": {mark("/単位価格", nil, nil), `{"単位価格":9000}`, ""},
		"of an older system":        {mark("/amount", nil, nil), `{"amount":9000,"CURNCYID":"Z-US$"}`, rules.WhyCurrencies},
		"in Chinese":                {mark("/amount", nil, nil), `{"amount":9000,"币种":"USD"}`, rules.WhyCurrencies},
		"in other Chinese":          {mark("/amount", nil, nil), `{"amount":9000,"货币":"USD"}`, rules.WhyCurrencies},
		"cut short":                 {mark("/amount", nil, nil), `{"amount":9000,"cur":"USD"}`, rules.WhyCurrencies},
		"a place in a list":         {mark("/amount", nil, nil), `{"amount":9000,"cursor":"USD"}`, ""},
		"how many units":            {mark("/amount", nil, nil), `{"amount":90000,"units":3}`, ""},
		"a price of each":           {mark("/unit_price", nil, nil), `{"unit_price":90000}`, ""},
		"rows of one": {mark("/items/*/price", nil, nil),
			`{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"JPY"}]}`, ""},
		"rows of several": {mark("/items/*/price", []string{"/items/*/currency"}, nil),
			`{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"USD"}]}`, rules.WhyCurrencies},
		"a row without": {mark("/items/*/price", []string{"/items/*/currency"}, nil),
			`{"items":[{"price":1,"currency":"JPY"},{"price":2}]}`, rules.WhyMissing},
		"rows of several, unmarked": {mark("/items/*/price", nil, nil),
			`{"items":[{"price":1,"currency":"JPY"},{"price":2,"currency":"USD"}]}`, rules.WhyCurrencies},
		"rows that say nothing else": {mark("/items/*/price", nil, []string{"/items/*/unit"}),
			`{"items":[{"price":1,"unit":"kg"}]}`, ""},
	} {
		expect.Is(t, len(c.mark.Problems()), 0, name)
		is := c.mark.AmountOf("1", aggregate.Write, aggregate.JSON(c.args))
		expect.That(t, is.Why == c.want && is.Known() == (c.want == ""), "%s: %+v", name, is)
	}
	expect.That(t, mark("/amount", currency, nil).Covers("1", []string{"amount"}) &&
		mark("/amount", currency, nil).Covers("1", []string{"currency"}), "what comes later decides the amount")
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
			is := mark.AmountOf("1", aggregate.Write, aggregate.JSON(`{"amount":90000,`+beside+`}`))
			expect.Is(t, is.Known(), known, beside)
		}
	}
	mark.Asides = []string{"/to"}
	expect.That(t, mark.AmountOf("1", aggregate.Write, `{"amount":90000,"to":"USD"}`).Known(),
		"an aside says nothing of it")
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
		is := m.AmountOf("1", aggregate.Write, aggregate.JSON(`{"items":[{"price":9,"currency":{"code":"JPY"}}]}`))
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
		"in an object": {object(`"currency":{"type":"object","properties":{"code":{"type":"string"}}}`),
			"/currency/code", nil, nil},
		"in one, half said": {object(`"currency":{"properties":{"code":{"type":"string"},"name":{"type":"string"}}}`),
			"/currency/name", []string{"/currency/code"}, nil},
		"the whole object": {object(`"currency":{"properties":{"code":{"type":"string"}}}`), "", nil,
			[]string{"/currency"}},
		"an open object": {object(`"currency":{"type":"object"}`), "/currency", nil, nil},
		"a list":         {object(`"currencies":{"type":"array","items":{"type":"string"}}`), "/currencies/*", nil, nil},
		"in rows": {object(`"rows":{"items":{"properties":{"a/b_unit":{"type":"string"}}}}`), "/rows/*/a~1b_unit",
			nil, nil},
		"in a tuple": {object(`"rows":{"prefixItems":[{"properties":{"ccy":{}}}]}`), "/rows/*/ccy", nil, nil},
		"by reference": {`{"$defs":{"m":{"properties":{"currency":{"$ref":"#/$defs/c"}}},"c":{"type":"string"}},` +
			`"$ref":"#/$defs/m"}`, "/currency", nil, nil},
		"one of two": {object(`"pay":{"oneOf":[{"type":"number"},{"properties":{"currencyCode":{"type":"string"}}}]}`),
			"/pay/currencyCode", nil, nil},
		"where there is one": {`{"if":{"required":["x"]},"then":{"properties":{"currency":{"type":"string"}}}}`, "/currency",
			nil, nil},
		"without an end": {`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`, "", nil, nil},
		"no schema":      {`{`, "", nil, nil},
	} {
		m := &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/amount"}, Currency: "JPY", Units: c.units,
			Asides: c.asides}
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

// in90 is 90,000 of a currency beside an argument.
func in90(currency, beside string) rules.Amount {
	return mark90(currency).AmountOf("1", aggregate.Write, aggregate.JSON(`{"amount":90000,`+beside+`}`))
}

func mark90(currency string) *rules.Mark {
	return &rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/amount"}, Currency: currency}
}

// Each of these says that 90,000 isn't 90,000 yen, in the words in which people and vendors say it.
func TestWordsOfAnotherCurrencyOrScaleMakeAnAmountUnknown(t *testing.T) {
	for _, beside := range []string{
		`"iso":"KWD"`, `"iso":"PLN"`, `"iso":"CZK"`, `"iso":"ILS"`, `"iso":"TRY"`, `"iso_code":"kwd"`,
		`"iso4217":"840"`, `"iso4217":840`, `"money":"BTC"`, `"kind":"KWD"`, `"x":"rmb"`, `"code":"KWD"`,
		`"money":{"code":"TOP"}`, `"kind":"元"`, `"kind":"人民币"`, `"kind":"豪ドル"`, `"kind":"香港ドル"`, `"kind":"USドル"`,
		`"kind":"dollars"`, `"kind":"US dollars"`, `"kind":"Hong Kong dollar"`, `"kind":"euros"`, `"kind":"pounds"`,
		`"kind":"Euro (EUR)"`, `"kind":"ﾄﾞﾙ"`, `"kind":"ＵＳ＄"`, `"kind":"カナダドル"`, `"kind":"スイスフラン"`, `"kind":"韓国ウォン"`,
		`"kind":"ドル建て"`, `"kind":"外貨建て"`, `"kind":"ドル/円"`, `"kind":"美元"`, `"kind":"cents"`, `"kind":"won"`,
		`"表示":"千円"`, `"表示":"千円単位"`, `"表示":"単位：千円"`, `"表示":"(千円)"`, `"表示":"百万円（税込）"`, `"表示":"単位は億円"`, `"表示":"万"`,
		`"表示":["千円"]`, `"in":"thousand yen"`, `"in":"JPY thousands"`, `"in":"in millions"`, `"in":"K"`, `"in":["M"]`,
		`"x":"thousands of yen"`, `"x":"¥000"`, `"x":"¥M"`, `"x":"JPY_MILLIONS"`, `"x":"ThousandYen"`,
		`"symbol":"元"`, `"symbol":"kr"`, `"symbol":"zł"`, `"symbol":"Fr."`, `"symbol":"A$"`, `"symbol":"NT$"`,
		`"symbol":"CN¥"`, `"symbol":"€"`, `"symbol":"￡"`, `"symbol":"ZZ$"`, `"symbol":"₾"`, `"in_usd":"true"`,
		`"in_usd":"yes"`, `"in_usd":1`, `"in_usd":"1"`, `"外貨フラグ":1`, `"外貨":"有"`, `"in_thousands":true`,
		`"千円表示":true`, `"isKwd":true`, `"in_jpy":false`, `"円建て":"いいえ"`, `"exchange_rate":155.2`,
		`"exchangeRate":"155.2"`, `"fx_rate":155`, `"fx":155`, `"為替レート":155.2`, `"conversion_rate":0`,
		`"kind":"サウジリヤル"`, `"kind":"UAEディルハム"`, `"kind":"アルゼンチンペソ"`, `"x":"ハンガリーフォリント"`, `"x":"ジャマイカドル"`,
		`"x":"比ペソ"`, `"x":"トルコリラ"`, `"kind":"Colombian pesos"`, `"x":"Egyptian pounds"`, `"kind":"Jamaican dollar"`,
		`"kind":"ドル決済"`, `"x":"ドル決済"`, `"kind":"ドル払い"`, `"kind":"米ドル（TTS）"`, `"kind":"USD(TTM)"`, `"x":"paid in USD"`,
		`"kind":"USD wire"`, `"kind":"dólares"`, `"kind":"евро"`, `"display":"$600"`, `"表示":"単位：1,000円"`,
		`"x":"1,000円単位"`, `"x":"JPY x1000"`, `"in":"1000s"`, `"表示":"単位は10億円"`, `"x":"千円（四捨五入）"`,
		`"表示":"百万円以下は切捨て"`, `"x":"仟円"`, `"x":"KJPY"`, `"x":"JPYm"`, `"x":"Kyen"`, `"in":"000"`,
		`"cost_usd":"true"`, `"usd_account":"yes"`, `"account_usd":1`, `"country_usd":"yes"`, `"in_cad":true`,
		`"thousands_of_yen":true`, `"exchange_rate":1.01`, `"exchange_rate":{"rate":2}`,
		`"price_id":{"$ref":"step-1.id"}`,
		`"currency_id":{"$ref":"step-1.id"}`, `"memo":{"$ref":"step-1.result.text"}`,
		`"rows":[{"x":{"$ref":"step-1.result.code"}}]`,
	} {
		expect.That(t, !in90("JPY", beside).Known(), "%s: known", beside)
	}
}

// ordinary is what requests usually have beside an amount.
var ordinary = []string{
	`"unit":"円"`, `"currency":"JPY"`, `"currency":"jpy"`, `"x":"円"`, `"x":"JPY"`, `"x":"¥"`, `"x":"￥"`,
	`"x":"JP¥"`, `"x":"yen"`, `"x":"日本円"`, `"x":"円 (税込)"`, `"x":"1"`, `"x":1`, `"n":"1,000円"`, `"kind":"税込"`,
	`"表示":"税抜"`, `"tax_included":true`, `"tax_included":"yes"`, `"tax_rate":10`, `"rate":"monthly"`,
	`"exchange":"東証"`, `"exchange_rate":1`, `"exchange_rate":null`, `"name":"Bob"`, `"name":"BOB"`,
	`"name":"田中 恵"`, `"name":"元"`, `"name":"Mark"`, `"name":"Won"`, `"name":"Dong"`, `"title":"ドルチェ"`,
	`"memo":"USD 900 を含む"`, `"memo":"10月分の経費です"`, `"note":"in total"`, `"note":"to the new unit"`, `"note":""`,
	`"size":"M"`, `"grade":"K"`, `"status":"won"`, `"status":"ALL"`, `"plan":"TRY"`, `"position":"top"`,
	`"format":"pdf"`, `"license":"BSD"`, `"country":"US"`, `"country":"日本"`, `"city":"香港"`,
	`"region":"Hong Kong"`, `"kind":"ink"`, `"kind":"交通費"`, `"to":"経理部"`, `"id":"000"`, `"date":"2026-11-26"`,
	`"rush":"1"`, `"amount_usd":1`, `"in_usd":"no"`, `"外貨":0`, `"in_jpy":1`, `"is_all":true`, `"svc":true`,
	`"items":[{"name":"紙","count":3}]`, `"weight":"kg"`,
	`"to":"HNL"`, `"destination":"GYD"`, `"destination_code":"MAD"`, `"to":"KWD"`, `"cabin_code":"M"`,
	`"size_code":"M"`,
	`"size":{"code":"M"}`, `"code":"TRY"`, `"code":"M"`, `"code":"000"`, `"iso_code":"JP-13"`, `"種類":"M"`,
	`"id":"M000"`, `"item":"AED"`, `"種類":"AED"`, `"course":"PHP"`, `"category":"CAD"`,
	`"category":"MRO"`, `"result":"NOK"`, `"shipping":{"country_code":"FR"}`, `"country_code":"KR"`,
	`"address":{"country_code":"MM"}`, `"language_code":"fr"`, `"dept_code":"000"`, `"部門コード":"000"`,
	`"use_thousands_separator":true`, `"exchange_rate":1.0`, `"exchangeRate":"1.00"`, `"exchange_rate":{"rate":1}`,
	`"vendor_id":{"$ref":"step-1.result.id"}`, `"取引先ID":{"$ref":"step-1.result.id"}`,
	`"invoice_number":{"$ref":"step-1.result.no"}`, `"ids":[{"$ref":"step-1.result.id"}]`,
	`"display_name":"Won"`, `"display_name":"Rand"`, `"name":"K. Won"`, `"氏名":"万"`,
	`"氏名":"千"`, `"送料":"元払い"`, `"種別":"元払い"`, `"item":"ハンドル"`, `"種類":"カップヌードル"`, `"item":"サフラン"`, `"city":"スウォン"`,
	`"item":"万年筆"`, `"vendor":"Family Dollar"`, `"表示":"10万円"`, `"数量":"x1000"`, `"lot":"1,000単位"`, `"cad":true`,
}

// What requests usually have beside an amount leaves it as it is. Where a unit says the currency, only a scale makes it
// unknown, and what is called like a currency or rate.
func TestWhatIsUsuallyBesideAnAmountLeavesItKnown(t *testing.T) {
	said := mark90("JPY")
	said.Units = []string{"/of"}
	of := func(beside string) rules.Amount {
		return said.AmountOf("1", aggregate.Write, aggregate.JSON(`{"amount":90000,"of":"JPY",`+beside+`}`))
	}
	for _, beside := range ordinary {
		is := in90("JPY", beside)
		expect.That(t, is.Known() && of(beside).Known(), "%s: %s, %s", beside, is.Why, of(beside).Why)
	}
	for _, beside := range []string{`"kind":"元"`, `"x":"USD"`, `"symbol":"ZZ$"`, `"in_usd":true`, `"yen_only":false`,
		`"email":{"$ref":"step-1.result.email"}`} {
		expect.That(t, of(beside).Known() && !in90("JPY", beside).Known(), "%s: %s", beside, of(beside).Why)
	}
	for _, beside := range []string{`"x":"千円"`, `"in":"K"`, `"x":"USD thousands"`, `"in_thousands":true`,
		`"exchange_rate":2`,
		`"payout_currency":"USD"`, `"kind":{"$ref":"step-1.result.kind"}`, `"display_unit":{"$ref":"step-1.unit"}`} {
		expect.That(t, !of(beside).Known(), "%s: known", beside)
	}
}

// The units in which books are kept make of one number a thousand, ten thousand or a million times as much.
func TestTheUnitsOfBooksAreScales(t *testing.T) {
	for currency, words := range map[string]string{
		"JPY": "千円,萬円,百万,JPY mn,USDbn,10億円単位,man-yen",
		"KRW": "천원,만원,억원,백만원,천 원,백만 원",
		"TWD": "新台幣仟元,仟元,萬元", "CNY": "仟元,万元,亿元",
		"INR": "₹ Cr,INR Cr,Rs. Lacs,₹ lakh",
		"EUR": "TEUR,Tsd. EUR,Mrd. €,MEUR,Mio. €,keur,Millionen Euro,milliers d'euros",
		"SEK": "tkr,mkr,MSEK",
		"RUB": "тыс. руб.,млн ₽", "USD": "USDm,USDbn,KUSD,USD x1000,$000s,US$m,M$", "GBP": "£k,GBPm",
	} {
		for word := range strings.SplitSeq(words, ",") {
			expect.That(t, !in90(currency, `"x":"`+word+`"`).Known(), "%s beside %s", currency, word)
		}
	}
}

// A mark in another currency than yen takes that one's words, and no other's.
func TestEachCurrencyHasItsOwnWords(t *testing.T) {
	for of, words := range map[string]string{
		"USD": "USD,usd,$,US$,ドル,米ドル,US dollars,dollars,美元", "EUR": "EUR,€,euros,ユーロ", "GBP": "£,pounds,英ポンド",
		"AUD": "AUD,A$,豪ドル,Australian dollars", "CNY": "RMB,人民元,CN¥,yuan", "KRW": "₩,韓国ウォン", "KWD": "KWD",
		"HKD": "HK$,香港ドル,港币",
	} {
		for word := range strings.SplitSeq(words, ",") {
			beside := `"kind":"` + word + `"`
			for _, mark := range []string{"USD", "EUR", "GBP", "AUD", "CNY", "KRW", "KWD", "HKD", "JPY"} {
				expect.Is(t, in90(mark, beside).Known(), mark == of, mark, word)
			}
		}
	}
	expect.That(t, !in90("USD", `"in_yen":true`).Known() && !in90("AUD", `"x":"$"`).Known(), "yen, or some dollar")
}

// The table has every currency that Unicode's does.
func TestAllCurrenciesAreKnown(t *testing.T) {
	n := 0
	for at := currency.Query(); at.Next(); n++ {
		expect.That(t, !in90("JPY", `"iso":"`+at.Unit().String()+`"`).Known() || at.Unit() == currency.JPY, "%s", at.Unit())
	}
	expect.That(t, n > 150, "%d", n)
}
