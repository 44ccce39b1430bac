package tasks

import (
	"context"
	"fmt"

	"ringi/shared/domain/task"
	"ringi/shared/store"
)

// Series reads the highest number that a fiscal year has given.
func (s *Store) Series(ctx context.Context, tenant string, year int) (task.Series, error) {
	of := task.Series{Year: year}
	newest, err := s.Numbers(ctx, tenant, year, "", 1)
	if err != nil {
		return task.Series{}, err
	}
	if len(newest) > 0 {
		of.Last = newest[0].N
	}
	return of, nil
}

// Numbers lists the numbers of a fiscal year, the highest first, from one key down, or from the highest if that is "".
// It returns at most limit, or all if limit is 0.
func (s *Store) Numbers(ctx context.Context, tenant string, year int, from string, limit int) ([]task.Numbered, error) {
	all, err := store.Listed[task.Numbered](ctx, s.Of.Store, tenant, task.NumbersList, task.Series{Year: year}.Of(),
		"", from, true, limit)
	if err != nil {
		return nil, fmt.Errorf("read the numbers of %d: %w", year, err)
	}
	return all, nil
}
