package table

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
)

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
	case *tenancy.SettingsRow:
		return takeAgents(it, &v.Config)
	}
	return it, nil
}

// takeAgents reads the agents from a settings item separately, so that one invalid agent doesn't make all settings
// unreadable. It also accepts the names that the specification's file uses.
func takeAgents(it Item, into *tenancy.Settings) (Item, error) {
	config, ok := it["config"].(*types.AttributeValueMemberM)
	if !ok {
		return it, nil
	}
	fields := maps.Clone(config.Value)
	for other, name := range map[string]string{"aiAgents": "agents", "aiSessions": "ai_sessions"} {
		if fields[name] == nil && fields[other] != nil {
			fields[name] = fields[other]
		}
	}
	if list, ok := fields["agents"].(*types.AttributeValueMemberL); ok {
		plain, err := canonical(list)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(plain), &into.Agents); err != nil {
			return nil, fmt.Errorf("read the agents: %w", err)
		}
	}
	delete(fields, "agents")
	it = maps.Clone(it)
	it["config"] = &types.AttributeValueMemberM{Value: fields}
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
