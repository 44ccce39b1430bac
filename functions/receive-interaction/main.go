// Command receive-interaction makes people's clicks, shortcuts and forms in Slack into decisions.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/boot"
	"ringi/shared/people"
	"ringi/shared/result"
	"ringi/shared/secret"
	"ringi/shared/slackapi"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/store"
)

// slackTimeout leaves time for an answer within the 3 s that Slack waits.
const slackTimeout = 2 * time.Second

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
	return &Handler{
		Store:   store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Slack:   slack,
		People:  &people.People{Slack: slack, Now: time.Now},
		Results: result.Store{S3: s3.NewFromConfig(cfg), Bucket: os.Getenv("RESULTS_BUCKET")},
		Edge:    inbound.Edge{Keys: keys, Now: time.Now},
		Now:     time.Now,
	}, nil
}
