package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// owned reads all of a tenant's items of one kind, by key.
func owned[T any](ctx context.Context, s *Store, tenant, prefix string) ([]T, error) {
	pk, err := tenantPartition(tenant)
	if err != nil {
		return nil, err
	}
	return under[T](ctx, s, pk, prefix)
}

// under reads all items of a partition whose sort keys begin with prefix.
func under[T any](ctx context.Context, s *Store, pk, prefix string) ([]T, error) {
	e := newExpression()
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression:   all(e.is("PK", "=", pk), "begins_with("+e.name("SK")+", "+e.value(prefix)+")"),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	out := []T{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", prefix, pk, err)
		}
		for _, it := range page.Items {
			if expired(it, s.now()) {
				continue
			}
			var x T
			if err := unpack(it, &x); err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}
