// Command hold-contest lists the contests that the workspace's files describe, begins the one that a person selects, and
// ends contests: it stops the teams that still play, and summarizes their results.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
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
	Model         string `env:"MODEL,optional" doc:"the model, in place of that of a workspace's settings"`
	ModelSecretID string `env:"MODEL_SECRET_ID" doc:"the secret with the keys of models"`
	Workspace     string `env:"MIXSEEK_WORKSPACE,optional" doc:"where the files of contests are: s3://bucket/prefix, in the local stack a folder"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows := store.OpenAll(cfg, env.Table)
	return &Handler{
		Contests:  store.ContestsOf(rows, large.Open(cfg, env.Results)),
		Budgets:   rows,
		Workspace: teamconfig.For(cfg, env.Workspace),
		Models: teamconfig.Models{Instead: env.Model,
			Keys: &secret.Models{Reader: secretsmanager.NewFromConfig(cfg), ID: env.ModelSecretID}},
		Now: time.Now,
	}, nil
}

type Contests interface {
	KeepConfig(ctx context.Context, tenant, execution string, config json.RawMessage) (aggregate.Blob, error)
	Begin(ctx context.Context, o contest.Order) error
	Load(ctx context.Context, ref aggregate.Ref) (*contest.Aggregate, error)
	Settle(ctx context.Context, ref aggregate.Ref, run int) (*contest.Aggregate, error)
}

// Handler reads the files of contests. No other function that the console calls may read them.
type Handler struct {
	Contests  Contests
	Budgets   Budgets
	Workspace func() (teamconfig.Workspace, error)
	Models    teamconfig.Models
	Now       func() time.Time
}

// Handle closes the contest whose run CloseContest names, or answers the console, which names none.
func (h *Handler) Handle(ctx context.Context, in json.RawMessage) (any, error) {
	var run pipeline.Input
	if err := json.Unmarshal(in, &run); err != nil {
		return nil, fmt.Errorf("read which contest is closed: %w", err)
	}
	if run.Kind != "" {
		return pipeline.Edge(h.Close)(ctx, run)
	}
	var q store.ContestQuery
	if err := json.Unmarshal(in, &q); err != nil {
		return nil, fmt.Errorf("read what the console asks: %w", err)
	}
	return h.Answer(ctx, q)
}
