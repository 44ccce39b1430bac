package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Load reads every row of an aggregate by one consistent query. It returns aggregate.ErrNotFound when the tenant has no
// such aggregate, and ErrNewerSchema when a later release wrote a row in a newer form. Rows of unknown types are
// skipped: a later release wrote them. So are waits at gates that the run has left.
func (s *Store) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a, err := s.load(ctx, ref, "")
	if err != nil {
		return nil, err
	}
	if a.Root().Common().TenantID == "" {
		return nil, fmt.Errorf("load %s: %w", ref, aggregate.ErrNotFound)
	}
	a.Root().Common().See(a.Common())
	return a, nil
}

// Uses reads only an aggregate's usage rows. For an aggregate that doesn't exist it returns none.
func (s *Store) Uses(ctx context.Context, ref aggregate.Ref) ([]*aggregate.Use, error) {
	a, err := s.load(ctx, ref, (&aggregate.Use{}).Key())
	if err != nil {
		return nil, err
	}
	return a.Common().Uses, nil
}

// load reads the rows of an aggregate whose sort keys begin with prefix.
func (s *Store) load(ctx context.Context, ref aggregate.Ref, prefix string) (aggregate.Aggregate, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	kind, _ := s.kinds.Of(ref.Kind)
	e := table.NewExpression()
	which := []string{e.Is("PK", "=", pk)}
	if prefix != "" {
		which = append(which, e.Begins("SK", prefix))
	}
	pages := dynamodb.NewQueryPaginator(s.t.DB, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), KeyConditionExpression: table.All(which...),
	}))
	a := kind.New()
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("load %s: %w", ref, err)
		}
		for _, it := range page.Items {
			r, err := s.unpackRow(kind, it)
			if err != nil {
				return nil, fmt.Errorf("load %s: %w", ref, err)
			}
			if r != nil {
				a.Add(r)
			}
		}
	}
	return a, nil
}

// Head reads the head alone, consistently. It serves frequent checks during a long call. It returns
// aggregate.ErrNotFound as Load does.
func (s *Store) Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error) {
	kind, _ := s.kinds.Of(ref.Kind)
	h, _ := kind.Row("head").(aggregate.Root)
	return h, s.RowAt(ctx, Place{ref, aggregate.HeadKey}, h)
}

// Refs returns the newest aggregates that have a row in a partition of an index, at most limit.
func (s *Store) Refs(ctx context.Context, index int, partition string, limit int) ([]aggregate.Ref, error) {
	e := table.NewExpression()
	name := fmt.Sprintf("GSI%d", index)
	out, err := s.t.DB.Query(ctx, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: &name, Limit: aws.Int32(int32(limit)), ScanIndexForward: aws.Bool(false),
		KeyConditionExpression: table.All(e.Is(name+"PK", "=", partition)),
	}))
	if err != nil {
		return nil, err
	}
	var refs []aggregate.Ref
	for _, it := range out.Items {
		if ref, known := s.kinds.Ref(table.TextOf(it, "PK")); known {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}
