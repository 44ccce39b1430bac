// Command expire-results deletes tools' results and models' requests when their tenant's retention time is over.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/conversations"
	"ringi/shared/store/kinds"
	"ringi/shared/store/large/removal"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	all := kinds.Open(cfg, env.Table)
	return &Handler{Results: removal.Retention{
		Bucket: removal.Open(cfg, env.Results), Rows: tasks.Of(all), Conversations: conversations.Of(all), Now: time.Now,
	}}, nil
}
