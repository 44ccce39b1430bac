//go:build models

package main

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/openai/openai-go/v3/responses"
)

func init() { clients = append(clients, vendors) }

// vendors makes what a function that calls models makes at its start, the client of the secret with their keys, and
// links one call of each vendor, whose clients are made at the first call.
func vendors(_ context.Context, cfg aws.Config) (any, error) {
	return []any{
		secretsmanager.NewFromConfig(cfg),
		func(ctx context.Context) error {
			m := anthropic.NewMessageService()
			_, err := m.New(ctx, anthropic.MessageNewParams{})
			return err
		},
		func(ctx context.Context) error {
			r := responses.NewResponseService()
			_, err := r.New(ctx, responses.ResponseNewParams{})
			return err
		},
		func(ctx context.Context) error {
			_, err := bedrockruntime.NewFromConfig(cfg).Converse(ctx, &bedrockruntime.ConverseInput{})
			return err
		},
	}, nil
}
