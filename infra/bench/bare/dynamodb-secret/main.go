// Command dynamodb-secret is a bare handler with: DynamoDB, the Slack secret.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/infra/bench/bare/handler"
)

func main() {
	handler.Start(func(ctx context.Context, cfg aws.Config) (any, error) {
		out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
			&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SLACK_SECRET_ID"))})
		if err != nil {
			return nil, err
		}
		return []any{dynamodb.NewFromConfig(cfg), out}, nil
	})
}
