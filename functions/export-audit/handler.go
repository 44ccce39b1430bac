package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/metric"
	"ringi/shared/runtime/panics"
	"ringi/shared/store"
)

const (
	maxRows = auditlog.MaxRows
	// maxTries is how often Lambda calls an asynchronous function that fails, the first time counted.
	maxTries = 3
	// spare is how much of an invocation's time is left for the file's end and for saying how it went.
	spare = 20 * time.Second
)

// Rows are what the function reads, and where it says how it went.
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

// Input names an export. Its row says what is exported, and for whom.
type Input struct {
	Tenant string `json:"tenant"`
	Export string `json:"export"`
}

var (
	errTooMany = errors.New("more entries than a file may have")
	errTooSlow = errors.New("more entries than can be read in the time")
)

// Handle writes one export. Called again, it writes a new file under another key, and leaves a finished export alone. A
// failure that another try can't change is noted at once, any other at the last try.
func (h *Handler) Handle(ctx context.Context, in Input) (err error) {
	defer panics.Recover(ctx, &err)
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

// failed notes why there is no file, and returns the error when another try is worth it.
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
		metric.Count(metric.ExportFailed, 1)
	}
	if err := h.Rows.FailExport(ctx, x, why, h.Now()); err != nil && !errors.Is(err, aggregate.ErrSuperseded) {
		return err
	}
	return nil
}

// write reads page by page and sends part by part, so that what it holds at a time does not grow with the log.
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
		filter.To = until // later tries, and the pages of one, end where the first did
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
