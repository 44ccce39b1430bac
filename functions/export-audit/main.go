// Command export-audit writes the audit entries that an administrator requested to a file.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
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

const (
	maxRows = auditlog.MaxRows
	// maxTries is how often Lambda calls an asynchronous function that fails, including the first call.
	maxTries = 3
	// spare is the invocation's time that is reserved for completing the file and recording the outcome.
	spare = 20 * time.Second
)

// Rows reads the audit log and records the outcome of exports.
type Rows interface {
	AuditRows(
		ctx context.Context, tenant string, f store.AuditFilter, cursor string, limit int,
	) (store.Page[auditlog.Row], error)
	TryExport(ctx context.Context, tenant, id string, now time.Time) (auditlog.Export, error)
	FinishExport(ctx context.Context, x auditlog.Export, now time.Time) error
	FailExport(ctx context.Context, x auditlog.Export, why auditlog.Problem, now time.Time) error
}

type Handler struct {
	Rows    Rows
	S3      *s3.Client
	Bucket  string
	Now     func() time.Time
	MaxRows int
}

// Input names an export. Its row says what to export, and for whom.
type Input struct {
	Tenant string `json:"tenant"`
	Export string `json:"export"`
}

var (
	errTooMany = errors.New("more entries than a file may have")
	errTooSlow = errors.New("more entries than can be read in the time")
)

// Handle writes one export. If the export is already finished it does nothing; otherwise each call writes a new file
// under another key. A permanent failure is recorded at once, any other at the last try.
func (h *Handler) Handle(ctx context.Context, in Input) (err error) {
	defer boot.Recover(ctx, &err)
	x, err := h.Rows.TryExport(ctx, in.Tenant, in.Export, h.Now())
	if errors.Is(err, aggregate.ErrSuperseded) || errors.Is(err, aggregate.ErrNotFound) {
		slog.WarnContext(ctx, "nothing to export", "export", in.Export, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	began := h.Now()
	if err = h.write(ctx, &x); err == nil {
		err = h.Rows.FinishExport(ctx, x, h.Now())
	}
	switch {
	case err == nil:
		slog.InfoContext(ctx, "exported", "export", x.ID, "rows", x.Rows, "bytes", x.Bytes,
			"ms", h.Now().Sub(began).Milliseconds())
		return nil
	case errors.Is(err, aggregate.ErrSuperseded):
		return nil
	}
	return h.failed(ctx, x, err)
}

// failed records why there is no file. It returns the error if another try may succeed.
func (h *Handler) failed(ctx context.Context, x auditlog.Export, err error) error {
	why := auditlog.Broken
	switch {
	case errors.Is(err, errTooMany):
		why = auditlog.TooMany
	case errors.Is(err, errTooSlow):
		why = auditlog.TooSlow
	case x.Try < maxTries:
		return fmt.Errorf("export %s: %w", x.ID, err)
	}
	slog.ErrorContext(ctx, "an export failed", "export", x.ID, "why", why, "err", err)
	if why == auditlog.Broken {
		boot.Count(boot.ExportFailed, 1)
	}
	if err := h.Rows.FailExport(ctx, x, why, h.Now()); err != nil && !errors.Is(err, aggregate.ErrSuperseded) {
		return err
	}
	return nil
}

// write reads pages and sends parts, so that its use of memory doesn't grow with the log.
func (h *Handler) write(ctx context.Context, x *auditlog.Export) error {
	file, err := h.begin(ctx, *x)
	if err != nil {
		return err
	}
	w, err := auditlog.NewWriter(x.Form, x.Locale, file)
	if err == nil {
		err = h.copy(ctx, x, w)
	}
	if err != nil {
		file.abort(ctx)
		return err
	}
	if x.Bytes, err = file.end(); err != nil {
		file.abort(ctx)
		return err
	}
	return nil
}

func (h *Handler) copy(ctx context.Context, x *auditlog.Export, w auditlog.Writer) error {
	filter := store.AuditFilter{From: x.Filter.From, To: x.Filter.To, Action: x.Filter.Action, Resource: x.Filter.Resource,
		Actor: x.Filter.Actor}
	if until := x.CreatedAt; filter.To.IsZero() || filter.To.After(until) {
		filter.To = until // later pages and tries end at the same time
	}
	if filter.From.After(filter.To) {
		return w.Flush()
	}
	for cursor := ""; ; {
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < spare {
			return errTooSlow
		}
		page, err := h.Rows.AuditRows(ctx, x.Tenant, filter, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			if x.Rows++; x.Rows > h.MaxRows {
				return errTooMany
			}
			if err := w.Write(r); err != nil {
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			return w.Flush()
		}
	}
}

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
