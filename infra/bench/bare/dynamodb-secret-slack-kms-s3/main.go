// Command dynamodb-secret-slack-kms-s3 is a bare handler with: DynamoDB, the Slack secret, Slack, KMS, S3.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/infra/bench/bare/handler"
	"ringi/infra/bench/bare/slack"
)

func main() {
	handler.Start(func(ctx context.Context, cfg aws.Config) (any, error) {
		client, err := slack.Client(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return []any{dynamodb.NewFromConfig(cfg), kms.NewFromConfig(cfg), s3.NewFromConfig(cfg), client}, nil
	})
}
