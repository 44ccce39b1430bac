// Command receive-event keeps what people ask of Ringi in Slack: one write, then the answer.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/boot"
	"ringi/shared/secret"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

func newHandler(ctx context.Context, cfg aws.Config) (*Handler, error) {
	keys := secret.NewSlack(secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))
	keys.Preload(ctx)
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Edge:  inbound.Edge{Keys: keys, Now: time.Now},
		Now:   time.Now,
	}, nil
}
