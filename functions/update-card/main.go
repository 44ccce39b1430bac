// Command update-card makes a task's messages in Slack equal to its rows.
package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/aggregate"
	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/kinds"
	"ringi/shared/result"
	"ringi/shared/secret"
	"ringi/shared/slackapi"
	"ringi/shared/sleep"
	"ringi/shared/store"
	"ringi/shared/task"
)

// slackTimeout is how long one call may take.
const slackTimeout = 10 * time.Second

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Slack
	config.Results
	CardQueueURL string `env:"CARD_QUEUE_URL" doc:"the queue of cards to draw"`
	SlackPace    string `env:"SLACK_PACE" doc:"how many times Slack's published pace cards may be posted and updated, above 0"`
}

func newHandler(ctx context.Context, cfg aws.Config, env environment) (*Handler, error) {
	keys := secret.NewSlack(secretsmanager.NewFromConfig(cfg), env.Slack)
	keys.Preload(ctx)
	slack, err := slackapi.With(keys, slackTimeout)
	if err != nil {
		return nil, err
	}
	scale, err := strconv.ParseFloat(env.SlackPace, 64)
	if err != nil || !(scale > 0) {
		return nil, fmt.Errorf("SLACK_PACE must be a number above 0, not %.20q", env.SlackPace)
	}
	s := store.New(dynamodb.NewFromConfig(cfg), env.TableName, kinds.All()...)
	return &Handler{
		Store: s, Rows: s, Kinds: map[string]Kind{task.Kind.Name: taskCards{result.Store{S3: s3.NewFromConfig(cfg), Bucket: env.ResultsBucket}}}, Slack: slack, Queue: sqs.NewFromConfig(cfg), QueueURL: env.CardQueueURL,
		Pace: s, PaceScale: scale, Now: time.Now, NewID: aggregate.NewID, Wait: sleep.For,
	}, nil
}
