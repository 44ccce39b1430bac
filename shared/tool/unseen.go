package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/task"
)

// Unseen reports whether a write goes where none of the texts says that people have
// seen: one of its destinations stands in none of them, nor among the values of a
// constraint. Of an MCP server's tool nobody knows which argument says where, so each
// text and number counts. References are Dynamic's.
func Unseen(s Spec, a Arguments, seen ...string) bool {
	if s.Effect != task.Write {
		return false
	}
	for name, v := range a.members {
		if s.Pin == nil && (!slices.Contains(s.Destination, name) || s.listed(name)) {
			continue
		}
		if !named(v, seen) {
			return true
		}
	}
	return false
}

// named reports whether every text and number of a value stands in a text.
func named(v any, seen []string) bool {
	switch v := v.(type) {
	case string:
		return slices.ContainsFunc(seen, func(text string) bool { return says(text, v) })
	case json.Number:
		return slices.ContainsFunc(seen, func(text string) bool { return says(text, v.String()) })
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !named(x, seen) })
	case map[string]any:
		if _, ref := v["$ref"]; ref {
			return true
		}
		for _, x := range v {
			if !named(x, seen) {
				return false
			}
		}
	}
	return true
}

// says reports whether a text has a value as words of its own: U012 is not in U0123,
// nor a@example.co in a@example.com or b.a@example.co. Japanese has no spaces between words.
func says(text, value string) bool {
	if strings.Contains(value, "@") { // addresses are the same in capitals
		text, value = strings.ToLower(text), strings.ToLower(value)
	}
	if strings.TrimSpace(value) == "" {
		return false
	}
	for from := 0; ; from++ {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return false
		}
		if from += at; !within(text, from) && !within(text, from+len(value)) {
			return true
		}
	}
}

// within reports whether the place before byte i is inside of a word or an address.
func within(text string, i int) bool {
	at := func(i int) byte {
		if i < 0 || i >= len(text) {
			return 0
		}
		return text[i]
	}
	switch before, after := at(i-1), at(i); {
	case joint(before):
		return letter(at(i-2)) && letter(after)
	case joint(after):
		return letter(before) && letter(at(i+1))
	default:
		return letter(before) && letter(after)
	}
}

func letter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// joint reports whether a byte holds the parts of an address together.
func joint(b byte) bool { return b == '.' || b == '@' || b == '+' }
