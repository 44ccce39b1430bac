package lambda

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// change is one stream record, encoded as the function gets it.
type change struct {
	sequence string
	at       time.Time
	pk, item string // the item's partition key, and its complete key
	text     json.RawMessage
}

func newChange(r types.Record, region, stream string) (change, error) {
	d := r.Dynamodb
	if d == nil {
		return change{}, fmt.Errorf("stream record %s has no content", aws.ToString(r.EventID))
	}
	at := aws.ToTime(d.ApproximateCreationDateTime)
	body := map[string]any{
		"ApproximateCreationDateTime": at.Unix(),
		"SequenceNumber":              aws.ToString(d.SequenceNumber),
		"SizeBytes":                   aws.ToInt64(d.SizeBytes),
		"StreamViewType":              string(d.StreamViewType),
	}
	for name, item := range map[string]map[string]types.AttributeValue{"Keys": d.Keys, "NewImage": d.NewImage, "OldImage": d.OldImage} {
		if item == nil {
			continue
		}
		fields, err := row(item)
		if err != nil {
			return change{}, fmt.Errorf("encode %s of a stream record: %w", name, err)
		}
		body[name] = fields
	}
	text, err := json.Marshal(map[string]any{
		"eventID": aws.ToString(r.EventID), "eventName": string(r.EventName), "eventVersion": "1.1", "eventSource": "aws:dynamodb",
		"awsRegion": region, "eventSourceARN": stream, "dynamodb": body,
	})
	if err != nil {
		return change{}, fmt.Errorf("encode a stream record: %w", err)
	}
	keys, _ := body["Keys"].(map[string]json.RawMessage)
	item, err := json.Marshal(keys)
	if err != nil {
		return change{}, fmt.Errorf("encode a key: %w", err)
	}
	return change{sequence: aws.ToString(d.SequenceNumber), at: at, pk: string(keys["PK"]), item: string(item), text: text}, nil
}

// row converts an item to DynamoDB's JSON, by attribute name.
func row(item map[string]types.AttributeValue) (fields map[string]json.RawMessage, err error) {
	converted, err := attributevalue.FromDynamoDBStreamsMap(item)
	if err != nil {
		return nil, err
	}
	text, err := attributevalue.MarshalMapJSON(converted)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	return fields, err
}
