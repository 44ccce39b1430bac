// Command extract-task is the first layer: it makes a task of a message.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/boot"
	"ringi/shared/model/provider"
	"ringi/shared/pipeline"
	"ringi/shared/secret"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	return &Handler{
		Store:   store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Open:    provider.FromEnvironment(cfg).Open,
		Model:   os.Getenv("MODEL"),
		Threads: threads{secret.NewSlack(secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))},
		Now:     time.Now,
	}, nil
}
