// Command relay-changes turns what moved in the table into effects: runs are
// started and woken, cards are redrawn.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/boot"
	"ringi/shared/effect"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	return &Handler{
		Store:   s,
		Effects: effect.New(cfg, s, os.Getenv("STATE_MACHINE_ARN"), os.Getenv("CARD_QUEUE_URL")),
	}, nil
}
