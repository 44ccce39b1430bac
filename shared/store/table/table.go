// Package table reads and writes the rows of the one DynamoDB table: items, expressions, transactions and pages of
// lists. It doesn't know what the rows mean.
package table

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// Table is the one table. It is safe for concurrent use.
type Table struct {
	DB   *dynamodb.Client
	Name string
	Now  func() time.Time
}

// New returns the table of that name.
func New(db *dynamodb.Client, name string) *Table {
	return &Table{DB: db, Name: name, Now: time.Now}
}

// TenantPartition returns the key of a tenant's rows outside of aggregates: TENANT#, or QUOTA# for its counters.
func TenantPartition(prefix, tenant string) (string, error) {
	if !KeyPart(tenant) {
		return "", fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	return prefix + tenant, nil
}

// KeyPart reports whether s can be used between the # of a key. DynamoDB limits a partition key to 2,048 bytes.
func KeyPart(s string) bool { return s != "" && len(s) <= 128 && !strings.Contains(s, "#") }

// Get reads one item consistently, or returns aggregate.ErrNotFound.
func (t *Table) Get(ctx context.Context, pk, sk string, into any) error {
	out, err := t.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.Name, Key: Key(pk, sk), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	if out.Item == nil || Expired(out.Item, t.Now()) {
		return aggregate.ErrNotFound
	}
	return Unpack(out.Item, into)
}

// Queried returns all items of a query, converted by read.
func Queried[T any](ctx context.Context, t *Table, in *dynamodb.QueryInput, read func(Item) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		pages := dynamodb.NewQueryPaginator(t.DB, in)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				var none T
				yield(none, fmt.Errorf("query the table: %w", err))
				return
			}
			for _, it := range page.Items {
				v, err := read(it)
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

// Put returns the action that writes an item over the one with that revision.
func (t *Table) Put(it Item, revision int) types.TransactWriteItem {
	e := NewExpression()
	return types.TransactWriteItem{Put: Filled(e, &types.Put{
		TableName: &t.Name, Item: it, ConditionExpression: All(e.revision(revision)),
	})}
}

// Move returns the action that updates an item if the conditions hold.
func (t *Table) Move(k Item, e *Expression, conditions ...string) types.TransactWriteItem {
	u := &types.Update{TableName: &t.Name, Key: k, UpdateExpression: e.Update()}
	if conditions != nil {
		u.ConditionExpression = All(conditions...)
	}
	return types.TransactWriteItem{Update: Filled(e, u)}
}

// Check returns the action that requires an item's revision.
func (t *Table) Check(k Item, revision int) types.TransactWriteItem {
	e := NewExpression()
	return types.TransactWriteItem{ConditionCheck: Filled(e, &types.ConditionCheck{
		TableName: &t.Name, Key: k, ConditionExpression: All(e.revision(revision)),
	})}
}

// Drop returns the action that deletes the item with that revision.
func (t *Table) Drop(k Item, revision int) types.TransactWriteItem {
	e := NewExpression()
	return types.TransactWriteItem{Delete: Filled(e, &types.Delete{
		TableName: &t.Name, Key: k, ConditionExpression: All(e.Is("rev", "=", revision)),
	})}
}
