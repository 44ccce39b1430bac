package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// Spent sums the daily costs of a tenant's tasks. It reads at most 31 small rows.
func (s *Store) Spent(ctx context.Context, tenant string, now time.Time) (tenancy.Sums, error) {
	pk, err := table.TenantPartition(quotas, tenant)
	if err != nil {
		return tenancy.Sums{}, err
	}
	e, today := table.NewExpression(), now.UTC().Format(time.DateOnly)
	out, err := s.t.DB.Query(ctx, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: table.All(e.Is("PK", "=", pk), e.Begins("SK", tenancy.SpentPrefix+today[:len("2006-01-")])),
	}))
	if err != nil {
		return tenancy.Sums{}, fmt.Errorf("read what %s has spent: %w", tenant, err)
	}
	var sums tenancy.Sums
	for _, it := range out.Items {
		n := aggregate.MicroUSD(table.IntOf(it, "n"))
		if sums.Month += n; table.TextOf(it, "SK") == tenancy.SpentPrefix+today {
			sums.Day = n
		}
	}
	return sums, nil
}

// putCounted puts absent rows together with their counters in one transaction. A row that exists was counted before.
func (s *Store) putCounted(ctx context.Context, ref aggregate.Ref, rows []aggregate.Row, counts []aggregate.Count) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	var items []types.TransactWriteItem
	for _, r := range rows {
		it, err := table.Pack(r.Type(), pk, r.Key(), r)
		if err != nil {
			return err
		}
		items = append(items, s.t.Put(it, 0))
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
