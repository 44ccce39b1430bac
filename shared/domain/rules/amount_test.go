package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func sumOf(pointers ...string) *rules.Mark {
	return &rules.Mark{Version: "v1", How: rules.HowSum, Pointers: pointers, Currency: "JPY"}
}

func productOf(pointers ...string) *rules.Mark {
	m := sumOf(pointers...)
	m.How = rules.HowProduct
	return m
}

// Case 9: one value, as it stands in JSON. What can be read in two ways is not known.
func TestOneParserReadsAmounts(t *testing.T) {
	for text, want := range map[string]rules.Amount{
		`0`: yen("0"), `298000`: yen("298000"), `1.50`: yen("1.5"), `0.000001`: yen("0.000001"),
		`999999999999999`: yen("999999999999999"), `"298000"`: yen("298000"), `"298,000"`: yen("298000"),
		`"1,234,567"`: yen("1234567"), `"1\u0032"`: yen("12"),
		`"1,234,567.89"`: {Why: rules.WhyNotNumber}, `"99999.99"`: {Why: rules.WhyNotNumber},

		`-1`: {Why: rules.WhyNegative}, `-0`: {Why: rules.WhyNegative}, `"-5"`: {Why: rules.WhyNegative},
		`{"$ref":"step-1.result.total"}`: {Why: rules.WhyReference}, `{"value":1}`: {Why: rules.WhyNotNumber},
		`[1]`: {Why: rules.WhyNotNumber}, `null`: {Why: rules.WhyNotNumber}, `true`: {Why: rules.WhyNotNumber},
		`1e5`: {Why: rules.WhyNotNumber}, `1E5`: {Why: rules.WhyNotNumber}, `1000000000000000`: {Why: rules.WhyNotNumber},
		`0.0000001`: {Why: rules.WhyNotNumber}, `""`: {Why: rules.WhyNotNumber}, `" 5"`: {Why: rules.WhyNotNumber},
		`"5 "`: {Why: rules.WhyNotNumber}, `"+5"`: {Why: rules.WhyNotNumber}, `"0100"`: {Why: rules.WhyNotNumber},
		`"10万円"`: {Why: rules.WhyNotNumber}, `"¥298,000"`: {Why: rules.WhyNotNumber},
		`"298000円"`: {Why: rules.WhyNotNumber},
		`"２９８０００"`:  {Why: rules.WhyNotNumber}, `"１００,０００"`: {Why: rules.WhyNotNumber},
		`"29,8000"`: {Why: rules.WhyNotNumber},
		`"298，000"`: {Why: rules.WhyNotNumber}, `"0,001"`: {Why: rules.WhyNotNumber}, `"1,00"`: {Why: rules.WhyNotNumber},
		`"1.000"`: {
			Why: rules.WhyNotNumber}, `"1.000.000"`: {Why: rules.WhyNotNumber}, `"298.000,00"`: {Why: rules.WhyNotNumber},
		`"1e5"`: {Why: rules.WhyNotNumber}, `"0x10"`: {Why: rules.WhyNotNumber}, `"1/3"`: {Why: rules.WhyNotNumber},
		`"Inf"`: {Why: rules.WhyNotNumber}, `"5."`: {Why: rules.WhyNotNumber}, `".5"`: {Why: rules.WhyNotNumber},
		`"1,234,567,890,123,456"`: {
			Why: rules.WhyNotNumber}, `"5\n"`: {Why: rules.WhyNotNumber}, `"1 000"`: {Why: rules.WhyNotNumber},
	} {
		expect.Same(t, sumOf("/amount").AmountOf("v1", aggregate.Write, aggregate.JSON(`{"amount":`+text+`}`)), want)
	}
}

// items are arguments with amounts in all places.
const items = `{"fee":"1,000","items":[{"price":"99,999","n":2},{"price":0.5,"n":3}],"lots":[[1,2],[3]],` +
	`"a/b":{"~":4},"none":[],"0":5}`

// reading is a mark, the version of the tool that is called, its arguments, and the amount.
type reading struct {
	mark      *rules.Mark
	version   string
	arguments string
	want      rules.Amount
}

func readEach(t *testing.T, table map[string]reading) {
	t.Helper()
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, c.mark.AmountOf(c.version, aggregate.Write, aggregate.JSON(c.arguments)), c.want)
		})
	}
}

