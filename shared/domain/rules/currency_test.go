package rules_test

import (
	"strings"
	"testing"

	"golang.org/x/text/currency"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// in90 is 90,000 of a currency beside an argument.
func in90(currency, beside string) rules.Amount {
	mark := rules.Mark{Version: "1", How: rules.HowSum, Pointers: []string{"/amount"}, Currency: currency}
	return mark.Of("1", aggregate.Write, aggregate.JSON(`{"amount":90000,`+beside+`}`))
}

// Each of these says that 90,000 isn't 90,000 yen, in the words in which people and vendors say it.
func TestWordsOfAnotherCurrencyOrScaleMakeAnAmountUnknown(t *testing.T) {
	for _, beside := range []string{
		`"iso":"KWD"`, `"iso":"PLN"`, `"iso":"CZK"`, `"iso":"ILS"`, `"iso":"TRY"`, `"iso_code":"kwd"`,
		`"iso4217":"840"`, `"iso4217":840`, `"money":"BTC"`, `"x":"KWD"`, `"x":"rmb"`, `"code":"TRY"`,
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
		`"memo":{"$ref":"step-1.result.text"}`, `"rows":[{"x":{"$ref":"step-1.result.code"}}]`,
	} {
		expect.That(t, !in90("JPY", beside).Known(), "%s: known", beside)
	}
}

// What requests usually have beside an amount leaves it as it is.
func TestWhatIsUsuallyBesideAnAmountLeavesItKnown(t *testing.T) {
	for _, beside := range []string{
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
	} {
		is := in90("JPY", beside)
		expect.That(t, is.Known(), "%s: %s", beside, is.Why)
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
			beside := `"x":"` + word + `"`
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
