package legible

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Text hides the personal data in a text.
func Mask(s string) string {
	if !suspicious(s) {
		return s
	}
	s = mailForm.Get().ReplaceAllStringFunc(s, mail)
	s = replace(s, numberForm.Get(), myNumber)
	return replace(s, phoneForm.Get(), phone)
}

// suspicious avoids searching most texts: it reports whether there is an @ or enough digits for a number.
func suspicious(s string) bool {
	digits := 0
	for _, r := range s {
		if r == '@' || r == '＠' {
			return true
		}
		if isDigit(r) {
			digits++
		}
	}
	return digits >= 8
}

// Scalar hides personal data in a decoded JSON value without members. A masked number becomes a text.
func MaskScalar(v any) any {
	switch v := v.(type) {
	case string:
		return Mask(v)
	case json.Number:
		if n, ok := twelve(v); ok {
			if hidden, ok := myNumber(n, "", ""); ok {
				return hidden
			}
		}
	}
	return v
}

// twelve returns the digits of a whole number of eleven or twelve digits, in any notation.
func twelve(v json.Number) (string, bool) {
	n, err := v.Float64() // exact for whole numbers of up to 15 digits
	if err != nil || n != math.Trunc(n) || n < 1e10 || n >= 1e12 {
		return "", false
	}
	return fmt.Sprintf("%012.0f", n), true
}

// All hides personal data in a decoded JSON value, including members' names. No member is lost when two names have the
// same masked form.
func MaskAll(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = MaskAll(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key := Mask(name)
			for _, taken := out[key]; taken; _, taken = out[key] {
				key += "*"
			}
			out[key] = MaskAll(v[name])
		}
		return out
	}
	return MaskScalar(v)
}

// JSON is All for a value that is still encoded: a text in it may spell its characters as escapes, which Text would not
// recognise. What is not JSON is masked as a text.
func MaskJSON(raw string) string {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return Mask(raw)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(MaskAll(v)) != nil { // impossible for decoded JSON
		return ""
	}
	return strings.TrimSpace(b.String())
}

// Destination reports whether an argument is the recipient of a call, which a person must see unmasked: only an address
// or a phone number, or a list of these.
func MaskDestination(v any) bool {
	switch v := v.(type) {
	case string:
		return whole(v)
	case []any:
		for _, one := range v {
			if s, ok := one.(string); !ok || !whole(s) {
				return false
			}
		}
		return true
	}
	return false
}

// whole reports whether a text is only an address or a phone number.
func whole(s string) bool {
	s = strings.TrimSpace(s)
	if mailForm.Get().FindString(s) == s {
		return true
	}
	if phoneForm.Get().FindString(s) != s {
		return false
	}
	_, ok := phone(s, "", "")
	return ok
}
