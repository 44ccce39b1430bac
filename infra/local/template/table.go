package template

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type Table struct {
	ID, Name   string
	Attributes []types.AttributeDefinition // attributes of all keys
	Key        []types.KeySchemaElement
	Indexes    []types.GlobalSecondaryIndex
	Stream     types.StreamViewType // "" for no stream
	Expiry     string               // TTL attribute, or ""
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

// partition returns the partition key of a table or index.
func partition(key []types.KeySchemaElement) string {
	for _, e := range key {
		if e.KeyType == types.KeyTypeHash {
			return aws.ToString(e.AttributeName)
		}
	}
	return ""
}

// Input returns the CreateTable call for a table with this name, without its stream.
func (t Table) Input(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: types.BillingModePayPerRequest, KeySchema: t.Key, AttributeDefinitions: t.Attributes,
		GlobalSecondaryIndexes: t.Indexes,
	}
}
