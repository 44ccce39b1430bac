package store

import (
	"context"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Owed lists a tenant's gates under rules whose present stage waits for a person as one of its people, those that have
// waited the longest first. Entries of the index may be late, so it walks each gate as its row is now: a page may have
// fewer than limit and still have a Next. It makes two calls for a page, and one if nothing is owed. It returns
// aggregate.ErrField for a limit outside 1 to MaxPage, or a cursor of another list.
func (s *Store) Owed(
	ctx context.Context, tenant, user, cursor string, limit int,
) (out table.Page[WaitingItem], err error) {
	if !table.KeyPart(user) {
		return out, fmt.Errorf("user %.40q: %w", user, aggregate.ErrNotFound)
	}
	l := table.List{Name: "owed", Tenant: tenant, Prefixes: s.prefixes(), Index: "GSI2",
		Partitions: []string{aggregate.OwedBy(tenant, user)}, OldestFirst: true}
	page, err := table.ReadPage(ctx, s.t, l, cursor, limit, s.readOwed)
	out = table.Page[WaitingItem]{Next: page.Next, Prev: page.Prev, Looked: page.Looked}
	if err != nil {
		return out, err
	}
	places := make([]Place, len(page.Items))
	for i, x := range page.Items {
		places[i] = x.gate
	}
	gates := map[Place]aggregate.Asking{}
	err = s.rowsAt(ctx, places, func(p Place, it table.Item) error {
		kind, _ := s.kinds.Of(p.Ref.Kind)
		r, err := s.unpackRow(kind, it)
		if asking, ok := r.(aggregate.Asking); ok {
			gates[p] = asking
		}
		return err
	})
	for _, x := range page.Items {
		row := gates[x.gate]
		if g := aggregate.RuledGate(row); g != nil && g.Owes(user) == x.stage {
			out.Items = append(out.Items, WaitingItem{Ref: x.gate.Ref, Question: row.Asks(), Row: row})
		}
	}
	return out, err
}

// owedEntry is a copy's entry in the index of what people owe.
type owedEntry struct {
	gate  Place
	stage int
}

func (s *Store) readOwed(it table.Item) (*owedEntry, error) {
	ref, ok := s.kinds.Ref(table.TextOf(it, "PK"))
	if !ok {
		return nil, nil // the kind is of a later release
	}
	c, err := table.UnpackAs[aggregate.Card](it)
	if err != nil || c.Stage == 0 {
		return nil, err
	}
	return &owedEntry{Place{ref, c.Subject}, c.Stage}, nil
}
