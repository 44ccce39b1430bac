package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/task"
)

// Series reads the highest number of decisions that a fiscal year has given.
func Series(ctx context.Context, s *Store, tenant string, year int) (task.Series, error) {
	of := task.Series{Year: year}
	newest, err := Decisions(ctx, s, tenant, year, "", 1)
	if len(newest) > 0 {
		of.Last = newest[0].N
	}
	return of, err
}

// RequestSeries reads the highest number of requests that a fiscal year has given.
func RequestSeries(ctx context.Context, s *Store, tenant string, year int) (task.Series, error) {
	of := task.Series{Year: year}
	newest, err := Requests(ctx, s, tenant, year, "", 1)
	if len(newest) > 0 {
		of.Last = newest[0].N
	}
	return of, err
}

// Decisions lists the numbers of a fiscal year's decisions, the highest first, from one key down, or from the highest if
// that is "". It returns at most limit, or all if limit is 0.
func Decisions(ctx context.Context, s *Store, tenant string, year int, from string, limit int) (
	[]task.Numbered, error) {
	return of[task.Numbered](ctx, s, task.NumbersList, tenant, year, from, limit)
}

// Requests lists the numbers of a fiscal year's requests, as Decisions does those of decisions.
func Requests(ctx context.Context, s *Store, tenant string, year int, from string, limit int) (
	[]task.Requested, error) {
	return of[task.Requested](ctx, s, task.RequestsList, tenant, year, from, limit)
}

func of[T any](ctx context.Context, s *Store, list, tenant string, year int, from string, limit int) ([]T, error) {
	all, err := Listed[T](ctx, s, tenant, list, task.Series{Year: year}.Of(), "", from, true, limit)
	if err != nil {
		return nil, fmt.Errorf("read the numbers of %d: %w", year, err)
	}
	return all, nil
}
