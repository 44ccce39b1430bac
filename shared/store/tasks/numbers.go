package tasks

import (
	"context"

	"ringi/shared/domain/task"
	"ringi/shared/store/numbers"
)

// Series reads the highest number of decisions that a fiscal year has given.
func (s *Store) Series(ctx context.Context, tenant string, year int) (task.Series, error) {
	return numbers.Series(ctx, s.Of.Store, tenant, year)
}

// RequestSeries reads the highest number of requests that a fiscal year has given.
func (s *Store) RequestSeries(ctx context.Context, tenant string, year int) (task.Series, error) {
	return numbers.RequestSeries(ctx, s.Of.Store, tenant, year)
}

// Numbers is numbers.Decisions.
func (s *Store) Numbers(ctx context.Context, tenant string, year int, from string, limit int) ([]task.Numbered, error) {
	return numbers.Decisions(ctx, s.Of.Store, tenant, year, from, limit)
}

// RequestNumbers is numbers.Requests.
func (s *Store) RequestNumbers(ctx context.Context, tenant string, year int, from string, limit int) (
	[]task.Requested, error) {
	return numbers.Requests(ctx, s.Of.Store, tenant, year, from, limit)
}
