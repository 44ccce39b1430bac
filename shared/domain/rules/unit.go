package rules

import (
	"encoding/json"
	"strings"
	"unicode"
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
	return m.called(root, "", false)
}

// called looks at all arguments that are called like a currency or unit. named says that this one, or one above it, is.
func (m *Mark) called(v any, pointer string, named bool) Why {
	if m.mentions(pointer) {
		return ""
	}
	switch v := v.(type) {
	case map[string]any:
		if _, ref := v["$ref"]; ref && named {
			return WhyReference
		}
		for name, member := range v {
			if why := m.called(member, pointer+"/"+escaped(name), named || NamesUnit(name)); why != "" {
				return why
			}
		}
	case []any:
		for _, row := range v {
			if why := m.called(row, pointer+"/"+rows, named); why != "" {
				return why
			}
		}
	default:
		if named {
			return m.says(v)
		}
	}
	return ""
}

// says returns why a value of a currency or unit isn't the mark's currency, or "". A number is none, such as how many
// units there are; of an object or a list each text must be.
func (m *Mark) says(v any) Why {
	switch v := v.(type) {
	case string:
		if !strings.EqualFold(v, m.Currency) && (m.Currency != "JPY" || v != "円") {
			return WhyCurrencies
		}
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return WhyReference
		}
		for _, member := range v {
			if why := m.says(member); why != "" {
				return why
			}
		}
	case []any:
		for _, row := range v {
			if why := m.says(row); why != "" {
				return why
			}
		}
	case nil, bool:
		return WhyMissing
	case json.Number:
	}
	return ""
}

// NamesUnit reports whether an argument is called like one that says a currency or unit: currency_code, amountUnit, 通貨.
func NamesUnit(name string) bool {
	var words []string
	word := []rune{}
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && lower {
			end()
		}
		if unicode.IsLetter(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	end()
	for i, w := range words {
		switch last := i == len(words)-1; {
		case strings.Contains(w, "currenc") || w == "ccy", strings.Contains(w, "通貨") || strings.Contains(w, "貨幣"):
			return true
		case last && (w == "unit" || w == "units" || w == "uom" || strings.HasSuffix(w, "単位")):
			return true
		}
	}
	return false
}