// Case 9: where a mark finds its values.
func TestMarks(t *testing.T) {
	readEach(t, map[string]reading{
		"rows are added":                 {sumOf("/items/*/price"), "v1", items, yen("99999.5")},
		"several pointers are added":     {sumOf("/fee", "/items/*/n"), "v1", items, yen("1005")},
		"price times quantity, each row": {productOf("/items/*/price", "/items/*/n"), "v1", items, yen("199999.5")},
		"one price times one quantity":   {productOf("/fee", "/0"), "v1", items, yen("5000")},
		"rows of rows":                   {sumOf("/lots/*/*"), "v1", items, yen("6")},
		"escapes":                        {sumOf("/a~1b/~0"), "v1", items, yen("4")},
		"nested as deep as can be": {
			sumOf("/a"), "v1", `{"a":1,"b":` + strings.Repeat("[", 31) + "1" + strings.Repeat("]", 31) + `}`, yen("1"),
		},
		"a member called 0": {sumOf("/0"), "v1", items, yen("5")},
		"no money moves":    {&rules.Mark{Version: "v1", How: rules.HowNothing}, "v1", `not read`, rules.Nothing()},
	})
}

// Case 9: what is missing, mixed, empty or there twice is not known.
func TestMarksThatFindNothingSure(t *testing.T) {
	readEach(t, map[string]reading{
		"another version of the tool": {sumOf("/fee"), "v2", items, rules.Unknown(rules.WhyMark)},
		"no money, another version": {
			&rules.Mark{Version: "v1", How: rules.HowNothing}, "v2", items, rules.Unknown(rules.WhyMark),
		},
		"an unknown way": {
			&rules.Mark{Version: "v1", How: "most", Pointers: []string{"/fee"}, Currency: "JPY"}, "v1", items,
			rules.Unknown(rules.WhyMark),
		},
		"factors of different rows":  {productOf("/items/*/price", "/fee"), "v1", items, rules.Unknown(rules.WhyMark)},
		"factors of different lists": {productOf("/items/*/price", "/lots/*/*"), "v1", items, rules.Unknown(rules.WhyMark)},
		"nothing there":              {sumOf("/total"), "v1", items, rules.Unknown(rules.WhyMissing)},
		"nothing below a number":     {sumOf("/0/x"), "v1", items, rules.Unknown(rules.WhyMissing)},
		"missing in one row":         {sumOf("/items/*/tax"), "v1", items, rules.Unknown(rules.WhyMissing)},
		"an empty list":              {sumOf("/none/*"), "v1", items, rules.Unknown(rules.WhyRows)},
		"one row by its number":      {sumOf("/items/0/price"), "v1", items, rules.Unknown(rules.WhyRows)},
		"no list":                    {sumOf("/a~1b/*"), "v1", items, rules.Unknown(rules.WhyRows)},
		"the list is a reference": {
			sumOf("/items/*/price"), "v1", `{"items":{"$ref":"step-1.result"}}`, rules.Unknown(rules.WhyReference),
		},
		"all is a reference": {sumOf("/fee"), "v1", `{"$ref":"step-1.result"}`, rules.Unknown(rules.WhyReference)},
		"one row of many is negative": {
			sumOf("/items/*/price"), "v1", `{"items":[{"price":5},{"price":-5}]}`, rules.Unknown(rules.WhyNegative),
		},
		"one factor is a text": {
			productOf("/items/*/price", "/items/*/n"), "v1", `{"items":[{"price":5,"n":"two"}]}`,
			rules.Unknown(rules.WhyNotNumber),
		},
		"a reference beside a number": {
			sumOf("/a", "/b"), "v1", `{"a":1,"b":{"$ref":"step-1.result.b"}}`, rules.Unknown(rules.WhyReference),
		},
		"a member twice":                  {sumOf("/a"), "v1", `{"a":1,"a":1000000}`, rules.Unknown(rules.WhyArguments)},
		"a member twice in other letters": {sumOf("/a"), "v1", `{"a":1,"A":1000000}`, rules.Unknown(rules.WhyArguments)},
		"a member twice, as EqualFold has it": {
			sumOf("/items/*/p"), "v1", `{"items":[{"p":1}],"itemſ":[{"p":100000000}]}`, rules.Unknown(rules.WhyArguments)},
		"a member twice, further in": {sumOf("/a"), "v1", `{"a":1,"b":[{"c":1,"c":2}]}`, rules.Unknown(rules.WhyArguments)},
		"two values":                 {sumOf("/a"), "v1", `{"a":1} {"a":2}`, rules.Unknown(rules.WhyArguments)},
		"nested too deep": {
			sumOf("/a"), "v1", `{"a":1,"b":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`,
			rules.Unknown(rules.WhyArguments),
		},
		"cut off":       {sumOf("/a"), "v1", `{"a":1`, rules.Unknown(rules.WhyArguments)},
		"not UTF-8":     {sumOf("/a"), "v1", "{\"a\":1,\"b\":\"\xff\"}", rules.Unknown(rules.WhyArguments)},
		"nothing given": {sumOf("/a"), "v1", ``, rules.Unknown(rules.WhyArguments)},
		"more digits than a number has": {
			productOf("/a", "/b"), "v1", `{"a":999999999999999,"b":2}`, rules.Unknown(rules.WhyLarge),
		},
		"more decimals": {productOf("/a", "/b"), "v1", `{"a":0.000001,"b":0.1}`, rules.Unknown(rules.WhyLarge)},
	})
}

