package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// WaitingItem is a gate at which an aggregate waits for a person.
type WaitingItem struct {
	Ref aggregate.Ref
	aggregate.Question
	Row aggregate.Asking `json:"-"` // that asks, as the index has it
}

// Waiting lists a tenant's gates that wait for a decision, the oldest first. The index may be slightly stale. It
// returns aggregate.ErrField for a limit outside 1 to MaxPage, or a cursor of another list.
func (s *Store) Waiting(ctx context.Context, tenant, cursor string, limit int) (table.Page[WaitingItem], error) {
	return s.waiting(ctx, "pending", true, tenant, cursor, limit)
}

// NewestWaiting is Waiting with the newest first. Its cursors are its own.
func (s *Store) NewestWaiting(
	ctx context.Context, tenant, cursor string, limit int,
) (table.Page[WaitingItem], error) {
	return s.waiting(ctx, "newest", false, tenant, cursor, limit)
}

func (s *Store) waiting(
	ctx context.Context, name string, oldest bool, tenant, cursor string, limit int,
) (table.Page[WaitingItem], error) {
	l := table.List{Name: name, Tenant: tenant, Prefixes: s.prefixes(), Index: "GSI1",
		Partitions: []string{aggregate.PendingOf(tenant)}, OldestFirst: oldest}
	return table.ReadPage(ctx, s.t, l, cursor, limit, s.readWaiting)
}

// prefixes returns those of the partition keys of all kinds.
func (s *Store) prefixes() (out []string) {
	for _, k := range s.kinds {
		out = append(out, k.Prefix)
	}
	return out
}

func (s *Store) readWaiting(it table.Item) (*WaitingItem, error) {
	ref, ok := s.kinds.Ref(table.TextOf(it, "PK"))
	if !ok {
		return nil, nil // the kind is of a later release
	}
	kind, _ := s.kinds.Of(ref.Kind)
	r, err := s.unpackRow(kind, it)
	if err != nil || r == nil {
		return nil, err
	}
	asking, ok := r.(aggregate.Asking)
	if !ok {
		return nil, fmt.Errorf("item %s cannot wait for a person", r.Key())
	}
	return &WaitingItem{Ref: ref, Question: asking.Asks(), Row: asking}, nil
}
