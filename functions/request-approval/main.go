// Command request-approval parks a run of the pipeline until a gate is decided.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{
		Store: store.OpenTasks(cfg, env.Table),
		Runs:  sfn.NewFromConfig(cfg),
		Now:   time.Now,
	}, nil
}
