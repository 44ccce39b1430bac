package storetest

import (
	"context"

	"ringi/shared/task"
)

// Shelf stands in for the bucket in tests that only draw: large arguments by their key.
type Shelf map[string]task.JSON

// Opened is result.Shelf's.
func (s Shelf) Opened(_ context.Context, a *task.Aggregate) (*task.Aggregate, error) {
	out := *a
	out.Gates = nil
	for _, g := range a.Gates {
		opened := *g
		if g.Arguments.S3Key != "" {
			opened.Arguments.JSON = s[g.Arguments.S3Key]
		}
		out.Gates = append(out.Gates, &opened)
	}
	return &out, nil
}
