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

// called looks at all arguments that are called like a currency or unit. as says what this one, or one above it, is
// called like.
func (m *Mark) called(v any, pointer string, as naming) Why {
	if m.mentions(pointer) {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if _, ref := v["$ref"]; ref && as != unnamed {
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
	if as != unnamed {
		return m.says(v)
	}
	name := wordsOf(pointer[strings.LastIndex(pointer, "/")+1:])
	text, _ := v.(string)
	if m.another(text) && !slices.Contains(name, "cursor") || v == true && m.foreign(name) {
		return WhyCurrencies
	}
	return ""
}

var (
	// codes are currencies whose codes are no words, such as ALL and TRY, that arguments have for other reasons.
	codes = []string{"JPY", "USD", "EUR", "GBP", "CNY", "RMB", "CNH", "KRW", "TWD", "HKD", "SGD", "THB", "VND", "IDR",
		"PHP", "MYR", "INR", "AUD", "NZD", "CAD", "CHF", "SEK", "NOK", "DKK", "BRL", "MXN", "ZAR", "RUB", "AED", "SAR"}
	// otherWords are parts of names and texts that mean money which isn't yen.
	otherWords = []string{"外貨", "ドル", "ユーロ", "ポンド", "ウォン", "人民元", "dollar", "euro"}
	signs      = map[string]string{"JPY": "¥", "USD": "$", "EUR": "€", "GBP": "£", "KRW": "₩"}
	scaled     = lazy.Regexp{Text: `(?i)^(?:[十百千万億兆]+円?|thousands?|millions?|billions?)$`}
	sign       = lazy.Regexp{Text: `^\pL{0,3}\p{Sc}$`}
)

// another reports whether a text is nothing but another currency than the mark's, or a scale: whatever its argument is
// called, the amount beside it may be meant in that. A place in a list, a cursor, may look like anything.
func (m *Mark) another(text string) bool {
	text = strings.TrimSpace(legible.Narrow(text))
	if m.says(text) == "" || text == signs[m.Currency] {
		return false
	}
	other := func(word string) bool {
		return strings.EqualFold(word, text) || word+"建て" == text || "米"+word == text
	}
	return slices.Contains(codes, strings.ToUpper(text)) || slices.ContainsFunc(otherWords, other) ||
		scaled.Get().MatchString(text) || sign.Get().MatchString(text)
}

// foreign reports whether an argument's name has another currency in it, such as in_usd: true says that it is meant.
func (m *Mark) foreign(name []string) bool {
	return slices.ContainsFunc(name, func(word string) bool {
		code := strings.ToUpper(word)
		return code != m.Currency && slices.Contains(codes, code) ||
			slices.ContainsFunc(otherWords, func(part string) bool { return strings.Contains(word, part) })
	})
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
	// unitsWhat are words behind "unit" with which a name still says the unit, other than unit_price.
	unitsWhat = []string{"code", "id", "name", "label", "symbol", "type", "kind", "of", "text", "division"}
	// unitCounts are what follows 単位 in names of how many or how much.
	unitCounts = []string{"数", "量", "価", "金額", "当", "あた"}
)

// namingOf returns what a name says: currency_code, amountUnit, unit_code, 通貨, 単位区分.
func namingOf(name string) naming {
	words := wordsOf(name)
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
