package table

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// schemaVersion is the item version that this release writes, and the newest that it reads.
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

// maxItem is DynamoDB's limit for an item, names and values, in bytes.
const maxItem = 400 << 10

// Pack makes an item of a value by its json tags. It returns aggregate.ErrTooLarge if DynamoDB would refuse the item.
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

// Unpack reads an item into a value. It returns ErrNewerSchema if a later release wrote the item.
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

// Expired reports whether the item's TTL has passed. DynamoDB may delete such an item at any time, so treat it as
// deleted.
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

// Index adds an item to index n, 1 to 3.
func Index(it Item, n int, pk, sk string) {
	name := "GSI" + strconv.Itoa(n)
	it[name+"PK"], it[name+"SK"] = Text(pk), Text(sk)
}

// ErrNewerSchema says that a later release wrote an item.
type ErrNewerSchema struct {
	Item    string // its keys
	Version int
}

func (e ErrNewerSchema) Error() string {
	return fmt.Sprintf("item %s has schema_version %d, this release reads up to %d", e.Item, e.Version, schemaVersion)
}
