// Command close-task records that a run of the pipeline failed, so that
// its card says so and people can try again.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/boot"
	"ringi/shared/pipeline"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	return &Handler{Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")), Now: time.Now}, nil
}
