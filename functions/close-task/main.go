// Command close-task records that a run of the pipeline failed, so that the card says so and people can try again.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	config.Table
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{Store: tasks.Open(cfg, env.Table), Now: time.Now}, nil
}
