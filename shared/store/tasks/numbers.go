package tasks

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
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

// RequestSeries reads the highest number that a fiscal year has given to requests.
func (s *Store) RequestSeries(ctx context.Context, tenant string, year int) (task.Series, error) {
	of := task.Series{Year: year}
	newest, err := s.RequestNumbers(ctx, tenant, year, "", 1)
	if len(newest) > 0 {
		of.Last = newest[0].N
	}
	return of, err
}

// RequestNumbers lists the numbers of requests as Numbers does those of decisions.
func (s *Store) RequestNumbers(ctx context.Context, tenant string, year int, from string, limit int) (
	[]task.Requested, error) {
	all, err := store.Listed[task.Requested](ctx, s.Of.Store, tenant, task.RequestsList, task.Series{Year: year}.Of(),
		"", from, true, limit)
	if err != nil {
		return nil, fmt.Errorf("read the requests of %d: %w", year, err)
	}
	return all, nil
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

// Registered is a number with what the register shows of its decision.
type Registered struct {
	Number task.Numbered
	Task   Listed
	Gate   aggregate.Gate // that was settled
	Ended  *task.Ended    // nil: it goes on
}

// MostRegistered is how many numbers Registered reads at once.
const MostRegistered = 50

// Registered reads what the register shows of at most MostRegistered numbers, for display only.
func (s *Store) Registered(ctx context.Context, tenant string, numbers []task.Numbered) ([]Registered, error) {
	at := func(x *task.Numbered, key string) store.Place {
		return store.Place{Ref: task.RefOf(tenant, x.TaskID), Key: key}
	}
	heads, gates, titles := []store.Place{}, []store.Place{}, []string{}
	for i := range numbers {
		x := &numbers[i]
		heads, titles = append(heads, at(x, aggregate.HeadKey)), append(titles, x.TaskID)
		gates = append(gates, at(x, x.GateKey))
	}
	titled, err := s.Titled(ctx, tenant, titles...)
	if err != nil {
		return nil, err
	}
	ended, err := store.RowsAt[task.Head](ctx, s.Of.Store, heads)
	if err != nil {
		return nil, err
	}
	settled, err := store.RowsAt[gateRow](ctx, s.Of.Store, gates)
	if err != nil {
		return nil, err
	}
	out := make([]Registered, len(numbers))
	for i, x := range numbers {
		out[i] = Registered{Number: x, Task: titled[x.TaskID], Gate: settled[gates[i]].Gate, Ended: ended[heads[i]].Ended}
	}
	return out, nil
}

// gateRow is the part of any gate's row that the register shows.
type gateRow struct{ aggregate.Gate }
