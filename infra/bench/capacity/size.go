// Package capacity computes what DynamoDB charges for a call, by its published
// rules: emulators answer with a constant.
package capacity

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item, in DynamoDB's JSON where it is encoded.
type Item map[string]types.AttributeValue

// UnmarshalJSON reads DynamoDB's JSON. It returns an error for a value of no known type.
func (it *Item) UnmarshalJSON(text []byte) (err error) {
	*it, err = attributevalue.UnmarshalMapJSON(text)
	if err == nil && !whole(&types.AttributeValueMemberM{Value: *it}) {
		err = errors.New("an attribute has a value of no known type")
	}
	return err
}

// whole reports whether everything in a value has a type.
func whole(v types.AttributeValue) bool {
	switch v := v.(type) {
	case *types.UnknownUnionMember:
		return false
	case *types.AttributeValueMemberL:
		return !slices.ContainsFunc(v.Value, func(x types.AttributeValue) bool { return !whole(x) })
	case *types.AttributeValueMemberM:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v.Value)), func(x types.AttributeValue) bool { return !whole(x) })
	}
	return v != nil
}

// MarshalJSON writes DynamoDB's JSON.
func (it Item) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(it) }

// Sizes of what has no length of its own, in bytes.
const (
	sizeOfFlag      = 1 // a boolean or null
	sizeOfContainer = 3 // a list or map, whatever is in it
	sizeOfElement   = 1 // each element of a list or map
)

// Size is an item's size in bytes: its attributes' names in UTF-8 and their values.
func Size(it Item) (total int) {
	for name, v := range it {
		total += len(name) + sizeOf(v)
	}
	return total
}

func sizeOf(v types.AttributeValue) (total int) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return sizeOfNumber(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		return sum(v.Value, func(x string) int { return len(x) })
	case *types.AttributeValueMemberNS:
		return sum(v.Value, sizeOfNumber)
	case *types.AttributeValueMemberBS:
		return sum(v.Value, func(x []byte) int { return len(x) })
	case *types.AttributeValueMemberL:
		return sizeOfContainer + len(v.Value)*sizeOfElement + sum(v.Value, sizeOf)
	case *types.AttributeValueMemberM:
		return sizeOfContainer + len(v.Value)*sizeOfElement + Size(v.Value)
	}
	return sizeOfFlag
}

func sum[T any](list []T, size func(T) int) (total int) {
	for _, x := range list {
		total += size(x)
	}
	return total
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
