package large

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Opened returns a copy of a task for drawing the card of one gate, given by its key or id. The arguments of that
// gate's step, which may be megabytes, are complete; other steps have previews. The copy must not be saved. If the
// arguments were deleted, the card shows the preview.
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
