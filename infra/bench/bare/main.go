// Command bare is a Lambda function without its work: it makes clients, and echoes events. Functions are measured
// beside it, so it links the client of DynamoDB and those whose build tags it is compiled with, and no others: mcp,
// models, runs, slack.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// making makes a client, or reads what a function needs at its start.
type making func(context.Context, aws.Config) (any, error)

// clients are DynamoDB's and those of the build tags: each tag's file adds its own.
var clients = []making{with(dynamodb.NewFromConfig)}

// with makes an AWS client.
func with[C, O any](client func(aws.Config, ...func(*O)) *C) making {
	return func(_ context.Context, cfg aws.Config) (any, error) { return client(cfg), nil }
}

func main() {
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
