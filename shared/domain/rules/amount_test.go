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
	read := func(text string) rules.Amount {
		return sumOf("/amount").AmountOf("v1", aggregate.Write, aggregate.JSON(`{"amount":`+text+`}`))
	}
	for text, want := range map[string]rules.Decimal{`0`: "0", `298000`: "298000", `1.50`: "1.5", `0.000001`: "0.000001",
		`999999999999999`: "999999999999999", `"298000"`: "298000", `"298,000"`: "298000", `"1,234,567"`: "1234567",
		`"1\u0032"`: "12"} {
		expect.Is(t, read(text), yen(string(want)), text)
	}
	for why, texts := range map[rules.Why][]string{
		rules.WhyNegative: {`-1`, `-0`, `"-5"`}, rules.WhyReference: {`{"$ref":"step-1.result.total"}`},
		rules.WhyNotNumber: {`"1,234,567.89"`, `"99999.99"`, `{"value":1}`, `[1]`, `null`, `true`, `1e5`, `1E5`,
			`1000000000000000`, `0.0000001`, `""`, `" 5"`, `"5 "`, `"+5"`, `"0100"`, `"10万円"`, `"¥298,000"`, `"298000円"`,
			`"２９８０００"`, `"１００,０００"`, `"29,8000"`, `"298，000"`, `"0,001"`, `"1,00"`, `"1.000"`, `"1.000.000"`,
			`"298.000,00"`, `"1e5"`, `"0x10"`, `"1/3"`, `"Inf"`, `"5."`, `".5"`, `"1,234,567,890,123,456"`, `"5\n"`, `"1 000"`},
	} {
		for _, text := range texts {
			expect.Is(t, read(text), rules.Amount{Why: why}, text)
		}
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
	prices, rows := sumOf("/items/*/price"), productOf("/items/*/price", "/items/*/n")
	nothing := &rules.Mark{Version: "v1", How: rules.HowNothing}
	most := &rules.Mark{Version: "v1", How: "most", Pointers: []string{"/fee"}, Currency: "JPY"}
	deep := strings.Repeat("[", 32) + strings.Repeat("]", 32)
	for name, c := range map[string]struct {
		mark      *rules.Mark
		arguments string
		why       rules.Why
	}{
		"an unknown way":                 {most, items, rules.WhyMark},
		"factors of different rows":      {productOf("/items/*/price", "/fee"), items, rules.WhyMark},
		"factors of different lists":     {productOf("/items/*/price", "/lots/*/*"), items, rules.WhyMark},
		"nothing there":                  {sumOf("/total"), items, rules.WhyMissing},
		"nothing below a number":         {sumOf("/0/x"), items, rules.WhyMissing},
		"missing in one row":             {sumOf("/items/*/tax"), items, rules.WhyMissing},
		"an empty list":                  {sumOf("/none/*"), items, rules.WhyRows},
		"one row by its number":          {sumOf("/items/0/price"), items, rules.WhyRows},
		"no list":                        {sumOf("/a~1b/*"), items, rules.WhyRows},
		"the list is a reference":        {prices, `{"items":{"$ref":"step-1.result"}}`, rules.WhyReference},
		"all is a reference":             {sumOf("/fee"), `{"$ref":"step-1.result"}`, rules.WhyReference},
		"one row of many is negative":    {prices, `{"items":[{"price":5},{"price":-5}]}`, rules.WhyNegative},
		"one factor is a text":           {rows, `{"items":[{"price":5,"n":"two"}]}`, rules.WhyNotNumber},
		"a reference beside a number":    {sumOf("/a", "/b"), `{"a":1,"b":{"$ref":"step-1.result.b"}}`, rules.WhyReference},
		"a member twice":                 {sumOf("/a"), `{"a":1,"a":1000000}`, rules.WhyArguments},
		"twice in other letters":         {sumOf("/a"), `{"a":1,"A":1000000}`, rules.WhyArguments},
		"twice, as EqualFold has it":     {sumOf("/items/*/p"), `{"items":[{"p":1}],"itemſ":[{"p":9}]}`, rules.WhyArguments},
		"a member twice, further in":     {sumOf("/a"), `{"a":1,"b":[{"c":1,"c":2}]}`, rules.WhyArguments},
		"two values":                     {sumOf("/a"), `{"a":1} {"a":2}`, rules.WhyArguments},
		"nested too deep":                {sumOf("/a"), `{"a":1,"b":` + deep + `}`, rules.WhyArguments},
		"cut off":                        {sumOf("/a"), `{"a":1`, rules.WhyArguments},
		"not UTF-8":                      {sumOf("/a"), "{\"a\":1,\"b\":\"\xff\"}", rules.WhyArguments},
		"nothing given":                  {sumOf("/a"), ``, rules.WhyArguments},
		"more digits than a number has":  {productOf("/a", "/b"), `{"a":999999999999999,"b":2}`, rules.WhyLarge},
		"more decimals than it may have": {productOf("/a", "/b"), `{"a":0.000001,"b":0.1}`, rules.WhyLarge},
	} {
		expect.Is(t, c.mark.AmountOf("v1", aggregate.Write, aggregate.JSON(c.arguments)), rules.Unknown(c.why), name)
	}
	for _, m := range []*rules.Mark{sumOf("/fee"), nothing} {
		expect.Is(t, m.AmountOf("v2", aggregate.Write, items), rules.Unknown(rules.WhyMark), "another version of the tool")
	}
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
