package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// unit returns why the arguments say another currency or unit than the mark's, or "".
func (m *Mark) unit(root any) Why {
	for _, p := range m.Units {
		values, why := at(root, Tokens(p))
		if why != "" {
			return why
		}
		for _, v := range values {
			if why := m.says(v); why != "" {
				return why
			}
		}
	}
	return m.called(root, "", unnamed)
}

// called looks at all arguments that the mark doesn't mention. as says what this one, or one above it, is called like.
// What an earlier step will say is not known yet: it may be a currency.
func (m *Mark) called(v any, pointer string, as naming) Why {
	if m.mentions(pointer) {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			if as == unnamed && m.harmless(pointer) {
				return ""
			}
			return WhyReference
		}
		for name, member := range v {
			if why := m.called(member, pointer+"/"+Token(name), as.below(name)); why != "" {
				return why
			}
		}
		if len(v) > 0 {
			return ""
		}
	case []any:
		for _, row := range v {
			if why := m.called(row, pointer+"/"+rows, as); why != "" {
				return why
			}
		}
		if len(v) > 0 {
			return ""
		}
	case json.Number:
		if as == counted {
			return ""
		}
	}
	switch as {
	case unnamed:
		return m.beside(v, pointer)
	case rated:
		if n, is := v.(json.Number); is {
			v = n.String()
		}
		if text, is := v.(string); v == nil || is && (text == "" || one.Get().MatchString(text)) {
			return ""
		}
	}
	return m.says(v)
}

// one is the rate that changes nothing.
var one = language.Regexp{Text: `^1(\.0*)?$`}

// harmless reports whether what a reference will come to say at a pointer is no currency: a destination, what is called
// like an id or, where a unit says the currency, whatever isn't called like money.
func (m *Mark) harmless(pointer string) bool {
	name, at := calledAt(Tokens(pointer))
	return slices.Contains(m.Destinations, pointer) || identifies(name) || len(m.Units) > 0 && at == elsewhere
}

// underID reports whether what stands at a path is called like an id, and neither it nor what it is part of like a
// currency.
func underID(path []string) bool {
	as := unnamed
	for _, name := range path {
		as = as.below(name)
	}
	name, _ := calledAt(path)
	return as == unnamed && identifies(name)
}

// identifies reports whether a name is one of ids or numbers: vendor_id, 取引先ID, invoice_number. One of money, such as
// price_id, is none.
func identifies(name []string) bool {
	if len(name) == 0 || slices.ContainsFunc(name, func(word string) bool { return slices.Contains(moneyNames, word) }) {
		return false
	}
	last := strings.TrimLeftFunc(name[len(name)-1], func(r rune) bool { return !cased(r) })
	return slices.Contains([]string{"id", "ids", "no", "number"}, last) || strings.HasSuffix(name[len(name)-1], "番号")
}

// Identifies reports whether a result's member is called like an id or a number: order_number, 発注番号.
func Identifies(name string) bool {
	words, _ := calledAt([]string{name})
	return identifies(words)
}

// beside returns why what an argument says, whatever it is called, means another currency or a scale: the amount may be
// meant in that. Where money is expected one of its words is enough, elsewhere all have to be. A place in a list, a
// cursor, may look like anything.
func (m *Mark) beside(v any, pointer string) Why {
	name, at := calledAt(Tokens(pointer))
	text, _ := v.(string)
	runs, only := moneyWords(text)
	switch {
	case slices.Contains(name, "cursor"):
		return ""
	case only && m.another(runs[0], at), !only && at != elsewhere && slices.ContainsFunc(runs, m.other):
		return WhyCurrencies
	case len(m.Units) == 0 && !only && sign.Get().MatchString(legible.Narrow(text)):
		return WhyCurrencies
	case ofAmount(name) && number(v): // of something else, such as amount_usd: 1
		return ""
	case isYes(v) && m.foreign(name), isNo(v) && m.own(name):
		return WhyCurrencies
	}
	return ""
}

