// Command dynamodb-models is a bare handler with: DynamoDB, the models' vendors.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/llm"
)

func main() {
	handler.Start(func(_ context.Context, cfg aws.Config) (any, error) {
		return append(llm.Clients(cfg), dynamodb.NewFromConfig(cfg)), nil
	})
}
