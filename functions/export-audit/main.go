// Command export-audit writes the audit entries that an administrator requested to a file.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/runtime/boot"
	"ringi/shared/store"
	"ringi/shared/store/records"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	boot.Table
	boot.Results
}

type rows struct {
	*store.TaskStore
	records.Exports
}

func rowsOf(s *store.TaskStore) rows { return rows{s, records.ExportsOf(s.Table())} }

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	pathStyle := func(o *s3.Options) { o.UsePathStyle = true }
	return &Handler{Rows: rowsOf(store.OpenTasks(cfg, env.Table)), S3: s3.NewFromConfig(cfg, pathStyle),
		Bucket: env.ResultsBucket, Now: time.Now, MaxRows: maxRows}, nil
}
