package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// quotas begins the key of a tenant's counters: of a person's tasks, of a key's calls, of what a day's models cost.
// DynamoDB allows 1,000 write units per second for one row, and a transaction takes two for each kilobyte: 500 writes a
// second at best, and some tens before conflicting transactions must be repeated. A tenant begins tens of tasks a
// minute.
const quotas = "QUOTA#"

// countMoves returns the actions that change counters. Decrements have no condition, so that a task's end never fails
// because of a counter.
func (s *Store) countMoves(tenant string, counts []aggregate.Count) ([]types.TransactWriteItem, error) {
	pk, err := table.TenantPartition(quotas, tenant)
	if err != nil {
		return nil, err
	}
	var out []types.TransactWriteItem
	for _, c := range counts {
		e := table.NewExpression()
		e.Add("n", c.By)
		e.Row("quota", c.Keep)
		var holds []string
		if c.Most > 0 {
			is := []string{e.Is("n", "<=", c.Most-c.By)}
			if c.By <= c.Most {
				is = append(is, e.Lacks("n"))
			}
			holds = []string{table.AnyOf(is...)}
		}
		out = append(out, s.t.Move(table.Key(pk, c.Key), e, holds...))
	}
	return out, nil
}

// full returns aggregate.ErrFull if only counters, whose actions begin at first, refused the transaction; else it
// returns err. If several counters are full, it names the first that has an end time, or else the first one.
func full(err error, counts []aggregate.Count, first int) error {
	var l *table.Lost
	if !errors.As(err, &l) {
		return err
	}
	for i := range first {
		if l.Failed(i) {
			return err
		}
	}
	var none *aggregate.ErrFull
	for i, c := range counts {
		if l.Failed(first+i) && (none == nil || none.Until.IsZero() && !c.Until.IsZero()) {
			none = &aggregate.ErrFull{Count: c}
		}
	}
	if none == nil {
		return err
	}
	return *none
}

// Spent sums the daily costs of a tenant's tasks, and what is reserved. It reads at most 31 small rows.
func (s *Store) Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error) {
	pk, err := table.TenantPartition(quotas, tenant)
	if err != nil {
		return tenancy.Sums{}, err
	}
	e, today := table.NewExpression(), now.UTC().Format(time.DateOnly)
	out, err := s.t.DB.Query(ctx, s.t.Find(e, "", pk, e.Begins("SK", tenancy.SpentPrefix+today[:len("2006-01-")])))
	if err != nil {
		return tenancy.Sums{}, fmt.Errorf("read what %s has spent: %w", tenant, err)
	}
	var sums tenancy.Sums
	for _, it := range out.Items {
		n := aggregate.MicroUSD(table.IntOf(it, "n"))
		sums.Month += n
		if table.TextOf(it, "SK") == tenancy.SpentPrefix+today {
			sums.Day = n
		}
	}
	return sums, nil
}

// putCounted puts absent rows together with their counters in one transaction. A row that exists was counted before.
func (s *Store) putCounted(ctx context.Context, ref aggregate.Ref, rows []aggregate.Row,
	counts []aggregate.Count) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	items, err := absent(s, pk, rows...)
	if err != nil {
		return err
	}
	moves, err := s.countMoves(ref.Tenant, counts)
	if err != nil {
		return err
	}
	err = s.t.TransactPast(ctx, s.newID(), append(items, moves...))
	var l *table.Lost
	for i := range rows {
		if errors.As(err, &l) && l.Failed(i) {
			return nil
		}
	}
	return err
}

// onceFor is how long Once remembers; Slack repeats nothing after that time.
const onceFor = 24 * time.Hour

// once returns the key of the row for something that must happen once.
func once(tenant, what string) (pk, sk string, err error) {
	pk, err = table.TenantPartition(quotas, tenant)
	return pk, "ONCE#" + aggregate.Derive(time.Time{}, "once", what), err
}

// Came is the outcome of something that Once began: a code chosen by the caller, and a message in Slack. It is zero
// while the outcome is unknown.
type Came struct{ As, Channel, TS string }

// Once reports whether nobody in the tenant began what before, and records that it has begun. If somebody did, it
// returns the outcome. what is an external name, such as the trigger of a command.
func (s *Store) Once(ctx context.Context, tenant, what string) (first bool, came Came, err error) {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return false, came, err
	}
	e := table.NewExpression()
	e.Row("once", s.t.Now().Add(onceFor))
	e.Remove("failed")
	condition := table.AnyOf(e.Absent(), e.Is("failed", "=", true))
	it, err := s.t.Update(ctx, table.Key(pk, sk), e, &condition)
	if errors.Is(err, table.ErrCondition) {
		return false, Came{table.TextOf(it, "came_as"), table.TextOf(it, "channel"), table.TextOf(it, "ts")}, nil
	}
	if err != nil {
		return false, came, fmt.Errorf("begin once: %w", err)
	}
	return true, came, nil
}

// Came saves the outcome of something that Once began, for callers who begin it again.
func (s *Store) Came(ctx context.Context, tenant, what string, c Came) error {
	return s.noteOnce(ctx, tenant, what, func(e *table.Expression) {
		e.Set("came_as", c.As)
		e.Set("channel", c.Channel)
		e.Set("ts", c.TS)
	})
}

// Again makes Once report what as new again, after its first beginning had no effect.
func (s *Store) Again(ctx context.Context, tenant, what string) error {
	return s.noteOnce(ctx, tenant, what, func(e *table.Expression) { e.Set("failed", true) })
}

// noteOnce notes what became of something that Once began.
func (s *Store) noteOnce(ctx context.Context, tenant, what string, write func(*table.Expression)) error {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	write(e)
	_, err = s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(err, "note what became of it")
}