// The currency is a constant or what one argument says: three letters. Nothing else that the arguments say counts.
func TestACurrencyIsAConstantOrOneArgument(t *testing.T) {
	said := &rules.Mark{Version: "v1", How: rules.HowSum, Pointers: []string{"/a"}, CurrencyAt: "/in"}
	rows := &rules.Mark{Version: "v1", How: rules.HowSum, Pointers: []string{"/r/*/a"}, CurrencyAt: "/r/*/in"}
	dollars := rules.Amount{Value: "5", Currency: "USD"}
	readEach(t, map[string]reading{
		"a constant":    {sumOf("/a"), "v1", `{"a":5,"currency":"USD"}`, yen("5")},
		"an argument":   {said, "v1", `{"a":5,"in":"USD"}`, dollars},
		"small letters": {said, "v1", `{"a":5,"in":"usd"}`, rules.Unknown(rules.WhyCurrencies)},
		"a word":        {said, "v1", `{"a":5,"in":"円"}`, rules.Unknown(rules.WhyCurrencies)},
		"a number":      {said, "v1", `{"a":5,"in":840}`, rules.Unknown(rules.WhyCurrencies)},
		"a reference":   {said, "v1", `{"a":5,"in":{"$ref":"step-1.result.in"}}`, rules.Unknown(rules.WhyReference)},
		"nothing":       {said, "v1", `{"a":5}`, rules.Unknown(rules.WhyMissing)},
		"rows of one":   {rows, "v1", `{"r":[{"a":2,"in":"USD"},{"a":3,"in":"USD"}]}`, dollars},
		"rows of different": {rows, "v1", `{"r":[{"a":2,"in":"USD"},{"a":3,"in":"JPY"}]}`,
			rules.Unknown(rules.WhyCurrencies)},
	})
	both := *said
	both.Currency = "JPY"
	expect.Same(t, fieldsOf(both.Problems()), []string{"currency"})
	for path, want := range map[string]bool{"/a": true, "/in": true, "/note": false, "/in/x": true, "/b": false} {
		expect.Is(t, said.Covers("v1", rules.Tokens(path)), want, path)
	}
	labelled := &rules.Mark{Version: "v1", LabelledBy: []rules.Label{{Name: "費目", Pointer: "/r/*/kind"}}}
	expect.That(t, labelled.Covers("v1", []string{"r"}) && labelled.Covers("v1", []string{"r", "0", "kind"}) &&
		!labelled.Covers("v1", []string{"r", "0", "note"}) && !labelled.Covers("v2", []string{"r"}), "labels")
	for name, want := range map[string]bool{"order_number": true, "発注番号": true, "取引先ID": true, "vendorId": true,
		"price_id": false, "note": false, "": false} {
		expect.Is(t, rules.Identifies(name), want, name)
	}
}

