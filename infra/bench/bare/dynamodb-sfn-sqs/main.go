// Command dynamodb-sfn-sqs is a bare handler with: DynamoDB, Step Functions, SQS.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(func(_ context.Context, cfg aws.Config) (any, error) {
		return []any{dynamodb.NewFromConfig(cfg), sfn.NewFromConfig(cfg), sqs.NewFromConfig(cfg)}, nil
	})
}
