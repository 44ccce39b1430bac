// Command resume-task begins a run of the pipeline and continues it after each wait: it reads the rows and returns the
// next state.
//
// It alone asks Slack about people on the way of a run, so whatever needs that is decided here, before L1 is paid:
// whose workspace it is, who asks, what a message beside a gate is meant to be, whether somebody may approve it, and
// whether there is a place in the quota. In this order: whoever is refused is asked nothing, and a message that may be
// no request takes no place.
//
// receive-event reads as little as it can, to answer within Slack's three seconds; what it put may turn out to be
// refused. A request of a workspace that Ringi doesn't serve gets no tenant, no card and no call.
//
// While Slack doesn't say what must be known, the request waits and goes on by itself, however long: nothing is parked
// for it, and the time counts neither as tries nor in another hour's quota.
//
// What nobody could approve is not begun. Settings may change afterwards, so the same is asked before each version, and
// the task is parked with what an administrator can do. A gate that waits already stays.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/bots"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Spending
	TenantAdmin string `env:"TENANT_ADMIN,optional" doc:"Slack user id of the first administrator of a workspace that is met for the first time, unless the Slack secret names one"`
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	rows, keys := store.OpenTasks(cfg, env.Table), secret.OpenSlack(cfg, env.Slack)
	if err := rows.CapFurther(env.FurtherDailyUSD); err != nil {
		return nil, err
	}
	return &Handler{
		Store: rows,
		Slack: bots.Open(cfg, keys, env.Credentials, rows, slackWithin),
		Now:   time.Now,
		Admin: env.TenantAdmin, Secret: keys,
		Organisation: decide.OrganisationOf(store.OrganisationsOf(rows.Store)),
	}, nil
}