// A tool that nobody marked: what it reads moves no money, and of what it writes nobody knows.
func TestWithoutAMarkOnlyReadingMovesNothing(t *testing.T) {
	var none *rules.Mark
	expect.Same(t, none.AmountOf("v1", aggregate.Read, `{}`), rules.Nothing())
	expect.Same(t, none.AmountOf("v1", aggregate.Write, `{"amount":5}`), rules.Unknown(rules.WhyUnmarked))
	expect.Same(t, none.AmountOf("v1", "", `{}`), rules.Unknown(rules.WhyUnmarked))
	expect.Same(t, sumOf("/amount").AmountOf("v1", aggregate.Read, `{"amount":5}`), yen("5"))
}

func TestProblemsOfMarks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*rules.Mark)
		field  string
	}{
		"a long version": {func(m *rules.Mark) { m.Version = strings.Repeat("a", 201) }, "version"},
		"a long pointer": {
			func(m *rules.Mark) { m.Pointers = []string{"/" + strings.Repeat("a", 200)} }, "pointers[0]",
		},
		"a product of nothing":   {func(m *rules.Mark) { m.How, m.Pointers = rules.HowProduct, nil }, "pointers"},
		"a currency of nothing":  {func(m *rules.Mark) { m.How, m.Pointers = rules.HowNothing, nil }, "pointers"},
		"a pointer to nothing":   {func(m *rules.Mark) { m.How, m.Currency = rules.HowNothing, "" }, "pointers"},
		"no version":             {func(m *rules.Mark) { m.Version = "" }, "version"},
		"no way":                 {func(m *rules.Mark) { m.How = "" }, "how"},
		"no pointer":             {func(m *rules.Mark) { m.Pointers = nil }, "pointers"},
		"too many":               {func(m *rules.Mark) { m.Pointers = []string{"/a", "/b", "/c", "/d", "/e"} }, "pointers"},
		"a pointer twice":        {func(m *rules.Mark) { m.Pointers = []string{"/a", "/a"} }, "pointers[1]"},
		"no slash":               {func(m *rules.Mark) { m.Pointers = []string{"a"} }, "pointers[0]"},
		"all of it":              {func(m *rules.Mark) { m.Pointers = []string{""} }, "pointers[0]"},
		"a wrong escape":         {func(m *rules.Mark) { m.Pointers = []string{"/a~2"} }, "pointers[0]"},
		"a currency in words":    {func(m *rules.Mark) { m.Currency = "yen" }, "currency"},
		"pointers where nothing": {func(m *rules.Mark) { m.How = rules.HowNothing }, "pointers"},
		"different rows": {
			func(m *rules.Mark) { m.How, m.Pointers = rules.HowProduct, []string{"/a/*/b", "/c"} }, "pointers",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := sumOf("/amount")
			expect.Is(t, len(m.Problems()), 0)
			c.change(m)
			expect.Same(t, fieldsOf(m.Problems()), []string{c.field})
		})
	}
}

func TestMarksAtTheirLimits(t *testing.T) {
	m := sumOf("/"+strings.Repeat("a", 199), "/b", "/c", "/d")
	m.Version = strings.Repeat("a", 200)
	expect.Is(t, len(m.Problems()), 0)
}

// atMost reports whether every condition that a meets as an amount of at least something b meets, too, and every one
// that b meets as an amount below something a meets.
func atMost(a, b rules.Amount) bool {
	for _, bound := range []rules.Decimal{"0.01", "1", "4.5", "5", "9.99", "10", "14", "15", "19", "30", "64.5", "1000"} {
		for _, currency := range []string{"JPY", "USD"} {
			if a.AtLeast(bound, currency) && !b.AtLeast(bound, currency) ||
				b.Below(bound, currency) && !a.Below(bound, currency) {
				return false
			}
		}
	}
	return true
}

// More steps never lower the amount, in whatever order, and one that isn't known makes the sum unknown.
func TestStepsNeverLowerAnAmount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawnFacts(t)
		f.Kind = rules.KindSteps
		before := f.Amount()
		more := rules.Call{Tool: dm, Amount: drawnAmount(t)}
		f.Calls = append([]rules.Call{more}, f.Calls...)
		after := f.Amount()
		expect.That(t, atMost(before, after), "%v and %v are %v", before, more.Amount, after)
		known := before.Known() && more.Amount.Known()
		expect.That(t, known || !after.Known(), "%v and %v are %v", before, more.Amount, after)
		expect.That(t, atMost(after, rules.Unknown(rules.WhyNegative)), "%v is more than what isn't known", after)
		expect.That(t, before.Plus(more.Amount).Known() == after.Known(), "the order counts")
	})
}

