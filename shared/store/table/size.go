package table

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
