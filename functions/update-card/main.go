// Command update-card makes a task's messages in Slack equal to its rows.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/aggregate"
	"ringi/shared/boot"
	"ringi/shared/result"
	"ringi/shared/secret"
	"ringi/shared/slackapi"
	"ringi/shared/sleep"
	"ringi/shared/store"
)

// slackTimeout is how long one call may take.
const slackTimeout = 10 * time.Second

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

func newHandler(ctx context.Context, cfg aws.Config) (*Handler, error) {
	keys := secret.NewSlack(secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID"))
	keys.Preload(ctx)
	slack, err := slackapi.With(keys, slackTimeout)
	if err != nil {
		return nil, err
	}
	scale, err := strconv.ParseFloat(os.Getenv("SLACK_PACE"), 64)
	if err != nil || !(scale > 0) {
		return nil, fmt.Errorf("SLACK_PACE must be a number above 0, not %.20q", os.Getenv("SLACK_PACE"))
	}
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	return &Handler{
		Tasks: s, Rows: s, Shelf: result.Store{S3: s3.NewFromConfig(cfg), Bucket: os.Getenv("RESULTS_BUCKET")}, Slack: slack, Queue: sqs.NewFromConfig(cfg), QueueURL: os.Getenv("CARD_QUEUE_URL"),
		Pace: s, PaceScale: scale, Now: time.Now, NewID: aggregate.NewID, Wait: sleep.For,
	}, nil
}
