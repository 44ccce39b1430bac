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
// prefix; if that is empty, all of the partition.
func owned[T tenancy.Row](ctx context.Context, s *Store, tenant string, none T, prefix string) ([]T, error) {
	pk, _, _ := none.Place()
	if !table.KeyPart(tenant) {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	which := []string{e.Is("PK", "=", pk)}
	if prefix != "" {
		which = append(which, e.Begins("SK", prefix))
	}
	out, err := unexpired[T](ctx, s, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), KeyConditionExpression: table.All(which...),
	}))
	return out, table.Wrapped(err, "read %s of %s", prefix, pk)
}

// unexpired reads what a query finds and is not past its time.
func unexpired[T any](ctx context.Context, s *Store, in *dynamodb.QueryInput) ([]T, error) {
	out := []T{}
	for it, err := range table.Queried(ctx, s.t, in, func(it table.Item) (table.Item, error) { return it, nil }) {
		var x T
		if err == nil && table.Expired(it, s.t.Now()) {
			continue
		}
		if err == nil {
			err = table.Unpack(it, &x)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}
