// Package handler is a Lambda function without its work: it makes clients, reads the Slack secret if it needs it, and
// echoes events.
package handler

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// Making makes a client, or reads what a function needs at its start.
type Making func(context.Context, aws.Config) (any, error)

// With makes an AWS client.
func With[C, O any](client func(aws.Config, ...func(*O)) *C) Making {
	return func(_ context.Context, cfg aws.Config) (any, error) { return client(cfg), nil }
}

func Secret(ctx context.Context, cfg aws.Config) (any, error) {
	return secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx,
		&secretsmanager.GetSecretValueInput{SecretId: aws.String(os.Getenv("SLACK_SECRET_ID"))})
}

// Start makes clients and waits for events. It does not return.
func Start(clients ...Making) {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var made []any
	for _, client := range clients {
		x, err := client(context.Background(), cfg)
		if err != nil {
			log.Fatal(err)
		}
		made = append(made, x)
	}
	lambda.Start(func(_ context.Context, event json.RawMessage) (json.RawMessage, error) {
		if made == nil {
			os.Exit(1) // keeps the clients alive
		}
		return event, nil
	})
}
