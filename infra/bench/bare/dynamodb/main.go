// Command dynamodb is a bare handler with: DynamoDB.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(func(_ context.Context, cfg aws.Config) (any, error) {
		return []any{dynamodb.NewFromConfig(cfg)}, nil
	})
}
