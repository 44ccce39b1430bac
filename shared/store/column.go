package store

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/aggregate"
)

const (
	// maxNative is how large an item with native objects may become, in bytes: DynamoDB
	// takes 400 KB, and there are objects that weigh twice their text.
	maxNative = 350_000
	// noCredentials is what the column holds while a provider is not connected.
	noCredentials = "{}"
)

// toColumns is an item with the data model's forms where the domain has others:
// objects for JSON that is text, and defaults. An item that would be too large with
// objects, or one of them if DynamoDB would change it, keeps the text.
func toColumns(kind string, it item) item {
	switch kind {
	case "process":
		return lighter(it, "steps", inputToObject)
	case "execution":
		return lighter(it, "results", resultToObject)
	case "integration":
		if it["credentials"] == nil {
			it["credentials"] = text(noCredentials)
		}
	}
	return it
}

// fromColumns is an item with the domain's forms; that of an older release has them already.
func fromColumns(it item) (item, error) {
	switch textOf(it, "type") {
	case "process":
		return eachOf(it, "steps", inputToText)
	case "execution":
		it = maps.Clone(it)
		if it["error_code"] == nil && it["error"] != nil {
			it["error_code"] = it["error"]
		}
		return eachOf(it, "results", resultToText)
	case "integration":
		if textOf(it, "credentials") == noCredentials {
			it = maps.Clone(it)
			delete(it, "credentials")
		}
	}
	return it, nil
}

func lighter(it item, list string, change func(item) error) item {
	native, err := eachOf(it, list, change)
	if err != nil || sizeOf(native) > maxNative {
		return it
	}
	return native
}

// eachOf is a copy of an item in which the elements of a list are changed.
func eachOf(it item, list string, change func(item) error) (item, error) {
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

// inputToObject makes an object of a step's arguments if it says exactly the text that was stamped.
func inputToObject(step item) error {
	input := aggregate.JSON(textOf(step, "toolInput"))
	object, err := native(input)
	if err != nil {
		return nil
	}
	if again, err := canonical(object); err == nil && again == input {
		step["toolInput"] = object
	}
	return nil
}

func inputToText(step item) error {
	object, ok := step["toolInput"].(*types.AttributeValueMemberM)
	if !ok {
		return nil
	}
	input, err := canonical(object)
	step["toolInput"] = text(string(input))
	return err
}

// resultToObject puts the result itself in the place of a Blob that holds it; what is
// elsewhere stays a reference. result_bytes beside it tells the two apart.
func resultToObject(entry item) error {
	blob, ok := entry["result"].(*types.AttributeValueMemberM)
	if !ok {
		return nil
	}
	if object, err := native(aggregate.JSON(textOf(blob.Value, "json"))); err == nil {
		entry["result"], entry["result_bytes"] = object, blob.Value["bytes"]
	}
	return nil
}

func resultToText(entry item) error {
	bytes, ok := entry["result_bytes"]
	if !ok {
		return nil
	}
	value, err := canonical(entry["result"])
	entry["result"] = &types.AttributeValueMemberM{Value: item{"json": text(string(value)), "bytes": bytes}}
	delete(entry, "result_bytes")
	return err
}
