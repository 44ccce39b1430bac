// Command sweep-tasks checks, each minute, every task that is due, and makes up for what other functions failed to do.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/kinds"
	"ringi/shared/store/large/removal"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Effects
	config.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := kinds.Open(cfg, env.Table)
	return &Handler{
		Store: s, Delegations: s,
		Effects: effect.New(cfg, s, kinds.All(), kinds.Machines(env.Effects), env.CardQueueURL),
		Erase:   kinds.NewEraser(s, removal.Open(cfg, env.Results)),
		Now:     time.Now,
	}, nil
}
