//go:build secret

package main

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// read reads the secret once, for itself or for Slack's client.
var read making = secret

func init() {
	clients = append(clients, func(ctx context.Context, cfg aws.Config) (any, error) { return read(ctx, cfg) })
}

func secret(ctx context.Context, cfg aws.Config) (any, error) {
	return secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SLACK_SECRET_ID"))})
}
