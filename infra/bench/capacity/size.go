// Package capacity computes what DynamoDB charges for a call, by its published
// rules: emulators answer with a constant.
package capacity

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Value is an attribute value as DynamoDB's JSON has it: one type letter and what it holds.
type Value map[string]json.RawMessage

// Item is an item as DynamoDB's JSON has it.
type Item map[string]Value

// Sizes of what has no length of its own, in bytes.
const (
	sizeOfFlag      = 1 // a boolean or null
	sizeOfContainer = 3 // a list or map, whatever is in it
	sizeOfElement   = 1 // each element of a list or map
)

// Size is an item's size in bytes: its attributes' names in UTF-8 and their values.
func Size(it Item) (int, error) {
	total := 0
	for name, v := range it {
		n, err := sizeOf(v)
		if err != nil {
			return 0, fmt.Errorf("attribute %s: %w", name, err)
		}
		total += len(name) + n
	}
	return total, nil
}

func sizeOf(v Value) (int, error) {
	if len(v) != 1 {
		return 0, fmt.Errorf("a value has %d types, not one", len(v))
	}
	for kind, raw := range v {
		switch kind {
		case "S", "N", "B":
			return decoded(kind, raw)
		case "BOOL", "NULL":
			return sizeOfFlag, nil
		case "SS", "NS", "BS":
			var list []json.RawMessage
			if err := json.Unmarshal(raw, &list); err != nil {
				return 0, err
			}
			return sum(list, func(x json.RawMessage) (int, error) { return decoded(kind[:1], x) })
		case "L":
			var list []Value
			if err := json.Unmarshal(raw, &list); err != nil {
				return 0, err
			}
			n, err := sum(list, sizeOf)
			return sizeOfContainer + len(list)*sizeOfElement + n, err
		case "M":
			var m Item
			if err := json.Unmarshal(raw, &m); err != nil {
				return 0, err
			}
			n, err := Size(m)
			return sizeOfContainer + len(m)*sizeOfElement + n, err
		}
		return 0, fmt.Errorf("there is no type %q", kind)
	}
	panic("unreachable")
}

func sum[T any](list []T, size func(T) (int, error)) (total int, err error) {
	for _, x := range list {
		n, err := size(x)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// decoded is the size of a string, a number or a binary.
func decoded(kind string, raw json.RawMessage) (int, error) {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return 0, err
	}
	switch kind {
	case "N":
		return sizeOfNumber(text), nil
	case "B":
		b, err := base64.StdEncoding.DecodeString(text)
		return len(b), err
	}
	return len(text), nil
}

// sizeOfNumber is a byte, one for every two significant digits, and one for a minus.
func sizeOfNumber(text string) int {
	digits, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	if whole, fraction, ok := strings.Cut(digits, "."); ok {
		digits = whole + strings.TrimRight(fraction, "0")
		if strings.Trim(fraction, "0") == "" {
			digits = strings.TrimRight(whole, "0")
		}
	} else {
		digits = strings.TrimRight(digits, "0")
	}
	n := 1 + (len(strings.TrimLeft(digits, "0"))+1)/2
	if strings.HasPrefix(text, "-") {
		n++
	}
	return n
}
