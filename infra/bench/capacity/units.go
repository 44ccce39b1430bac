package capacity

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	readUnit  = 4 << 10 // bytes of a read unit
	writeUnit = 1 << 10 // bytes of a write unit
	// transaction is what two-phase commit costs: every item is prepared and committed.
	transaction = 2
	eventual    = 0.5 // of a strongly consistent read
)

// Index is a global secondary index that projects all attributes.
type Index struct{ PK, SK string }

// Units are capacity units; Index are write units of indexes. Indexes follow a
// write by themselves, so a transaction does not double theirs.
type Units struct{ Read, Write, Index float64 }

// Plus adds two.
func (u Units) Plus(v Units) Units {
	return Units{u.Read + v.Read, u.Write + v.Write, u.Index + v.Index}
}

// Read is what one evaluation costs: a Query's items together, whether it returns
// them or not, or one item of a GetItem or BatchGetItem. Nothing found costs one unit too.
func Read(consistent bool, items ...Item) Units {
	n := ceil(sum(items, Size), readUnit)
	if !consistent {
		n *= eventual
	}
	return Units{Read: n}
}

// Write is what changing an item from before to after costs; either is nil when
// there is none. A check that changes nothing costs as a write does.
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

// follow is what an index costs: a put or a delete is a write, a change of its
// key is both, a change of anything that it projects is one.
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
	pk, hasPK := Text(it[x.PK])
	sk, hasSK := Text(it[x.SK])
	return [2]string{pk, sk}, hasPK && hasSK
}

// Text is a value that is a text, as all keys are.
func Text(v types.AttributeValue) (text string, ok bool) {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// ceil is how many whole units of a size there are, at least one.
func ceil(n, unit int) float64 { return float64(max(1, (n+unit-1)/unit)) }
