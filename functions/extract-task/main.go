// Command extract-task is the first layer: it makes a task of a message.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/model"
	"ringi/shared/pipeline"
	"ringi/shared/store"
)

func main() {
	h, err := newHandler(context.Background())
	if err != nil {
		slog.Error("start", "err", err)
		os.Exit(1)
	}
	pipeline.Start(h.Handle)
}

func newHandler(ctx context.Context) (*Handler, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Open:  func(name string) (model.Generator, error) { return model.Open(name, slog.Default()) },
		Model: os.Getenv("MODEL"),
		Now:   time.Now,
	}, nil
}
