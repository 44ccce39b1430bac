package table

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"
)

// erasedAtOnce is how many items are deleted in parallel.
const erasedAtOnce = 16

// Erase deletes the items of a partition, except those for which keep returns true, and returns how many it deleted. If
// keep is nil it deletes all. Items past their time are deleted, too.
func (t *Table) Erase(ctx context.Context, pk string, keep func(Item) (bool, error)) (deleted int, err error) {
	e := NewExpression()
	in := &dynamodb.QueryInput{TableName: &t.Name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: All(e.Is("PK", "=", pk))}
	if in = Filled(e, in); keep == nil {
		in.ProjectionExpression = aws.String("PK, SK")
	}
	var n atomic.Int64
	defer func() { deleted = int(n.Load()) }()
	for pages := dynamodb.NewQueryPaginator(t.DB, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return 0, fmt.Errorf("read what is to be deleted: %w", err)
		}
		all, within := errgroup.WithContext(ctx)
		all.SetLimit(erasedAtOnce)
		for _, it := range page.Items {
			if keep != nil {
				if stays, err := keep(it); err != nil || stays {
					if err != nil {
						_ = all.Wait()
						return 0, err
					}
					continue
				}
			}
			all.Go(func() error {
				_, err := t.DB.DeleteItem(within, &dynamodb.DeleteItemInput{TableName: &t.Name, Key: Key(pk, TextOf(it, "SK"))})
				if err == nil {
					n.Add(1)
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			return 0, fmt.Errorf("delete rows: %w", err)
		}
	}
	return 0, nil
}
