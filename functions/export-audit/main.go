// Command export-audit writes the audit entries that an administrator requested to a file.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/exports"
	"ringi/shared/store/tasks"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct {
	config.Table
	config.Results
}

type rows struct {
	*tasks.Store
	exports.Exports
}

func rowsOf(s *tasks.Store) rows { return rows{s, exports.Of(s.Table())} }

func newHandler(_ context.Context, cfg aws.Config, env environment) (*Handler, error) {
	pathStyle := func(o *s3.Options) { o.UsePathStyle = true }
	return &Handler{Rows: rowsOf(tasks.Open(cfg, env.Table)), S3: s3.NewFromConfig(cfg, pathStyle),
		Bucket: env.ResultsBucket, Now: time.Now, MaxRows: maxRows}, nil
}
