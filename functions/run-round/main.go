// Command run-round plays one round of one team of a contest, or the rest of one that was cut off.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/contests"
	"ringi/shared/kinds"
	"ringi/shared/model/provider"
	"ringi/shared/pipeline"
	"ringi/shared/result"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Models
	config.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	return &Handler{
		Store:  contests.Of(kinds.Open(cfg, env.Table), result.Open(cfg, env.Results)),
		Models: models{provider.New(cfg, env.Models), env.Model},
		Now:    time.Now,
	}, nil
}
