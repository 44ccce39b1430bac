package rules

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"ringi/shared/words/lazy"
	"ringi/shared/words/legible"
)

// unit returns why the arguments say another currency or unit than the mark's, or "".
func (m *Mark) unit(root any) Why {
	for _, p := range m.Units {
		values, why := at(root, tokens(p))
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
			if as == unnamed && slices.Contains(m.Destinations, pointer) {
				return ""
			}
			return WhyReference
		}
		for name, member := range v {
			if why := m.called(member, pointer+"/"+escaped(name), as.below(name)); why != "" {
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
		if v == nil || v == "" || v == json.Number("1") || v == "1" {
			return ""
		}
	}
	return m.says(v)
}

// beside returns why what an argument says, whatever it is called, means another currency or a scale: the amount may be
// meant in that. A place in a list, a cursor, may look like anything.
func (m *Mark) beside(v any, pointer string) Why {
	pointer = strings.TrimRight(pointer, "/"+rows)
	name := wordsOf(pointer[strings.LastIndex(pointer, "/")+1:])
	text, _ := v.(string)
	switch all, only := moneyWords(text); {
	case slices.Contains(name, "cursor"):
	case only && another(m.Currency, all, ofMoney(name)), sign.Get().MatchString(legible.Narrow(text)) && !only:
		return WhyCurrencies
	case ofAmount(name) && v != true && v != false: // it has the value of something else, such as amount_usd
	case isYes(v) && m.foreign(name), isNo(v) && m.own(name):
		return WhyCurrencies
	}
	return ""
}

// sign matches a currency's sign behind letters that nobody knows.
var sign = lazy.Regexp{Text: `^\pL{0,3}\p{Sc}$`}

// moneyNames are words in the names of arguments that say something of money.
var moneyNames = []string{"iso", "money", "in", "as", "kind", "symbol", "sign", "code", "fx", "format", "display",
	"shown", "basis", "amount", "price", "cost", "表示", "記号", "種別", "種類", "建て"}

func ofMoney(name []string) bool { return slices.ContainsFunc(name, in(moneyNames)) }

// ofAmount reports whether an argument is called like an amount or a number of its own.
func ofAmount(name []string) bool {
	return slices.ContainsFunc(name, func(word string) bool {
		return slices.ContainsFunc(amountNames, func(part string) bool { return strings.Contains(word, part) })
	})
}

var amountNames = []string{"amount", "price", "total", "cost", "fee", "sum", "value", "balance", "count", "quantity",
	"budget", "金額", "価格", "残高", "合計", "単価", "手数料", "予算"}

func in(list []string) func(string) bool {
	return func(word string) bool { return slices.Contains(list, word) }
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

// foreign reports whether an argument's name has another currency or a scale in it, such as in_usd: true says that it
// is meant.
func (m *Mark) foreign(name []string) bool {
	return slices.ContainsFunc(name, func(word string) bool {
		return m.other(word) || m.other(strings.ToUpper(word)) ||
			slices.ContainsFunc(otherWords, func(part string) bool { return strings.Contains(word, part) && m.other(part) })
	})
}

// own reports whether an argument's name has the mark's currency in it, and nothing else of money: in_jpy: false says
// that another is meant.
func (m *Mark) own(name []string) bool {
	return !m.foreign(name) && slices.ContainsFunc(name, func(word string) bool {
		all, only := moneyWords(word)
		return only && slices.ContainsFunc(all, func(w moneyWord) bool {
			return w.code == m.Currency && (w.as == asName || w.as == asFamily) && !w.weak
		})
	})
}

// otherWords are parts of names that mean money or a scale.
var otherWords = []string{"外貨", "ドル", "ユーロ", "ポンド", "ウォン", "人民元", "千円", "万円", "億円", "dollar", "euro"}

func (m *Mark) other(word string) bool {
	all, only := moneyWords(word)
	return only && another(m.Currency, all, false)
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
