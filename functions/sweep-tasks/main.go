// Command sweep-tasks looks, each minute, at every task that is due, and does what
// ought to have been done.
package main

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/boot"
	"ringi/shared/effect"
	"ringi/shared/result"
	"ringi/shared/store"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

func newHandler(_ context.Context, cfg aws.Config) (*Handler, error) {
	s := store.New(dynamodb.NewFromConfig(cfg), os.Getenv("TABLE_NAME"))
	return &Handler{
		Store:   s,
		Effects: effect.New(cfg, s, os.Getenv("STATE_MACHINE_ARN"), os.Getenv("CARD_QUEUE_URL")),
		// Path style: a bucket's name need not resolve as a host.
		Results: result.Retention{
			Results: result.Store{S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), Bucket: os.Getenv("RESULTS_BUCKET")},
			Rows:    s, Now: time.Now,
		},
		Now: time.Now,
	}, nil
}