// another reports whether words mean another currency than the mark's, or a scale. Where a unit says the currency, only
// a scale is left to be said.
func (m *Mark) another(all []moneyWord, at place) bool {
	scaled, foreign := meaning(m.Currency, all, at)
	return scaled || foreign && len(m.Units) == 0
}

func (m *Mark) other(all []moneyWord) bool { return m.another(all, elsewhere) }

// sign matches a currency's sign behind letters that nobody knows.
var sign = language.Regexp{Text: `^\pL{0,3}\p{Sc}$`}

// moneyNames are words in the names of arguments that say something of money, kindNames such that say it as often of
// other things.
var (
	moneyNames = []string{"iso", "money", "in", "symbol", "sign", "fx", "shown", "basis", "amount", "price",
		"cost", "表示", "記号", "建て"}
	kindNames = []string{"as", "kind", "format", "display", "種別", "種類"}
)

// calledAt returns the words of the last name on a path, and the place that it is: of money if each word says so, so
// not country_code. A code is one of what the name, or the one above, says.
func calledAt(path []string) (name []string, at place) {
	for i, part := range slices.Backward(path) {
		if part == rows || len(wordsOf(part)) == 0 {
			continue
		}
		name, at = wordsOf(part), ofMoney
		if slices.Equal(name, []string{"code"}) {
			above, of := calledAt(path[:i])
			if at = of; len(above) == 0 {
				at = ofKind
			}
			return name, at
		}
		for _, word := range name {
			switch {
			case word == "code":
			case slices.Contains(kindNames, word):
				at = min(at, ofKind)
			case !slices.Contains(moneyNames, word):
				return name, elsewhere
			}
		}
		return name, at
	}
	return nil, elsewhere
}

// ofAmount reports whether an argument is called like an amount or a number of its own.
func ofAmount(name []string) bool {
	return slices.ContainsFunc(name, func(word string) bool {
		return slices.Contains(amountNames, word) ||
			slices.ContainsFunc(amountParts, func(part string) bool { return strings.Contains(word, part) })
	})
}

var (
	amountNames = []string{"amount", "amounts", "price", "prices", "total", "totals", "subtotal", "cost", "costs", "fee",
		"fees", "sum", "value", "balance", "count", "quantity", "budget", "discount"}
	amountParts = []string{"金額", "価格", "残高", "合計", "単価", "手数料", "予算"}
)

// number reports whether a value is a number, or a text of one digit.
func number(v any) bool {
	_, is := v.(json.Number)
	return is || v == "0" || v == "1"
}

// isYes and isNo report whether a value is one by which programs and people answer a question.
func isYes(v any) bool {
	return v == true || answers(v, "1", "true", "t", "yes", "y", "on", "はい", "有", "有り", "あり", "する", "○", "〇", "該当")
}

func isNo(v any) bool {
	return v == false || answers(v, "0", "false", "f", "no", "n", "off", "いいえ", "無", "無し", "なし", "しない", "×", "非該当")
}

func answers(v any, words ...string) bool {
	switch v := v.(type) {
	case json.Number:
		return slices.Contains(words, v.String())
	case string:
		return slices.Contains(words, strings.ToLower(strings.TrimSpace(legible.Narrow(v))))
	}
	return false
}

// foreign reports whether an argument's name has another currency in it, such as in_usd, or a scale and at its end no
// other thing, such as in_thousands but not thousands_separator: true says that it is meant.
func (m *Mark) foreign(name []string) bool {
	_, scales := moneyWords(strings.Join(name[max(0, len(name)-1):], ""))
	for i, word := range name {
		at := ofFlag
		if i > 0 && name[i-1] == "in" {
			at = ofMoney
		}
		for _, word := range append(partsOf(word), word, strings.ToUpper(word)) {
			runs, only := moneyWords(word)
			scaled, foreign := meaning(m.Currency, runs[0], at)
			if only && (foreign && len(m.Units) == 0 || scaled && scales) {
				return true
			}
		}
	}
	return false
}

