// Command resume-task begins a run of the pipeline, and is where it goes on after
// each wait: it reads the rows and says what is next.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"ringi/shared/boot"
	"ringi/shared/pipeline"
	"ringi/shared/secret"
	"ringi/shared/slackapi"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return pipeline.Edge(h.Handle) })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	slack, err := slackapi.With(secret.NewSlack(secretsmanager.NewFromConfig(cfg), os.Getenv("SLACK_SECRET_ID")), slackWithin)
	if err != nil {
		return nil, err
	}
	return &Handler{
		Store: store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME")),
		Slack: slack,
		Now:   time.Now,
		Admin: os.Getenv("TENANT_ADMIN"),
	}, nil
}
