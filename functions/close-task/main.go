// Command close-task records that a run of the pipeline failed, so that
// people learn of it and can try again.
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
	return &Handler{Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")), Now: time.Now}, nil
}
