// Command receive-event saves people's requests in Slack: one write, then the answer.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/runtime/remember"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/conversations"
	"ringi/shared/store/slackstate"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Slack
}

// rows saves tasks, and who has the Home tab open.
type rows struct {
	*tasks.Store
	slackstate.Notes
}

func rowsOf(s *tasks.Store) rows { return rows{s, slackstate.Of(s.Table())} }

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	rows := tasks.Open(cfg, env.Table)
	return &Handler{
		Store:         rowsOf(rows),
		Tasks:         rows,
		Conversations: conversations.Open(cfg, env.Table),
		Edge:          inbound.Edge{Keys: keys, Now: time.Now},
		Now:           time.Now,
		known:         remember.Answers[string, tenancy.Settings]{Most: mostKnown},
	}, nil
}
