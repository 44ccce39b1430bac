package template

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Input makes the table as it is described.
func (t Table) Input() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &t.Name, BillingMode: types.BillingModePayPerRequest, KeySchema: t.Key.schema()}
	for _, a := range t.Attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: &a.Name, AttributeType: types.ScalarAttributeType(a.Type)})
	}
	for _, i := range t.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &i.Name, KeySchema: i.Key.schema(),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(i.Projection), NonKeyAttributes: i.NonKey},
		})
	}
	if t.Stream != "" {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(t.Stream)}
	}
	return in
}

func (k Key) schema() []types.KeySchemaElement {
	out := []types.KeySchemaElement{{AttributeName: &k.Hash, KeyType: types.KeyTypeHash}}
	if k.Range != "" {
		out = append(out, types.KeySchemaElement{AttributeName: &k.Range, KeyType: types.KeyTypeRange})
	}
	return out
}
