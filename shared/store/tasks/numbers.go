package tasks

import (
	"context"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store"
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
func (s *Store) Registered(ctx context.Context, tenant string, all []task.Numbered) ([]Registered, error) {
	at := func(x *task.Numbered, key string) store.Place {
		return store.Place{Ref: task.RefOf(tenant, x.TaskID), Key: key}
	}
	heads, gates, titles := []store.Place{}, []store.Place{}, []string{}
	for i := range all {
		x := &all[i]
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
	out := make([]Registered, len(all))
	for i, x := range all {
		out[i] = Registered{Number: x, Task: titled[x.TaskID], Gate: settled[gates[i]].Gate, Ended: ended[heads[i]].Ended}
	}
	return out, nil
}

// gateRow is the part of any gate's row that the register shows.
type gateRow struct{ aggregate.Gate }
