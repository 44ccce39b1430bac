package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/aggregate"
)

// onceFor is how long it is remembered that something was begun: Slack repeats nothing after so long.
const onceFor = 24 * time.Hour

// once is the key of what is to be done once.
func once(tenant, what string) (pk, sk string, err error) {
	pk, err = tenantPartition(quotas, tenant)
	return pk, "ONCE#" + aggregate.Derive(time.Time{}, "once", what), err
}

// Once reports whether nobody began this in the tenant before, and remembers that it was begun. What is its name from
// outside, such as the trigger of a command.
func (s *Store) Once(ctx context.Context, tenant, what string) (bool, error) {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return false, err
	}
	e := newExpression()
	e.row("once", s.now().Add(onceFor))
	e.remove("failed")
	condition := anyOf(e.absent(), e.is("failed", "=", true))
	_, err = s.update(ctx, key(pk, sk), e, &condition)
	if errors.Is(err, errCondition) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("begin once: %w", err)
	}
	return true, nil
}

// Again lets what was begun by Once begin again, after nothing came of it.
func (s *Store) Again(ctx context.Context, tenant, what string) error {
	pk, sk, err := once(tenant, what)
	if err != nil {
		return err
	}
	e := newExpression()
	e.set("failed", true)
	if _, err := s.update(ctx, key(pk, sk), e, all(e.exists())); err != nil {
		return fmt.Errorf("let it begin again: %w", err)
	}
	return nil
}