// own reports whether an argument's name has the mark's currency in it, and nothing else of money: in_jpy: false says
// that another is meant.
func (m *Mark) own(name []string) bool {
	return len(m.Units) == 0 && !m.foreign(name) && slices.ContainsFunc(name, func(word string) bool {
		runs, only := moneyWords(word)
		return only && slices.ContainsFunc(runs[0], func(w moneyWord) bool {
			return w.code == m.Currency && (w.as == asName || w.as == asFamily) && w.from == elsewhere
		})
	})
}

// partsOf returns the parts of a name, written without blanks, that mean money or a scale.
func partsOf(word string) (all []string) {
	for _, part := range []string{"外貨", "ドル", "ユーロ", "ポンド", "ウォン", "人民元", "千円", "万円", "億円", "dollar", "euro"} {
		if strings.Contains(word, part) {
			all = append(all, part)
		}
	}
	return all
}

// says returns why a value isn't the text of the mark's currency, or "". Codes that are numbers, such as 840, and what
// is empty may mean any.
func (m *Mark) says(v any) Why {
	switch v := v.(type) {
	case string:
		if strings.EqualFold(v, m.Currency) || m.Currency == "JPY" && v == "円" {
			return ""
		}
		return WhyCurrencies
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return WhyReference
		}
	case nil, bool:
		return WhyMissing
	}
	return WhyCurrencies
}

// naming says what an argument is called like.
type naming int

const (
	unnamed  naming = iota
	counted         // units: a text says the unit, a number how many there are
	rated           // an exchange rate: 1 changes nothing
	saysUnit        // a currency or unit
)

// below returns what a member of an argument is called like.
func (as naming) below(name string) naming { return max(as, namingOf(name)) }

// currencies are parts of names that say a currency or a scale, and currencyWords such names that are words of their
// own.
var (
	currencies    = []string{"currenc", "curncy", "crncy", "waers", "währung", "通貨", "通货", "幣", "币", "货币", "통화", "倍率"}
	currencyWords = []string{"ccy", "cur", "curr", "cury", "valuta", "devise", "moneda", "moeda", "denomination", "scale",
		"multiplier", "magnitude"}
	// rates are names of exchange rates, or parts of them in languages without blanks.
	rates     = []string{"為替", "換算レート", "換算率", "汇率", "匯率", "환율", "exchangerate", "fxrate"}
	rateWords = []string{"exchange", "conversion", "fx", "forex", "currency"}
	// unitsWhat are words behind "unit" with which a name still says the unit, other than unit_price.
	unitsWhat = []string{"code", "id", "name", "label", "symbol", "type", "kind", "of", "text", "division"}
	// unitCounts are what follows 単位 in names of how many or how much.
	unitCounts = []string{"数", "量", "価", "金額", "当", "あた"}
)

// namingOf returns what a name says: currency_code, amountUnit, unit_code, iso4217, 通貨, 単位区分, exchange_rate.
func namingOf(name string) naming {
	words := wordsOf(name)
	if strings.Contains(legible.Narrow(name), "4217") {
		return saysUnit
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		_, behind, unit := strings.Cut(w, "単位")
		after := func(start string) bool { return strings.HasPrefix(behind, start) }
		switch {
		case slices.ContainsFunc(currencies, func(part string) bool { return strings.Contains(w, part) }),
			slices.Contains(currencyWords, w), unit && !slices.ContainsFunc(unitCounts, after):
			return saysUnit
		case next == "" && (w == "unit" || w == "uom"), w == "unit" && slices.Contains(unitsWhat, next):
			return saysUnit
		case next == "" && w == "units":
			return counted
		case slices.ContainsFunc(rates, func(part string) bool { return strings.Contains(w, part) }),
			slices.Contains(rateWords, w) && (next == "rate" || next == "factor"), next == "" && (w == "fx" || w == "forex"):
			return rated
		}
	}
	return unnamed
}

// wordsOf returns the words of a name in small letters, whatever their width; what is no letter, and a capital behind a
// small letter, ends one.
func wordsOf(name string) (words []string) {
	word := []rune{}
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	lower := false
	for _, r := range legible.Narrow(name) {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	return words
}
