// Command resume-task begins a run of the pipeline, and is where it goes on after
// each wait: it reads the rows and says what is next.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
		Now:   time.Now,
		Admin: os.Getenv("TENANT_ADMIN"),
	}, nil
}
