// Command draft-prompt is the second layer: it drafts the policy of a task.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/model/provider"
	"ringi/shared/pipeline"
	"ringi/shared/result"
	"ringi/shared/tasks"
	"ringi/shared/tool"
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
		Tools:   sync.OnceValues(tool.Builtin), // a start does without
		Store:   tasks.Open(cfg, env.Table),
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Prompts: result.Open(cfg, env.Results).Prompts,
		Now:     time.Now,
	}, nil
}
