// Command begin-contest lists the contests that the workspace's files describe, and begins the one that a person
// selects.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/model/contestfiles"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Results
	boot.Spending
	Model         string `env:"MODEL,optional" doc:"the model, in place of that of a workspace's settings"`
	ModelSecretID string `env:"MODEL_SECRET_ID" doc:"the secret with the keys of models"`
	Workspace     string `env:"MIXSEEK_WORKSPACE,optional" doc:"where the files of contests are: s3://bucket/prefix, in the local stack a folder"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenAll(cfg, env.Table)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	return &Handler{
		Contests:  store.ContestsOf(rows, large.Open(cfg, env.Results)),
		Budgets:   rows,
		Workspace: contestfiles.For(cfg, env.Workspace, rows),
		Models: teamconfig.Models{Instead: env.Model,
			Keys: &secret.Models{Reader: secretsmanager.NewFromConfig(cfg), ID: env.ModelSecretID}},
		Now: time.Now,
	}, nil
}