// A call's amount is known only where it is the exact sum of what stands in the arguments.
func TestAmountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var items []map[string]any
		cents := 0
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			price, n := rapid.IntRange(0, 1_000_000).Draw(t, "cents"), rapid.IntRange(0, 50).Draw(t, "n")
			cents += price * n
			exact := json.Number(fmt.Sprintf("%d.%02d", price/100, price%100))
			items = append(items, map[string]any{"price": exact, "n": fmt.Sprint(n)})
		}
		text := expect.Value(json.Marshal(map[string]any{"items": items}))(t)
		got := productOf("/items/*/price", "/items/*/n").AmountOf("v1", aggregate.Write, aggregate.JSON(text))
		want := rules.Decimal(fmt.Sprintf("%d.%02d", cents/100, cents%100))
		expect.That(t, got.Known() && got.AtLeast(want, "JPY"), "%v of %s", got, text)
		above := rules.Decimal(fmt.Sprintf("%d.%02d5", cents/100, cents%100))
		expect.That(t, got.Below(above, "JPY") && !got.Below(want, "JPY"), "%v of %s", got, text)
	})
}

// The zero value, and a damaged one, are not known.
func TestAnAmountThatNobodyReadIsUnknown(t *testing.T) {
	for _, a := range []rules.Amount{
		{}, {Currency: "JPY"}, {Value: "1/3", Currency: "JPY"}, {Value: "-1", Currency: "JPY"}, {Value: "1e9"},
		{Value: "5"},
	} {
		expect.That(t, !a.Known() && a.AtLeast("999999999999999", "JPY") && !a.Below("999999999999999", "JPY"), "%v", a)
		expect.Same(t, rules.Nothing().Plus(a), rules.Unknown(rules.WhyUnmarked))
		expect.Same(t, a.Plus(yen("1")), rules.Unknown(rules.WhyUnmarked))
	}
	expect.Same(t, yen("1").Plus(rules.Amount{Value: "1", Currency: "USD"}), rules.Unknown(rules.WhyCurrencies))
	expect.Same(t, yen("0").Plus(rules.Amount{Value: "1", Currency: "USD"}), rules.Unknown(rules.WhyCurrencies))
	expect.That(t, yen("0").AtLeast("1", "USD") && !yen("0").Below("1", "USD"), "nothing in another currency")
	expect.Same(t, yen("999999999999999").Plus(yen("1")), rules.Unknown(rules.WhyLarge))
	expect.Same(t, rules.Unknown(rules.WhyReference).Plus(rules.Amount{}), rules.Unknown(rules.WhyReference))
	expect.Same(t, yen("0.1").Plus(yen("0.2")), yen("0.3"))
}

// Arguments come from models: whatever they are, their amount is a number within the limits or isn't known.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `{"a":[{"b":"1,000"}]}`, `{"a":{"$ref":"x"}}`, `{"a":-0.5e9}`, `[[[`, `{"a":1,"A":2}`,
	} {
		f.Add(seed, "/a")
		f.Add(seed, "/a/*/b")
	}
	f.Fuzz(func(t *testing.T, arguments, pointer string) {
		a := sumOf(pointer).AmountOf("v1", aggregate.Write, aggregate.JSON(arguments))
		expect.That(t, a.Known() == (a.Why == "") && a.Known() == a.Value.Valid(), "%v", a)
		expect.That(t, !a.Known() || json.Valid([]byte(arguments)), "%v of %q", a, arguments)
	})
}

// What runs where an outside agent runs is no call of a tool, and may do anything.
func TestACallThatRunsElsewhereMayDoAnything(t *testing.T) {
	f := asked()
	expect.That(t, !f.Writes() && f.Amount().Known(), "steps without a call do nothing")
	f.Kind = rules.KindCall
	expect.That(t, f.Writes() && !f.Amount().Known(), "writes %t, %v", f.Writes(), f.Amount())
}
