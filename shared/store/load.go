package store

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Load reads every row of a task by one consistent query. It returns
// task.ErrNotFound when this tenant has no such task, ErrNewerSchema when a
// later release wrote one of its rows.
func (s *Store) Load(ctx context.Context, ref aggregate.Ref) (*task.Aggregate, error) {
	pk, err := partition(ref)
	if err != nil {
		return nil, err
	}
	e := newExpression()
	pages := dynamodb.NewQueryPaginator(s.db, &dynamodb.QueryInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: all(e.is("PK", "=", pk)), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	})
	a := &task.Aggregate{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("load task %s: %w", ref.Task, err)
		}
		for _, it := range page.Items {
			if expired(it, s.now()) {
				continue
			}
			if err := unpackRow(a, it); err != nil {
				return nil, fmt.Errorf("load task %s: %w", ref.Task, err)
			}
		}
	}
	if a.Head.TaskID == "" {
		return nil, fmt.Errorf("load task %s: %w", ref.Task, aggregate.ErrNotFound)
	}
	return a, nil
}

// Head reads the head alone, consistently: what has to be asked often while a call is out.
// It returns task.ErrNotFound as Load does.
func (s *Store) Head(ctx context.Context, ref aggregate.Ref) (task.Head, error) {
	pk, err := partition(ref)
	if err != nil {
		return task.Head{}, err
	}
	var h task.Head
	if err := s.get(ctx, pk, aggregate.HeadKey, &h); err != nil {
		return task.Head{}, fmt.Errorf("read head of %s: %w", ref.Task, err)
	}
	return h, nil
}

// get reads one item consistently, or returns task.ErrNotFound.
func (s *Store) get(ctx context.Context, pk, sk string, into any) error {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, Key: key(pk, sk), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	if out.Item == nil || expired(out.Item, s.now()) {
		return aggregate.ErrNotFound
	}
	return unpack(out.Item, into)
}
