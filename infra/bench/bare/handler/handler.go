// Package handler is what is left of a function without its work: it makes AWS
// clients, reads the Slack secret if it needs it, and echoes events.
package handler

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Start makes clients and waits for events. It does not return.
func Start(clients func(context.Context, aws.Config) (any, error)) {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	made, err := clients(context.Background(), cfg)
	if err != nil {
		log.Fatal(err)
	}
	lambda.Start(func(_ context.Context, event json.RawMessage) (json.RawMessage, error) {
		if made == nil {
			os.Exit(1) // it keeps the clients alive
		}
		return event, nil
	})
}
