package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Counted is what one row adds to sums of its subject, such as a team's statistics. A later revision of the row
// replaces what an earlier one added.
type Counted struct {
	Tenant string         `json:"tenant_id"`
	Of     string         `json:"of"`  // what the sums are of
	Row    string         `json:"row"` // id of the aggregate, and the row's key
	Rev    int            `json:"rev"` // of the row
	Adds   map[string]int `json:"adds"`
}

// One partition holds the sums of a subject and, for each row, what it added to them.
const (
	countedPrefix = "COUNTED#"
	countedSums   = "SUM"
	countedRow    = "ROW#"
)

// CountedOf returns what a row of an aggregate adds. ok is false for a row that adds nothing.
func (s *Counter) CountedOf(it table.Item) (c Counted, ok bool, err error) {
	ref, known := s.kinds.Ref(table.TextOf(it, "PK"))
	if !known {
		return c, false, nil
	}
	kind, _ := s.kinds.Of(ref.Kind)
	row, counts := kind.Row(table.TextOf(it, "type")).(aggregate.Counted)
	if !counts {
		return c, false, nil
	}
	if err := table.Unpack(it, row); err != nil {
		return c, false, err
	}
	of, adds := row.Counts()
	c = Counted{Tenant: ref.Tenant, Of: of, Row: ref.ID + "#" + table.TextOf(it, "SK"), Rev: table.IntOf(it, "rev"), Adds: adds}
	if !table.KeyPart(c.Tenant) || !table.KeyPart(c.Of) || c.Rev < 1 {
		return c, false, fmt.Errorf("count %.80q: %w", c.Row, aggregate.ErrNotFound)
	}
	return c, true, nil
}

// Count adds a row to its sums once, however often it is called, and replaces what an older revision of the row added.
// A revision older than the counted one changes nothing.
func (s *Counter) Count(ctx context.Context, c Counted) error {
	stop, wait := time.Now().Add(table.RetryFor), table.NewBackoff(20*time.Millisecond, 400*time.Millisecond)
	for {
		err := s.count(ctx, c)
		if !errors.Is(err, aggregate.ErrConflict) || !wait.Until(ctx, stop) {
			return err
		}
	}
}

func (s *Counter) count(ctx context.Context, c Counted) error {
	pk, sk := countedPrefix+c.Tenant+"#"+c.Of, countedRow+c.Row
	var was Counted
	if err := s.t.Get(ctx, pk, sk, &was); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return fmt.Errorf("read what is counted of %s: %w", c.Row, err)
	}
	if was.Rev >= c.Rev {
		return nil
	}
	it, err := table.Pack("counted", pk, sk, c)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	for _, name := range slices.Sorted(maps.Keys(c.Adds)) {
		e.Add(name, c.Adds[name]-was.Adds[name])
	}
	e.Row("counted_sum", time.Time{})
	sum := s.t.Move(table.Key(pk, countedSums), e)
	if err := s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{s.t.Put(it, was.Rev), sum}); err != nil {
		return fmt.Errorf("count %s: %w", c.Row, err)
	}
	return nil
}

// CountedSums returns a subject's sums by name, 0 for those that nothing was added to.
func (s *Counter) CountedSums(ctx context.Context, tenant, of string, names ...string) (map[string]int, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(of) {
		return nil, fmt.Errorf("sums of %.40q: %w", of, aggregate.ErrNotFound)
	}
	found := map[string]any{}
	if err := s.t.Get(ctx, countedPrefix+tenant+"#"+of, countedSums, &found); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return nil, fmt.Errorf("read the sums of %.40q: %w", of, err)
	}
	out := map[string]int{}
	for _, name := range names {
		n, _ := found[name].(float64)
		out[name] = int(n)
	}
	return out, nil
}
