// Command dynamodb-sfn is a bare handler with: DynamoDB, Step Functions.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(func(_ context.Context, cfg aws.Config) (any, error) {
		return []any{dynamodb.NewFromConfig(cfg), sfn.NewFromConfig(cfg)}, nil
	})
}
