package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/explain/auditlog"
)

// partBytes is the size of a part. S3 allows 10,000 parts of at least 5 MiB each; the last may be smaller.
const partBytes = 8 << 20

// kinds are the content types of the files.
var kinds = map[auditlog.Form]string{
	auditlog.CSV: "text/csv; charset=utf-8", auditlog.JSONLines: "application/x-ndjson",
}

// file is an object that is uploaded in parts. Nobody sees it before it is complete.
type file struct {
	ctx         context.Context
	s3          *s3.Client
	bucket, key string
	upload      *string
	parts       []types.CompletedPart
	held        bytes.Buffer
	sent        int64
}

func (h *Handler) begin(ctx context.Context, x auditlog.Export) (*file, error) {
	key := x.File()
	out, err := h.S3.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &h.Bucket, Key: &key, ContentType: aws.String(kinds[x.Form]),
		ContentDisposition: aws.String(`attachment; filename="` + x.Name() + `"`), CacheControl: aws.String("no-store"),
	})
	if err != nil {
		return nil, fmt.Errorf("begin a file: %w", err)
	}
	return &file{ctx: ctx, s3: h.S3, bucket: h.Bucket, key: key, upload: out.UploadId}, nil
}

func (f *file) Write(b []byte) (int, error) {
	f.held.Write(b) // never fails
	for f.held.Len() >= partBytes {
		if err := f.send(partBytes); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

func (f *file) send(n int) error {
	part := f.held.Next(n)
	number := aws.Int32(int32(len(f.parts) + 1))
	out, err := f.s3.UploadPart(f.ctx, &s3.UploadPartInput{
		Bucket: &f.bucket, Key: &f.key, UploadId: f.upload, PartNumber: number, Body: bytes.NewReader(part),
	})
	if err != nil {
		return fmt.Errorf("send part %d of a file: %w", *number, err)
	}
	f.parts, f.sent = append(f.parts, types.CompletedPart{ETag: out.ETag, PartNumber: number}), f.sent+int64(len(part))
	return nil
}

// end sends the last part, completes the file and returns its length.
func (f *file) end() (int64, error) {
	if f.held.Len() > 0 || len(f.parts) == 0 {
		if err := f.send(f.held.Len()); err != nil {
			return 0, err
		}
	}
	_, err := f.s3.CompleteMultipartUpload(f.ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &f.bucket, Key: &f.key, UploadId: f.upload, MultipartUpload: &types.CompletedMultipartUpload{Parts: f.parts},
	})
	if err != nil {
		return 0, fmt.Errorf("end a file: %w", err)
	}
	return f.sent, nil
}

// abort deletes the parts. If it fails, the bucket's lifecycle rule deletes them.
func (f *file) abort(ctx context.Context) {
	_, err := f.s3.AbortMultipartUpload(ctx,
		&s3.AbortMultipartUploadInput{Bucket: &f.bucket, Key: &f.key, UploadId: f.upload})
	if err != nil {
		slog.WarnContext(ctx, "the parts of a file are left to the bucket's lifecycle", "err", err)
	}
}
