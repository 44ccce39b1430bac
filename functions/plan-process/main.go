// Command plan-process is the third layer: it plans the steps of an approved policy.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

func main() {
	boot.BoundMemory()
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Models
	boot.Results
	boot.Spending
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenTasks(cfg, env.Table)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	large := large.Open(cfg, env.Results)
	return &Handler{
		Tools:   sync.OnceValues(tool.Builtin), // read at the first plan, not at start
		Store:   rows,
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Prompts: large.Prompts,
		Files:   large,
		Now:     time.Now,
	}, nil
}
