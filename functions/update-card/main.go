// Command update-card makes a task's messages in Slack equal to its rows.
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
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/secret"
	"ringi/shared/slackapi"
	"ringi/shared/store"
	"ringi/shared/task"
)

// slackTimeout is how long one call may take.
const slackTimeout = 10 * time.Second

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
	keys, err := secret.Slack(ctx, secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))
	if err != nil {
		return nil, err
	}
	slack, err := slackapi.New(keys.BotToken, os.Getenv("SLACK_API_URL"), slackTimeout)
	if err != nil {
		return nil, err
	}
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	return &Handler{
		Tasks: s, Rows: s, Slack: slack, Queue: sqs.NewFromConfig(cfg), QueueURL: os.Getenv("CARD_QUEUE_URL"),
		Now: time.Now, NewID: task.NewID, Wait: sleep,
	}, nil
}

// sleep waits for d, or returns why ctx ended first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
