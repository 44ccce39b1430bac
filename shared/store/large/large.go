// Package large keeps what tools returned, small values in the row and larger ones in S3, and what models were sent.
package large

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/config"
)

const (
	// MaxInline is how much of a value stays in a row, in bytes: 60 steps with
	// arguments and results must fit one Query's megabyte.
	MaxInline = 4 << 10
	// MaxBytes is how large a value may be at all.
	MaxBytes = 8 << 20
)

// ErrTooLarge is a value over MaxBytes; trying again does not help.
var ErrTooLarge = fmt.Errorf("over the limit of %d bytes", MaxBytes)

// Prefixes of the bucket's keys. Results, and the prompts that may repeat what people wrote of them, are deleted after
// retain_results_days; arguments are never deleted, like the audit log that says who approved them.
const (
	results   = "results/"
	prompts   = "prompts/"
	arguments = "arguments/"
	exports   = "exports/"  // of the audit log; the bucket deletes them
	contests  = "contests/" // what rounds and their teams were made of; kept like the rows that name them
	turns     = "turns/"    // models' answers of rounds that go on; the bucket deletes them a day after the rows that name them

	// Of chat sessions (shared/store/versions): versions expire like results, the rest the bucket deletes.
	workspaces = "workspaces/"
	versions   = workspaces + "versions/"
)

// ErrExpired is a value that was deleted when its tenant's retain_results_days were over.
var ErrExpired = errors.New("the result has expired")

// Store keeps values in an S3 bucket.
type Store struct {
	S3     *s3.Client
	Bucket string
}

// Open is a function's store, by its environment. Path style: a bucket's name need not resolve as a host.
func Open(cfg aws.Config, env config.Results) Store {
	return Store{S3: s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }), Bucket: env.ResultsBucket}
}

// Keep returns a result as a Blob. A value over MaxInline is put under the task's own
// prefix, named by its hash: keeping it twice is the same object. It returns
// ErrTooLarge for one that can't be kept; beside any error, the Blob has a preview.
func (s Store) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	return s.keep(ctx, results+under(ref), v, func() string { return preview(v) })
}

// KeepArguments is Keep for the arguments of a call, which never expire; members are what their text says.
func (s Store) KeepArguments(ctx context.Context, ref aggregate.Ref, v json.RawMessage, members map[string]any) (aggregate.Blob, error) {
	return s.keep(ctx, arguments+under(ref), v, func() string { return previewArguments(members) })
}

// KeepContest is Keep for what a contest came to, which is kept as long as its rows: inline is how much of it stays in
// a row, in bytes.
func (s Store) KeepContest(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	return s.put(ctx, contests+under(ref), v, aggregate.Blob{Preview: preview(v)})
}

// KeepTurn is KeepContest for a model's answer that a contest's round goes on from: the bucket deletes it after eight
// days.
func (s Store) KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	return s.put(ctx, turns+under(ref), v, aggregate.Blob{Preview: preview(v)})
}

// Prompts keeps what models are sent about a task: always in the bucket, never in the row, named by its hash.
func (s Store) Prompts(ref aggregate.Ref) func(ctx context.Context, body []byte) (aggregate.Blob, error) {
	return func(ctx context.Context, body []byte) (aggregate.Blob, error) {
		return s.put(ctx, prompts+under(ref), body, aggregate.Blob{})
	}
}

// under is a task's own prefix below one of the three.
func under(ref aggregate.Ref) string { return ref.Tenant + "/" + ref.ID + "/" }

func (s Store) keep(ctx context.Context, prefix string, v json.RawMessage, preview func() string) (aggregate.Blob, error) {
	if len(v) <= MaxInline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	return s.put(ctx, prefix, v, aggregate.Blob{Preview: preview()})
}

// put stores a value in the bucket, and says in b where it is. Beside an error b does not.
func (s Store) put(ctx context.Context, prefix string, v []byte, b aggregate.Blob) (aggregate.Blob, error) {
	b.Bytes = len(v)
	if len(v) > MaxBytes {
		return b, fmt.Errorf("keep a value of %d bytes: %w", len(v), ErrTooLarge)
	}
	key := prefix + aggregate.HashOf(string(v)) + ".json"
	_, err := s.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &s.Bucket, Key: &key, Body: bytes.NewReader(v), ContentType: aws.String("application/json"),
	})
	if err != nil {
		return b, fmt.Errorf("keep a value: %w", err)
	}
	b.S3Key = key
	return b, nil
}

// Open returns the whole value of a Blob of this task, or ErrExpired.
func (s Store) Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if b.S3Key == "" {
		if b.JSON == "" {
			return nil, fmt.Errorf("open a value: only its preview was kept")
		}
		return json.RawMessage(b.JSON), nil
	}
	own := b.S3Key // as an older key is, without any prefix
	for _, prefix := range []string{results, prompts, arguments, contests, turns} {
		own = strings.TrimPrefix(own, prefix)
	}
	if !strings.HasPrefix(own, under(ref)) {
		return nil, fmt.Errorf("open a value: %w", aggregate.ErrNotFound)
	}
	out, err := s.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.Bucket, Key: &b.S3Key})
	var gone *types.NoSuchKey
	if errors.As(err, &gone) && !strings.HasPrefix(b.S3Key, arguments) {
		return nil, fmt.Errorf("open a value: %w: %w", ErrExpired, err)
	}
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
