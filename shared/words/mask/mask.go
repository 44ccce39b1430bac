// Package mask hides personal data in what reaches logs and cards: e-mail addresses,
// phone numbers, and My Number, the twelve digits that only the authorities' papers
// may show. Letters and digits become *, but for an address's first letter and domain
// and a phone number's last two digits: whoever knows the whole sees which one it is.
//
// Texts are masked. Of numbers of JSON only a My Number is: the others are amounts, ids and times. One that begins with
// 0 has eleven digits as a number, and so an amount or an id of eleven digits is hidden where the last happens to check
// the others, as one of twelve is: about each eleventh. A My Number that begins with 00 stays: as a number it has ten
// digits, as the seconds of a time, telephones and ids do.
package mask

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Text hides the personal data in a text.
func Text(s string) string {
	if !suspicious(s) {
		return s
	}
	s = mailForm().ReplaceAllStringFunc(s, mail)
	s = replace(s, numberForm(), myNumber)
	return replace(s, phoneForm(), phone)
}

// suspicious spares most texts the search: there is an @, or enough digits for a number.
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

// Scalar hides the personal data in a decoded JSON value that has no members. A number that is hidden becomes a text.
func Scalar(v any) any {
	switch v := v.(type) {
	case string:
		return Text(v)
	case json.Number:
		if n, ok := twelve(v); ok {
			if hidden, ok := myNumber(n, "", ""); ok {
				return hidden
			}
		}
	}
	return v
}

// twelve are the digits of a whole number of eleven or twelve, however it is written.
func twelve(v json.Number) (string, bool) {
	n, err := v.Float64() // exact: it holds whole numbers of 15 digits
	if err != nil || n != math.Trunc(n) || n < 1e10 || n >= 1e12 {
		return "", false
	}
	return fmt.Sprintf("%012.0f", n), true
}

// All hides the personal data in a decoded JSON value, in the names of members too.
func All(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = All(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[Text(name)] = All(member)
		}
		return out
	}
	return Scalar(v)
}

// Destination reports whether an argument says to whom a call goes, which a person has
// to see whole: it is nothing but an address or a phone number, or a list of such.
func Destination(v any) bool {
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

// whole reports whether a text is one address or phone number and nothing else.
func whole(s string) bool {
	s = strings.TrimSpace(s)
	if mailForm().FindString(s) == s {
		return true
	}
	if phoneForm().FindString(s) != s {
		return false
	}
	_, ok := phone(s, "", "")
	return ok
}
