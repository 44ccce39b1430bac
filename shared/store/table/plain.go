package table

import (
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
		return map[string]any{"$SS": sorted(v.Value)}
	case *types.AttributeValueMemberNS:
		return map[string]any{"$NS": sorted(v.Value)}
	case *types.AttributeValueMemberBS:
		return map[string]any{"$BS": v.Value}
	}
	return nil
}

// sorted sorts a set's members, whose order is undefined.
func sorted(set []string) []string {
	return slices.Sorted(slices.Values(set))
}
