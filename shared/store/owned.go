package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// owned reads all of a tenant's rows of one type, by key: those in the partition of none whose sort keys begin with
// prefix.
func owned[T tenancy.Row](ctx context.Context, s *Store, tenant string, none T, prefix string) ([]T, error) {
	pk, _, _ := none.Place()
	if !table.KeyPart(tenant) {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	found := table.Queried(ctx, s.t, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), KeyConditionExpression: table.All(e.Is("PK", "=", pk), e.Begins("SK", prefix)),
	}), func(it table.Item) (table.Item, error) { return it, nil })
	out := []T{}
	for it, err := range found {
		var x T
		if err == nil && table.Expired(it, s.t.Now()) {
			continue
		}
		if err == nil {
			err = table.Unpack(it, &x)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", prefix, pk, err)
		}
		out = append(out, x)
	}
	return out, nil
}
