package mapping

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// change is one stream record in the shape that a function gets.
type change struct {
	sequence string
	at       time.Time
	pk, item string // the item's partition key, and its whole key
	text     json.RawMessage
}

// newChange renders a record as Lambda does.
func newChange(r types.Record, region, stream string) (change, error) {
	d := r.Dynamodb
	if d == nil {
		return change{}, fmt.Errorf("stream record %s has no content", aws.ToString(r.EventID))
	}
	at := aws.ToTime(d.ApproximateCreationDateTime)
	body := map[string]any{
		"ApproximateCreationDateTime": at.Unix(),
		"Keys":                        attributes(d.Keys),
		"SequenceNumber":              aws.ToString(d.SequenceNumber),
		"SizeBytes":                   aws.ToInt64(d.SizeBytes),
		"StreamViewType":              string(d.StreamViewType),
	}
	if d.NewImage != nil {
		body["NewImage"] = attributes(d.NewImage)
	}
	if d.OldImage != nil {
		body["OldImage"] = attributes(d.OldImage)
	}
	text, err := json.Marshal(map[string]any{
		"eventID": aws.ToString(r.EventID), "eventName": string(r.EventName), "eventVersion": "1.1", "eventSource": "aws:dynamodb",
		"awsRegion": region, "eventSourceARN": stream, "dynamodb": body,
	})
	if err != nil {
		return change{}, fmt.Errorf("encode a stream record: %w", err)
	}
	pk, err := json.Marshal(attribute(d.Keys["PK"]))
	if err != nil {
		return change{}, fmt.Errorf("encode a partition key: %w", err)
	}
	item, err := json.Marshal(attributes(d.Keys))
	if err != nil {
		return change{}, fmt.Errorf("encode a key: %w", err)
	}
	return change{sequence: aws.ToString(d.SequenceNumber), at: at, pk: string(pk), item: string(item), text: text}, nil
}

func attributes(item map[string]types.AttributeValue) map[string]any {
	m := make(map[string]any, len(item))
	for name, v := range item {
		m[name] = attribute(v)
	}
	return m
}

// attribute is a value in DynamoDB's JSON; bytes are base64 there, as in Go's.
func attribute(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": attributes(v.Value)}
	case *types.AttributeValueMemberL:
		list := make([]any, len(v.Value))
		for i, e := range v.Value {
			list[i] = attribute(e)
		}
		return map[string]any{"L": list}
	default:
		return nil
	}
}
