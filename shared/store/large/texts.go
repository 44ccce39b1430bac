package large

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
)

// textWithin is how long the address of a file that is read is good, and how long its text is waited for: two tries.
const textWithin = 45 * time.Second

// Texts returns a function that has a file's text read by the function read-file, which gets the address of that one
// object. A file on which the function ends twice, since it takes too long or too much memory, would end it again; once
// may be chance.
func (s Store) Texts(cfg aws.Config, name string,
) func(context.Context, aggregate.Ref, []byte) (isolated.FileText, error) {
	reader := outbound.FunctionAt(cfg, name)
	return func(ctx context.Context, ref aggregate.Ref, file []byte) (text isolated.FileText, err error) {
		ctx, cancel := context.WithTimeout(ctx, textWithin)
		defer cancel()
		address, err := s.Lend(ctx, ref, file, textWithin)
		if err != nil {
			return text, err
		}
		order := isolated.FileOrder{Address: address, SHA256: aggregate.HashOf(string(file))}
		err = reader.Call(ctx, order, &text)
		if errors.Is(err, outbound.ErrEnded) {
			slog.WarnContext(ctx, "the reading of a file ended", "sha256", order.SHA256, "why", err)
			err = reader.Call(ctx, order, &text)
		}
		switch {
		case errors.Is(err, outbound.ErrEnded):
			return isolated.FileText{Why: isolated.TooComplex}, nil
		case err != nil:
			return text, fmt.Errorf("read a file: %w", err)
		case (text.Form == "") == (text.Why == ""):
			return text, errors.New("read a file: the answer says neither its text nor why there is none")
		}
		return text, nil
	}
}

// Opened returns a copy of a task for drawing the card of one gate, given by its key or id. The arguments of that
// gate's step, which may be megabytes, are complete. The copy must not be saved. Arguments that were deleted are not in
// it.
func (s Store) Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error) {
	for i, g := range a.Gates {
		if gate != g.Key() && gate != g.ID || g.Arguments.JSON != "" || g.Arguments.S3Key == "" {
			continue
		}
		v, err := s.Open(ctx, a.Ref(), g.Arguments)
		if MissingObject(err) || errors.Is(err, aggregate.ErrNotFound) {
			slog.WarnContext(ctx, "arguments are gone", "task_id", a.Head.TaskID, "gate", g.Key())
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", g.Key(), err)
		}
		out, opened := *a, *g
		opened.Arguments.JSON = aggregate.JSON(v)
		out.Gates = slices.Clone(a.Gates)
		out.Gates[i] = &opened
		return &out, nil
	}
	return a, nil
}
