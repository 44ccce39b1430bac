// Command export-audit writes the audit entries that an administrator requested to a file.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/config"
	"ringi/shared/store/exports"
	"ringi/shared/store/large"
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
	bucket := large.Open(cfg, env.Results)
	return &Handler{Rows: rowsOf(tasks.Open(cfg, env.Table)), S3: bucket.S3, Bucket: bucket.Bucket, Now: time.Now,
		MaxRows: maxRows}, nil
}
