// Command run-round plays one round of one team of a contest, or the rest of one that was cut off.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/aggregate"
	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/contests"
	"ringi/shared/kinds"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/pipeline"
	"ringi/shared/result"
	"ringi/shared/round"
	"ringi/shared/sandbox/invoke"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Models
	config.Results
	SandboxFunction string `env:"SANDBOX_FUNCTION,optional" doc:"the function that runs commands; without it none are run"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	values := result.Open(cfg, env.Results)
	h := &Handler{
		Store:   contests.Of(kinds.Open(cfg, env.Table), values),
		Models:  provider.Wires{Config: provider.New(cfg, env.Models), Instead: env.Model, Demo: round.Demo{}, Limited: true},
		Prompts: func(ref aggregate.Ref) model.Keep { return values.Prompts(ref) },
		Now:     time.Now,
	}
	if env.SandboxFunction != "" {
		h.Sandbox = round.Isolated(invoke.New(cfg, env.SandboxFunction))
	}
	return h, nil
}
