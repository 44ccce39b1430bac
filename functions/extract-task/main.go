// Command extract-task is the first layer: it turns a message into a task.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/pipeline"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/bots"
	"ringi/shared/store"
	"ringi/shared/store/large"
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
	boot.Slack
	boot.Credentials
	ReadFileFunction string `env:"READ_FILE_FUNCTION" doc:"the function that reads the text of attachments"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenTasks(cfg, env.Table)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	large := large.Open(cfg, env.Results)
	return &Handler{
		Store:   rows,
		Open:    provider.New(cfg, env.Models).Open,
		Model:   env.Model,
		Prompts: large.Prompts,
		Text:    large.Texts(cfg, env.ReadFileFunction), Texts: large, Files: large, Rest: time.Second,
		Slack: bots.Open(cfg, secret.OpenSlack(cfg, env.Slack), env.Credentials, rows, filesWithin),
		Now:   time.Now,
	}, nil
}
