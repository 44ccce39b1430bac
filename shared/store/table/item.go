package table

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// schemaVersion is the newest form of an item that this release reads, and the one that it writes.
const schemaVersion = 1

// Item is one row of the table.
type Item = map[string]types.AttributeValue

func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func Number(n int) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.Itoa(n)}
}

func encoding(o *attributevalue.EncoderOptions) {
	o.TagKey = "json"
	o.EncodeTime = func(t time.Time) (types.AttributeValue, error) { return Text(aggregate.TimeText(t)), nil }
}

func decoding(o *attributevalue.DecoderOptions) { o.TagKey = "json" }

func Key(pk, sk string) Item { return Item{"PK": Text(pk), "SK": Text(sk)} }

// maxItem is the most bytes of an item, names and values: DynamoDB takes 400 KB.
const maxItem = 400 << 10

// Pack makes the item of a value whose json tags name its attributes. It returns aggregate.ErrTooLarge for one that
// DynamoDB would refuse.
func Pack(kind, pk, sk string, v any) (Item, error) {
	it, err := attributevalue.MarshalMapWithOptions(v, encoding)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	it = toColumns(it, v)
	it["PK"], it["SK"] = Text(pk), Text(sk)
	it["type"], it["schema_version"] = Text(kind), Number(schemaVersion)
	if n := SizeOf(it); n > maxItem {
		return nil, aggregate.ErrTooLarge{Row: kind, Bytes: n}
	}
	return it, nil
}

// Unpack reads an item into a value. It returns ErrNewerSchema for what a later release wrote.
func Unpack(it Item, into any) error {
	if v := IntOf(it, "schema_version"); v > schemaVersion {
		return ErrNewerSchema{Item: TextOf(it, "PK") + " " + TextOf(it, "SK"), Version: v}
	}
	it, err := FromColumns(it, into)
	if err == nil {
		err = attributevalue.UnmarshalMapWithOptions(it, into, decoding)
	}
	if err != nil {
		return fmt.Errorf("decode %s %s: %w", TextOf(it, "type"), TextOf(it, "SK"), err)
	}
	return nil
}

// UnpackAs is Unpack into a new value.
func UnpackAs[T any](it Item) (T, error) {
	var x T
	err := Unpack(it, &x)
	return x, err
}

// Expired reports whether the item's TTL has passed: DynamoDB may delete it at any time, so it counts as gone.
func Expired(it Item, now time.Time) bool {
	at := IntOf(it, "delete_after")
	return at != 0 && int64(at) <= now.Unix()
}

func TextOf(it Item, name string) string {
	if v, ok := it[name].(*types.AttributeValueMemberS); ok {
		return v.Value
	}
	return ""
}

func IntOf(it Item, name string) int {
	if v, ok := it[name].(*types.AttributeValueMemberN); ok {
		if n, err := strconv.Atoi(v.Value); err == nil {
			return n
		}
	}
	return 0
}

// Index puts an item into one of the indexes, 1 to 3.
func Index(it Item, n int, pk, sk string) {
	name := "GSI" + strconv.Itoa(n)
	it[name+"PK"], it[name+"SK"] = Text(pk), Text(sk)
}

// ErrNewerSchema says that an item was written by a release that this one does not know.
type ErrNewerSchema struct {
	Item    string // its keys
	Version int
}

func (e ErrNewerSchema) Error() string {
	return fmt.Sprintf("item %s has schema_version %d, this release reads up to %d", e.Item, e.Version, schemaVersion)
}
