// Command sweep-tasks looks, each minute, at every task that is due, and does what
// ought to have been done.
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
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/effect"
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
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	return &Handler{
		Store: s,
		Effects: effect.Runner{
			Store: s, Runs: sfn.NewFromConfig(cfg), Queue: sqs.NewFromConfig(cfg), Now: time.Now,
			StateMachine: os.Getenv("STATE_MACHINE_ARN"), QueueURL: os.Getenv("CARD_QUEUE_URL"),
		},
		Now: time.Now,
	}, nil
}
