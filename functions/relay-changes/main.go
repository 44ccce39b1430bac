// Command relay-changes turns changes of the table into effects: it starts and wakes runs, and requests cards.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/kinds"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Effects
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := kinds.Open(cfg, env.Table)
	return &Handler{
		Store: s, Kinds: kinds.All(),
		Effects: effect.New(cfg, s, kinds.All(), kinds.Machines(env.Effects), env.CardQueueURL),
	}, nil
}
