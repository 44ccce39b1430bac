package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// CallStore reads and writes calls that outside agents ask for.
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

// NewestOf returns the newest call that a key asked for on a day, nil if there is none. It reads an index, which may be
// slightly stale.
func (s CallStore) NewestOf(ctx context.Context, key tenancy.Key, day time.Time) (*call.Aggregate, error) {
	l := callsList("newest", key.TenantID, "GSI3", call.Of(key.TenantID, key.ID, day))
	page, err := table.Rows(ctx, s.Table(), l, "", 1, func(call.Call) bool { return true })
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	a, err := s.Load(ctx, call.RefOf(key.TenantID, page.Items[0].CallID))
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil, nil
	}
	return a, err
}

// Ask commits the first rows of a call, or finds those of the same call that was asked for before; see call.ID. Of one
// that is asked for once more, it notes the newest at the first. It returns aggregate.ErrFull for a key's limits and
// aggregate.ErrSettings if something it depends on has changed.
func (s CallStore) Ask(ctx context.Context, x *call.Proposal, c aggregate.Change) (*call.Aggregate, error) {
	ref, first := x.Ref(), x.First()
	err := s.Create(ctx, ref, c)
	if err != nil && !errors.Is(err, ErrExists) {
		return nil, err
	}
	if err == nil && first != ref {
		s.follow(ctx, first, ref.ID)
	}
	return s.Joined(ctx, x.Key, ref.ID)
}

// follow notes the newest call at the first one. Without it whoever looks for the newest begins at an older one.
func (s CallStore) follow(ctx context.Context, first aggregate.Ref, newest string) {
	e := table.NewExpression()
	e.Set("newest", newest)
	there := e.Is("type", "=", (&call.Call{}).Type())
	pk, err := s.partition(first)
	if err == nil {
		_, err = s.Table().Update(ctx, table.Key(pk, call.Key), e, &there)
	}
	if err != nil {
		slog.WarnContext(ctx, "the newest call isn't noted at the first", first.Log(), "err", err)
	}
}

// Count counts what leaves no row. It returns aggregate.ErrFull once there is too much of it.
func (s CallStore) Count(ctx context.Context, tenant string, c aggregate.Count) error {
	counts := []aggregate.Count{c}
	moves, err := s.countMoves(tenant, counts)
	if err != nil {
		return err
	}
	return full(s.t.TransactPast(ctx, s.newID(), moves), counts, 0)
}

// Listed lists those of a tenant's calls that keep accepts, the newest first. A page reads at most so many. It returns
// aggregate.Problem as table.Rows does.
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
