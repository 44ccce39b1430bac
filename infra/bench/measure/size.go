package measure

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/store/table"
)

// Item is an item encoded as DynamoDB's JSON.
type Item map[string]types.AttributeValue

// UnmarshalJSON reads DynamoDB's JSON. It returns an error for a value of no known type.
func (it *Item) UnmarshalJSON(text []byte) (err error) {
	*it, err = attributevalue.UnmarshalMapJSON(text)
	if err == nil && !whole(&types.AttributeValueMemberM{Value: *it}) {
		err = errors.New("an attribute has a value of no known type")
	}
	return err
}

// whole reports whether all parts of a value have known types.
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

func (it Item) MarshalJSON() ([]byte, error) { return attributevalue.MarshalMapJSON(it) }

// Sizes, in bytes, of values without a length.
const (
	sizeOfFlag      = 1 // a boolean or null
	sizeOfContainer = 3 // of a list or map, besides its elements
	sizeOfElement   = 1 // for each element of a list or map
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

// sizeOfNumber is one byte, one more for every two significant digits, and one for a minus.
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

const (
	readUnit  = 4 << 10 // bytes of a read unit
	writeUnit = 1 << 10 // bytes of a write unit
	// A transaction counts twice: every item is prepared and committed.
	transaction = 2
	eventual    = 0.5 // of a strongly consistent read
)

// Index is a global secondary index that projects all attributes.
type Index struct{ PK, SK string }

// Units are capacity units. Index counts the write units of indexes, which a transaction does not double.
type Units struct{ Read, Write, Index float64 }

func (u Units) Plus(v Units) Units {
	return Units{u.Read + v.Read, u.Write + v.Write, u.Index + v.Index}
}

// Read returns the cost of one read: all items that a Query reads together, or one item of GetItem or BatchGetItem.
// Finding nothing costs one unit.
func Read(consistent bool, items ...Item) Units {
	n := ceil(sum(items, Size), readUnit)
	if !consistent {
		n *= eventual
	}
	return Units{Read: n}
}

// Write returns the cost of changing an item from before to after; either may be nil. A check costs as much as a write.
func Write(before, after Item, transactional bool, indexes ...Index) Units {
	was, is := Size(before), Size(after)
	u := Units{Write: ceil(max(was, is), writeUnit)}
	if transactional {
		u.Write *= transaction
	}
	for _, x := range indexes {
		u.Index += x.follow(before, after, was, is)
	}
	return u
}

// follow returns the cost of a write for an index: an added or removed entry is one write, a changed key two, any other
// change one.
func (x Index) follow(before, after Item, was, is int) float64 {
	old, had := x.key(before)
	now, has := x.key(after)
	switch {
	case !had && !has:
		return 0
	case !had:
		return ceil(is, writeUnit)
	case !has:
		return ceil(was, writeUnit)
	case old != now:
		return ceil(was, writeUnit) + ceil(is, writeUnit)
	case reflect.DeepEqual(before, after):
		return 0
	}
	return ceil(max(was, is), writeUnit)
}

func (x Index) key(it Item) (key [2]string, ok bool) {
	pk, sk := table.TextOf(it, x.PK), table.TextOf(it, x.SK)
	return [2]string{pk, sk}, pk != "" && sk != "" // a key is never empty
}

func ceil(n, unit int) float64 { return float64(max(1, (n+unit-1)/unit)) }
