package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// CallStore reads and writes calls that agents outside of Ringi ask for.
type CallStore struct{ KindStore[*call.Aggregate] }

// CallsOf returns the store of the calls in s.
func CallsOf(s *Store) CallStore { return CallStore{KindStore[*call.Aggregate]{Store: s}} }

// Joined returns the call with this id if the key asked for it before, else aggregate.ErrNotFound.
func (s CallStore) Joined(ctx context.Context, key tenancy.Key, id string) (*call.Aggregate, error) {
	if !call.ValidID(id) {
		return nil, fmt.Errorf("call %.40q: %w", id, aggregate.ErrNotFound)
	}
	a, err := s.Load(ctx, call.RefOf(key.TenantID, id))
	if err == nil && (a.Call == nil || a.Call.KeyID != key.ID) {
		return nil, fmt.Errorf("call %s: %w", id, aggregate.ErrNotFound)
	}
	return a, err
}

// Ask commits the first rows of a call, or finds those of the same call that was asked for before; see call.ID. It
// returns aggregate.ErrFull for a key's limits and aggregate.ErrSettings if something it depends on has changed.
func (s CallStore) Ask(ctx context.Context, ref aggregate.Ref, key tenancy.Key, c aggregate.Change) (a *call.Aggregate,
	joined bool, err error) {
	err = s.Create(ctx, ref, c)
	if joined = errors.Is(err, ErrExists); err != nil && !joined {
		return nil, false, err
	}
	a, err = s.Joined(ctx, key, ref.ID)
	return a, joined, err
}

// Count counts a call of the key that leaves no row. It returns aggregate.ErrFull once the key's day is used up.
func (s CallStore) Count(ctx context.Context, key tenancy.Key, now time.Time) error {
	counts := []aggregate.Count{call.OfDay(key, now)}
	moves, err := s.countMoves(key.TenantID, counts)
	if err != nil {
		return err
	}
	return full(s.t.TransactPast(ctx, s.newID(), moves), counts, 0)
}

// Earlier returns the newest call of a tool that the key asked for, nil if there is none. It reads an index, which may
// be slightly stale.
func (s CallStore) Earlier(ctx context.Context, key tenancy.Key, tool string) (*call.Call, error) {
	l := callsList("earlier", key.TenantID, "GSI3", call.Of(key.TenantID, key.ID, tool))
	page, err := table.Rows(ctx, s.Table(), l, "", 1, func(call.Call) bool { return true })
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return &page.Items[0], nil
}

// Listed lists those of a tenant's calls that keep accepts, the newest first. A page reads at most so many. It returns
// aggregate.ErrField as table.Rows does.
func (s CallStore) Listed(ctx context.Context, tenant, cursor string, limit, most int, keep func(call.Call) bool) (
	Page[call.Call], error) {
	l := callsList("calls", tenant, "GSI2", call.All(tenant))
	l.Most, l.Sparse = most, true
	return table.Rows(ctx, s.Table(), l, cursor, limit, keep)
}

func callsList(name, tenant, index, partition string) table.List {
	return table.List{Name: name, Tenant: tenant, Prefixes: []string{call.Kind.Prefix}, Index: index,
		Partitions: []string{partition}}
}
