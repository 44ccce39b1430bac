// Command receive-event keeps what people ask of Ringi in Slack: one write, then the answer.
package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/secret"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/store"
)

func main() {
	h, err := newHandler(context.Background())
	if err != nil {
		slog.Error("start", "err", err)
		os.Exit(1)
	}
	slog.SetDefault(lambdacontext.NewLogger())
	lambda.Start(h.Handle)
}

func newHandler(ctx context.Context) (*Handler, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	slack, err := secret.Slack(ctx, secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))
	if err != nil {
		return nil, err
	}
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Edge:  inbound.Edge{Secret: slack.SigningSecret, Now: time.Now},
		Now:   time.Now,
	}, nil
}
