package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// onceFor is how long Once remembers; Slack repeats nothing after that time.
const onceFor = 24 * time.Hour

// once returns the key of the row for something that must happen once.
func once(tenant, what string) (pk, sk string, err error) {
	pk, err = table.TenantPartition("QUOTA#", tenant)
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
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("came_as", c.As)
	e.Set("channel", c.Channel)
	e.Set("ts", c.TS)
	_, err = s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(err, "note what became of it")
}

// Again makes Once report what as new again, after its first beginning had no effect.
func (s *Store) Again(ctx context.Context, tenant, what string) error {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Set("failed", true)
	_, err = s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(err, "let it begin again")
}
