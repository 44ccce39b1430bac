package template

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a DynamoDB table.
type Table struct {
	ID, Name   string
	Attributes []types.AttributeDefinition // that are part of some key
	Key        []types.KeySchemaElement
	Indexes    []types.GlobalSecondaryIndex
	Stream     types.StreamViewType // "" without a stream
	Expiry     string               // TTL attribute, "" without
}

func readTable(id, name string, properties map[string]any) (Table, error) {
	var p struct {
		AttributeDefinitions    []types.AttributeDefinition
		KeySchema               []types.KeySchemaElement
		GlobalSecondaryIndexes  []types.GlobalSecondaryIndex
		StreamSpecification     types.StreamSpecification
		TimeToLiveSpecification types.TimeToLiveSpecification
	}
	err := decode(properties, &p)
	t := Table{ID: id, Name: name, Attributes: p.AttributeDefinitions, Key: p.KeySchema,
		Indexes: p.GlobalSecondaryIndexes, Stream: p.StreamSpecification.StreamViewType}
	if aws.ToBool(p.TimeToLiveSpecification.Enabled) {
		t.Expiry = aws.ToString(p.TimeToLiveSpecification.AttributeName)
	}
	if err == nil && partition(t.Key) == "" {
		err = errors.New("KeySchema has no HASH key")
	}
	return t, err
}

// partition is the attribute that a table or an index is partitioned by.
func partition(key []types.KeySchemaElement) string {
	for _, e := range key {
		if e.KeyType == types.KeyTypeHash {
			return aws.ToString(e.AttributeName)
		}
	}
	return ""
}

// Input makes a table of that name as it is described, but for its stream.
func (t Table) Input(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: t.Key, AttributeDefinitions: t.Attributes,
		GlobalSecondaryIndexes: t.Indexes,
	}
}
