// Command draft-prompt is the second layer: it drafts a task's policy.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/model/contestfiles"
	"ringi/shared/model/provider"
	"ringi/shared/model/teamconfig"
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
	Workspace string `env:"MIXSEEK_WORKSPACE,optional" doc:"where the files of contests are: s3://bucket/prefix, in the local stack a folder"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, large := store.OpenTasks(cfg, env.Table), large.Open(cfg, env.Results)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	models := provider.New(cfg, env.Models)
	return &Handler{
		Tools:   sync.OnceValues(tool.Builtin), // not needed at start
		Store:   rows,
		Open:    models.Open,
		Model:   env.Model,
		Prompts: large.Prompts,
		Files:   large,
		Now:     time.Now,

		Contests:  store.ContestsOf(store.OpenAll(cfg, env.Table), large),
		Workspace: contestfiles.For(cfg, env.Workspace, rows),
		Models:    teamconfig.Models{Keys: models.Secret, Instead: env.Model},
	}, nil
}
