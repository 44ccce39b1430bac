package table

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
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

const (
	// maxNative is the largest item with native objects, in bytes: DynamoDB's limit is 400 KB, and some objects take
	// twice the size of their text.
	maxNative = 350_000
	// noCredentials is the column's value while a provider is not connected.
	noCredentials = "{}"
)

// toColumns converts an item to the data model's form: JSON text becomes objects, and defaults are filled in. Text
// stays text if the item would become too large or DynamoDB would change the object.
func toColumns(it Item, v any) Item {
	switch v := v.(type) {
	case aggregate.Objects:
		list, member, blob := v.Objects()
		return lighter(it, list, func(e Item) error { return toObject(e, member, blob) })
	case tenancy.Integration:
		if it["credentials"] == nil {
			it["credentials"] = Text(noCredentials)
		}
	}
	return it
}

// FromColumns converts an item to the domain's form.
func FromColumns(it Item, into any) (Item, error) {
	switch v := into.(type) {
	case aggregate.Objects:
		list, member, blob := v.Objects()
		return eachOf(it, list, func(e Item) error { return toText(e, member, blob) })
	case *tenancy.Integration:
		if TextOf(it, "credentials") == noCredentials {
			it = maps.Clone(it)
			delete(it, "credentials")
		}
	}
	return it, nil
}

func lighter(it Item, list string, change func(Item) error) Item {
	native, err := eachOf(it, list, change)
	if err != nil || SizeOf(native) > maxNative {
		return it
	}
	return native
}

// eachOf returns a copy of an item in which change was applied to each element of a list.
func eachOf(it Item, list string, change func(Item) error) (Item, error) {
	elements, ok := it[list].(*types.AttributeValueMemberL)
	if !ok {
		return it, nil
	}
	changed := make([]types.AttributeValue, len(elements.Value))
	for i, e := range elements.Value {
		changed[i] = e
		if x, ok := e.(*types.AttributeValueMemberM); ok {
			x := maps.Clone(x.Value)
			if err := change(x); err != nil {
				return nil, err
			}
			changed[i] = &types.AttributeValueMemberM{Value: x}
		}
	}
	it = maps.Clone(it)
	it[list] = &types.AttributeValueMemberL{Value: changed}
	return it, nil
}

// toObject replaces a JSON text, or a Blob that holds it, by a native object if that is exactly equal. A Blob that
// refers to the bucket stays. <member>_bytes distinguishes a Blob's object from a reference.
func toObject(e Item, member string, blob bool) error {
	value := aggregate.JSON(TextOf(e, member))
	var bytes types.AttributeValue
	if held, ok := e[member].(*types.AttributeValueMemberM); ok && blob {
		value, bytes = aggregate.JSON(TextOf(held.Value, "json")), held.Value["bytes"]
	}
	object, err := native(value)
	if err != nil {
		return nil
	}
	if again, err := canonical(object); !blob && (err != nil || again != value) {
		return nil
	}
	e[member] = object
	if blob {
		e[member+"_bytes"] = bytes
	}
	return nil
}

// toText reverses toObject.
func toText(e Item, member string, blob bool) error {
	object, ok := e[member].(*types.AttributeValueMemberM)
	bytes, held := e[member+"_bytes"]
	if !ok || blob && !held {
		return nil
	}
	value, err := canonical(object)
	e[member] = Text(string(value))
	if blob {
		e[member] = &types.AttributeValueMemberM{Value: Item{"json": Text(string(value)), "bytes": bytes}}
		delete(e, member+"_bytes")
	}
	return err
}

// PackAudit makes an audit entry's item. Each month of a tenant is a partition.
func PackAudit(x aggregate.AuditEntry) (Item, error) {
	if !KeyPart(x.TenantID) {
		return nil, fmt.Errorf("audit entry of tenant %.40q: %w", x.TenantID, aggregate.ErrNotFound)
	}
	at := aggregate.TimeText(x.Timestamp)
	sk := at + "#" + x.ID
	it, err := Pack("audit", AuditMonth(x.TenantID, x.Timestamp), sk, x)
	if err != nil {
		return nil, err
	}
	Index(it, 1, AuditOf(x.TenantID, "ACTION", string(x.Action)), sk)
	resource := x.AggregateID
	if resource == "" {
		resource = x.ResourceID
	}
	Index(it, 2, AuditOf(x.TenantID, "RESOURCE", resource), sk)
	return it, nil
}

func AuditMonth(tenant string, at time.Time) string {
	return "AUDIT#" + tenant + "#" + at.UTC().Format("2006-01")
}

func AuditOf(tenant, by, value string) string {
	return "AUDIT#" + tenant + "#" + by + "#" + value
}

// AuditMonths returns the partitions of a tenant's audit log from one time until before another, the oldest first.
// There is none before 2024.
func AuditMonths(tenant string, from, to time.Time) (out []string) {
	if from = from.UTC(); from.Year() < 2024 {
		from = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	for m := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); m.Before(to); m = m.AddDate(0, 1, 0) {
		out = append(out, AuditMonth(tenant, m))
	}
	return out
}
