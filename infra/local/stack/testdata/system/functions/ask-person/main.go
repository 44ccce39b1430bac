// Command ask-person stores a run's task token in a row.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func main() { lambda.Start(handle) }

func handle(ctx context.Context, in struct{ Tenant, Task, Token string }) error {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	item, err := attributevalue.MarshalMap(map[string]any{"PK": "TASK#" + in.Tenant + "#" + in.Task, "SK": "WAIT", "type": "wait", "token": in.Token})
	if err == nil {
		_, err = dynamodb.NewFromConfig(cfg).PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(os.Getenv("TABLE_NAME")), Item: item})
	}
	return err
}
