// Command sweep-tasks looks, each minute, at every task that is due, and does what other functions have left undone.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/boot"
	"ringi/shared/config"
	"ringi/shared/effect"
	"ringi/shared/kinds"
	"ringi/shared/result"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

// environment is what template.yaml sets for this function.
type environment struct {
	config.Table
	config.Effects
	config.Results
}

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	s := store.New(dynamodb.NewFromConfig(cfg), env.TableName, kinds.All()...)
	return &Handler{
		Store:   s,
		Effects: effect.New(cfg, s, kinds.Machines(env.Effects), env.CardQueueURL),
		// Tasks alone keep values outside of the table: the bucket's keys name a task, and no kind. Path style: a bucket's name
		// need not resolve as a host.
		Results: result.Retention{
			Results: result.Store{S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), Bucket: env.ResultsBucket},
			Rows:    &tasks.Store{Of: store.Of[*task.Aggregate]{Store: s}}, Now: time.Now,
		},
		Now: time.Now,
	}, nil
}
