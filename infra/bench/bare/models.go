//go:build models

package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

func init() { clients = append(clients, vendors) }

// vendors makes what a function that calls models makes at its start, the client of the secret with their keys, and
// links a call of Anthropic's, whose client is made at the first one.
func vendors(_ context.Context, cfg aws.Config) (any, error) {
	return []any{
		secretsmanager.NewFromConfig(cfg),
		func(ctx context.Context) error {
			m := anthropic.NewMessageService()
			_, err := m.New(ctx, anthropic.MessageNewParams{})
			return err
		},
	}, nil
}
