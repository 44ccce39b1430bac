// Package result keeps what tools returned: small values in the row, larger ones in S3.
package result

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/task"
)

const (
	// MaxInline is how much of a value stays in a row, in bytes: 60 steps with
	// arguments and results must fit one Query's megabyte.
	MaxInline = 4 << 10
	// MaxBytes is how large a value may be at all.
	MaxBytes = 8 << 20
)

// ErrTooLarge is a value over MaxBytes; keeping it again will not help.
var ErrTooLarge = fmt.Errorf("over the limit of %d bytes", MaxBytes)

// Shelf is the bucket.
type Shelf struct {
	S3     *s3.Client
	Bucket string
}

// Keep returns v as a Blob. A value over MaxInline is put under the task's own
// prefix, named by its hash: keeping it twice is the same object. It returns
// ErrTooLarge for one that can't be kept; beside any error, the Blob has a preview.
func (s Shelf) Keep(ctx context.Context, ref task.Ref, v json.RawMessage) (task.Blob, error) {
	b := task.Blob{Bytes: len(v)}
	if len(v) <= MaxInline {
		b.JSON = task.JSON(v)
		return b, nil
	}
	b.Preview = preview(v)
	if len(v) > MaxBytes {
		return b, fmt.Errorf("keep a value of %d bytes: %w", len(v), ErrTooLarge)
	}
	key := fmt.Sprintf("%s/%s/%s.json", ref.Tenant, ref.Task, task.HashOf(string(v)))
	_, err := s.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.Bucket, Key: &key, Body: bytes.NewReader(v), ContentType: aws.String("application/json"),
	})
	if err != nil {
		return b, fmt.Errorf("keep a value: %w", err)
	}
	b.S3Key = key
	return b, nil
}

// Open returns the whole value of a Blob of this task.
func (s Shelf) Open(ctx context.Context, ref task.Ref, b task.Blob) (json.RawMessage, error) {
	if b.S3Key == "" {
		if b.JSON == "" {
			return nil, fmt.Errorf("open a value: only its preview was kept")
		}
		return json.RawMessage(b.JSON), nil
	}
	if !strings.HasPrefix(b.S3Key, ref.Tenant+"/"+ref.Task+"/") {
		return nil, fmt.Errorf("open a value: %w", task.ErrNotFound)
	}
	out, err := s.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: &b.S3Key})
	if err != nil {
		return nil, fmt.Errorf("open a value: %w", err)
	}
	defer out.Body.Close()
	v, err := io.ReadAll(io.LimitReader(out.Body, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("open a value: %w", err)
	}
	return v, nil
}
