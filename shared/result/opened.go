package result

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"ringi/shared/task"
)

// Opened returns a task as its cards are to draw it: with the whole arguments of the
// steps that wait for a person, or did. It is for drawing only; what it returns must not be
// written. Of arguments that are gone the preview stays.
func (s Shelf) Opened(ctx context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	var out *task.Aggregate
	for i, g := range a.Gates {
		if g.Arguments.JSON != "" || g.Arguments.S3Key == "" {
			continue
		}
		v, err := s.Open(ctx, a.Ref(), g.Arguments)
		var gone *types.NoSuchKey
		if errors.As(err, &gone) || errors.Is(err, task.ErrNotFound) {
			slog.WarnContext(ctx, "arguments are gone", "task_id", a.Head.TaskID, "gate", g.Key())
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("arguments of %s: %w", g.Key(), err)
		}
		if out == nil {
			copied := *a
			copied.Gates = append([]*task.Gate(nil), a.Gates...)
			out = &copied
		}
		opened := *g
		opened.Arguments.JSON = task.JSON(v)
		out.Gates[i] = &opened
	}
	if out == nil {
		return a, nil
	}
	return out, nil
}
