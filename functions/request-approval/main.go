// Command request-approval parks a run of the pipeline until a gate is decided.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/boot"
	"ringi/shared/pipeline"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Runs:  sfn.NewFromConfig(cfg),
		Now:   time.Now,
	}, nil
}
