package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// quotas begins the key of a tenant's counters. A tenant's own two rows are written
// once as a task begins and once as it ends. DynamoDB lets one row have 1,000 write units a
// second, of which a transaction takes two for each kilobyte: 500 of these a second at best,
// and some tens before transactions that meet there have to be repeated. A tenant has
// tens of tasks a minute; one with thousands would have its sum spread over several rows.
const quotas = "QUOTA#"

// quota is a counter's row.
type quota struct {
	N int `json:"n"`
}

// countMoves are the actions that move counters. An action that gives a place back has no condition, so that a task's
// end never fails because of a counter.
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

// full is aggregate.ErrFull if only counters, which begin at action first, refused the transaction; of several full
// counters, the one that has a place again last. Else it is err.
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

// Quota reads a counter, 0 when there is none.
func (s *Store) Quota(ctx context.Context, tenant, counter string) (int, error) {
	pk, err := table.TenantPartition(quotas, tenant)
	if err != nil {
		return 0, err
	}
	var x quota
	if err := s.t.Get(ctx, pk, counter, &x); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return 0, fmt.Errorf("read the counter %s of %s: %w", counter, tenant, err)
	}
	return x.N, nil
}
