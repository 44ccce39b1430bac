// Command receive-interaction turns people's clicks, shortcuts and forms in Slack into decisions.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store"
	"ringi/shared/store/large"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
	boot.Credentials
	boot.Results
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	all := store.OpenAll(cfg, env.Table)
	rows := store.TasksOf(all)
	results := large.Open(cfg, env.Results)
	slack := vault.OpenBot(cfg, keys, env.Credentials, rows, slackTimeout)
	return &Handler{
		Rows: all, Store: rows, Results: results,
		Contests: store.ContestsOf(all, results),
		Slack:    slack, People: &people.People{Slack: slack, Now: time.Now},
		Edge: inbound.Edge{Keys: keys, Now: time.Now}, Now: time.Now,
	}, nil
}
