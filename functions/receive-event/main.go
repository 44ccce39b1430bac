// Command receive-event saves people's requests in Slack: one write, then the answer.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/secret"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store"
	"ringi/shared/store/records"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Slack
}

// rows saves tasks, and who has the Home tab open.
type rows struct {
	*store.TaskStore
	records.Notes
}

func rowsOf(s *store.TaskStore) rows { return rows{s, records.NotesOf(s.Table())} }

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.OpenSlack(cfg, env.Slack)
	keys.Preload(ctx)
	rows := store.OpenTasks(cfg, env.Table)
	return &Handler{
		Store:         rowsOf(rows),
		Tasks:         rows,
		Conversations: store.OpenConversations(cfg, env.Table),
		Edge:          inbound.Edge{Keys: keys, Now: time.Now},
		Now:           time.Now,
		known:         clock.Answers[string, tenancy.Settings]{Most: mostKnown},
	}, nil
}
