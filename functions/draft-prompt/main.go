// Command draft-prompt is the second layer: it drafts the policy of a task.
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/boot"
	"ringi/shared/model/provider"
	"ringi/shared/pipeline"
	"ringi/shared/store"
	"ringi/shared/tool"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	return &Handler{
		Tools: sync.OnceValues(tool.Builtin), // a start does without
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Open:  provider.FromEnvironment(cfg).Open,
		Model: os.Getenv("MODEL"),
		Now:   time.Now,
	}, nil
}
