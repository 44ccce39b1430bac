package storetest

import (
	"context"
	"slices"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Results stands in for the bucket in tests that only draw: large arguments by their key.
// It counts, under Fetched, how often some were asked for.
type Results map[string]aggregate.JSON

// Fetched is the key under which Results have a digit for each time that arguments were opened.
const Fetched = "fetched"

// Opened is result.Store's.
func (s Results) Opened(_ context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error) {
	out := *a
	out.Gates = slices.Clone(a.Gates)
	for i, g := range out.Gates {
		if g.Arguments.S3Key != "" && (gate == g.ID || gate == g.Key()) {
			opened := *g
			opened.Arguments.JSON = s[g.Arguments.S3Key]
			out.Gates[i] = &opened
			s[Fetched] += "1"
		}
	}
	return &out, nil
}
