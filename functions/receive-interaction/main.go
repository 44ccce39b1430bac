// Command receive-interaction turns people's clicks, shortcuts and forms in Slack into decisions.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/bots"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/contests"
	"ringi/shared/store/conversations"
	"ringi/shared/store/kinds"
	"ringi/shared/store/large"
	"ringi/shared/store/organisations"
	"ringi/shared/store/slackstate"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Slack
	config.Credentials
	config.Results
}

// stored has a tenant's rows that are not subject to decisions.
type stored struct {
	*tasks.Store
	slackstate.Notes
}

func storedIn(s *tasks.Store) stored { return stored{s, slackstate.Of(s.Table())} }

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	all := kinds.Open(cfg, env.Table)
	rows := tasks.Of(all)
	results := large.Open(cfg, env.Results)
	slack := bots.Open(cfg, keys, env.Credentials, rows, slackTimeout)
	return &Handler{
		Rows: all, Store: storedIn(rows), Results: results, Conversations: conversations.Of(all), Contests: contests.Of(all, results),
		Slack: slack, People: &people.People{Slack: slack, Now: time.Now},
		Edge: inbound.Edge{Keys: keys, Now: time.Now}, Now: time.Now, Organised: organisations.Of(all).Member,
	}, nil
}
