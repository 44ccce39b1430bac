// Command resume-task begins a run of the pipeline and continues it after each wait: it reads the rows and returns the
// next state.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/lookup"
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/bots"
	"ringi/shared/store/organisations"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	config.Table
	config.Slack
	config.Credentials
	config.Spending
	TenantAdmin string `env:"TENANT_ADMIN,optional" doc:"Slack user id of the first administrator of a workspace that is met for the first time, unless the Slack secret names one"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, keys := tasks.Open(cfg, env.Table), secret.OpenSlack(cfg, env.Slack)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	return &Handler{
		Store: rows,
		Slack: bots.Open(cfg, keys, env.Credentials, rows, slackWithin),
		Now:   time.Now,
		Admin: env.TenantAdmin, Secret: keys,
		Organisation: lookup.OrganisationOf(organisations.Of(rows.Store)),
	}, nil
}
