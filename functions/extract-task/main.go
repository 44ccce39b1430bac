// Command extract-task is the first layer: it makes a task of a message.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/boot"
	"ringi/shared/model"
	"ringi/shared/pipeline"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Open:  func(name string) (model.Generator, error) { return model.Open(name, slog.Default()) },
		Model: os.Getenv("MODEL"),
		Now:   time.Now,
	}, nil
}
