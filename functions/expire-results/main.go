// Command expire-results deletes what tools returned and models were sent once its tenant's days are over.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/kinds"
	"ringi/shared/store/large"
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
	// Tasks alone keep values outside of the table: the bucket's keys name a task, and no kind.
	rows := tasks.Of(kinds.Open(cfg, env.Table))
	return &Handler{Results: large.Retention{Results: large.Open(cfg, env.Results), Rows: rows, Now: time.Now}}, nil
}
