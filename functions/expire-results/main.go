// Command expire-results deletes tools' results and models' requests when their tenant's retention time is over.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/large/removal"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	all := store.OpenAll(cfg, env.Table)
	return &Handler{Results: removal.Retention{
		Bucket: removal.Open(cfg, env.Results), Rows: store.TasksOf(all), Conversations: store.ConversationsOf(all), Now: time.Now,
	}}, nil
}
