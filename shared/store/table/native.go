package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

const (
	// maxDigits is the precision of DynamoDB's numbers.
	maxDigits = 38
	// maxNested is the deepest object: DynamoDB allows 32 levels, and the object is inside a list and a map.
	maxNested = 28
)

// errUnfit means JSON that DynamoDB would not return unchanged.
var errUnfit = errors.New("not an object that DynamoDB keeps as it is")

// native converts a JSON object to DynamoDB's values. It returns errUnfit for other JSON and for an object that
// DynamoDB would change: one with a duplicate member, a number that would be rounded or reformatted, or half of a
// surrogate pair.
func native(text aggregate.JSON) (*types.AttributeValueMemberM, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	v, err := nativeValue(d, 0)
	if err != nil {
		return nil, err
	}
	object, ok := v.(*types.AttributeValueMemberM)
	if _, err := d.Token(); !ok || err != io.EOF {
		return nil, errUnfit
	}
	return object, nil
}

func nativeValue(d *json.Decoder, depth int) (types.AttributeValue, error) {
	token, err := d.Token()
	if err != nil {
		return nil, errUnfit
	}
	switch t := token.(type) {
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: t}, nil
	case json.Number:
		if plainNumber(t.String()) {
			return &types.AttributeValueMemberN{Value: t.String()}, nil
		}
	case string:
		if !strings.ContainsRune(t, utf8.RuneError) {
			return Text(t), nil
		}
	case json.Delim:
		switch {
		case depth == maxNested:
		case t == '[':
			return nativeList(d, depth+1)
		case t == '{':
			return nativeMap(d, depth+1)
		}
	}
	return nil, errUnfit
}

func nativeList(d *json.Decoder, depth int) (types.AttributeValue, error) {
	list := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for d.More() {
		v, err := nativeValue(d, depth)
		if err != nil {
			return nil, err
		}
		list.Value = append(list.Value, v)
	}
	if _, err := d.Token(); err != nil {
		return nil, errUnfit
	}
	return list, nil
}

func nativeMap(d *json.Decoder, depth int) (types.AttributeValue, error) {
	object := &types.AttributeValueMemberM{Value: Item{}}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		_, twice := object.Value[name]
		if err != nil || !ok || twice || name == "" || strings.ContainsRune(name, utf8.RuneError) {
			return nil, errUnfit
		}
		v, err := nativeValue(d, depth)
		if err != nil {
			return nil, err
		}
		object.Value[name] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, errUnfit
	}
	return object, nil
}

// plainNumber reports whether a number is in DynamoDB's format: no exponent, no superfluous zeros, and within its
// precision.
func plainNumber(s string) bool {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	digits := whole + fraction
	return s != "-0" && len(digits) <= maxDigits && strings.Trim(digits, "0123456789") == "" &&
		!strings.HasSuffix(fraction, "0")
}

// canonical returns a native value as JSON without insignificant space, members sorted.
func canonical(v types.AttributeValue) (aggregate.JSON, error) {
	text, err := aggregate.Written(Plain(v))
	if err != nil {
		return "", fmt.Errorf("write JSON: %w", err)
	}
	return aggregate.JSON(text), nil
}

// Plain converts a value to what decoding its JSON returns, with numbers as json.Number. A value that JSON can't
// express, which no row has, becomes the name of its type.
func Plain(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberM:
		out := map[string]any{}
		for name, x := range v.Value {
			out[name] = Plain(x)
		}
		return out
	case *types.AttributeValueMemberL:
		out := make([]any, len(v.Value))
		for i, x := range v.Value {
			out[i] = Plain(x)
		}
		return out
	case *types.AttributeValueMemberB:
		return map[string]any{"$B": v.Value}
	case *types.AttributeValueMemberSS:
		return map[string]any{"$SS": slices.Sorted(slices.Values(v.Value))} // whose order is undefined
	case *types.AttributeValueMemberNS:
		return map[string]any{"$NS": slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberBS:
		return map[string]any{"$BS": v.Value}
	}
	return nil
}

// SizeOf returns an item's size as DynamoDB counts it: names and texts in UTF-8, numbers at about half their digits,
// three bytes plus one per entry for a list or map.
func SizeOf(it Item) int {
	n := 0
	for name, v := range it {
		n += len(name) + valueSize(v)
	}
	return n
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return (len(v.Value)+1)/2 + 1
	case *types.AttributeValueMemberM:
		return 3 + len(v.Value) + SizeOf(v.Value)
	case *types.AttributeValueMemberL:
		n := 3
		for _, x := range v.Value {
			n += 1 + valueSize(x)
		}
		return n
	}
	return 1
}
