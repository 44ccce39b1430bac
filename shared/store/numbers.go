package store

import (
	"context"

	"ringi/shared/domain/task"
)

// Series reads the highest number of decisions that a fiscal year has given.
func (s *TaskStore) Series(ctx context.Context, tenant string, year int) (task.Series, error) {
	return Series(ctx, s.Of.Store, tenant, year)
}

// RequestSeries reads the highest number of requests that a fiscal year has given.
func (s *TaskStore) RequestSeries(ctx context.Context, tenant string, year int) (task.Series, error) {
	return RequestSeries(ctx, s.Of.Store, tenant, year)
}

// Numbers is numbers.Decisions.
func (s *TaskStore) Numbers(ctx context.Context, tenant string, year int, from string, limit int) ([]task.Numbered,
	error) {
	return Decisions(ctx, s.Of.Store, tenant, year, from, limit)
}

// RequestNumbers is numbers.Requests.
func (s *TaskStore) RequestNumbers(ctx context.Context, tenant string, year int, from string, limit int) (
	[]task.Requested, error) {
	return Requests(ctx, s.Of.Store, tenant, year, from, limit)
}
