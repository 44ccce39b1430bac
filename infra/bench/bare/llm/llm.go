// Package llm makes what a function that calls models needs for its vendors: the secret with their keys, and the SDKs,
// whose clients are made at the first call.
package llm

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/openai/openai-go/v3/responses"
)

// Clients makes what a function makes at its start, and links in one call of each vendor.
func Clients(_ context.Context, cfg aws.Config) (any, error) {
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
