// Command relay-changes turns changes of the table into effects: it starts and wakes runs, and requests cards.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/decide/effect"
	"ringi/shared/runtime/boot"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Effects
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := store.OpenAll(cfg, env.Table)
	return &Handler{
		Store: s, Kinds: store.Kinds(),
		Effects: effect.New(cfg, s, store.Kinds(), store.Machines(env.Effects), env.CardQueueURL),
	}, nil
}
