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

// owned reads all of a tenant's rows of one type, by key: those that stand with an empty one, and whose sort keys begin with prefix.
func owned[T tenancy.Row](ctx context.Context, s *Store, tenant string, none T, prefix string) ([]T, error) {
	pk, _, _ := none.Place()
	if !table.KeyPart(tenant) {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	pages := dynamodb.NewQueryPaginator(s.t.DB, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: table.All(e.Is("PK", "=", pk), "begins_with("+e.Name("SK")+", "+e.Value(prefix)+")"),
	}))
	out := []T{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", prefix, pk, err)
		}
		for _, it := range page.Items {
			if table.Expired(it, s.t.Now()) {
				continue
			}
			var x T
			if err := table.Unpack(it, &x); err != nil {
				return nil, err
			}
			out = append(out, x)
		}
	}
	return out, nil
}
