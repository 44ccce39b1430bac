// Package table reads and writes the rows of the one DynamoDB table: items, expressions, transactions and pages of
// lists. It doesn't know what the rows mean.
package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
)

// RetryFor bounds the retries of one write while the table is busy. Slack waits only three seconds for some functions.
const RetryFor = 2 * time.Second

// maxActions is DynamoDB's limit on one transaction.
const maxActions = 100

// Transact writes all items or none, and retries while the table is throttled. token identifies the transaction: for
// ten minutes DynamoDB ignores a repetition with the same token.
//
// It returns a *Lost when a condition failed or another transaction was in progress on an item. After any other error
// the outcome is unknown.
func (t *Table) Transact(ctx context.Context, token string, items []types.TransactWriteItem) error {
	if len(items) > maxActions {
		return fmt.Errorf("%d actions in one change, a transaction takes at most %d", len(items), maxActions)
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: items, ClientRequestToken: &token}
	return Repeat(ctx, func() error {
		_, err := t.DB.TransactWriteItems(ctx, in, quickly)
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) &&
			slices.ContainsFunc(cancelled.CancellationReasons, coded("ConditionalCheckFailed", "TransactionConflict")) {
			return &Lost{cancelled.CancellationReasons}
		}
		return err
	}, busy)
}

// Repeat tries again for up to two seconds, with growing pauses, while again says of the error that this may help.
func Repeat(ctx context.Context, try func() error, again func(error) bool) error {
	stop := time.Now().Add(RetryFor)
	for wait := NewBackoff(20*time.Millisecond, 400*time.Millisecond); ; {
		if err := try(); err == nil || !again(err) || !wait.Until(ctx, stop) {
			return err
		}
	}
}

// TransactPast is Transact, repeated for up to two seconds while only other transactions are in the way.
func (t *Table) TransactPast(ctx context.Context, token string, items []types.TransactWriteItem) error {
	return Repeat(ctx, func() error { return t.Transact(ctx, token, items) }, func(err error) bool {
		var l *Lost
		return errors.As(err, &l) && l.OnlyInTheWay()
	})
}

// quickly shortens the client's waits between retries, which could exceed the two seconds. It does not change a client
// without retries.
func quickly(o *dynamodb.Options) {
	if o.Retryer != nil {
		o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, 200*time.Millisecond)
	}
}

// Lost is a transaction that was refused, with the reason of each action.
type Lost struct {
	reasons []types.CancellationReason
}

func (l *Lost) Error() string {
	i := slices.IndexFunc(l.reasons, coded("ConditionalCheckFailed", "TransactionConflict"))
	return fmt.Sprintf("action %d of %d: %s", i+1, len(l.reasons), aws.ToString(l.reasons[i].Code))
}

// coded reports whether an action was refused for one of these reasons.
func coded(codes ...string) func(types.CancellationReason) bool {
	return func(r types.CancellationReason) bool { return slices.Contains(codes, aws.ToString(r.Code)) }
}

func (l *Lost) Unwrap() error { return aggregate.ErrConflict }

// Failed reports whether the condition of action i failed.
func (l *Lost) Failed(i int) bool {
	return i < len(l.reasons) && coded("ConditionalCheckFailed")(l.reasons[i])
}

// OnlyInTheWay reports whether no condition failed: another transaction held a row.
func (l *Lost) OnlyInTheWay() bool {
	return !slices.ContainsFunc(l.reasons, coded("ConditionalCheckFailed"))
}

// Found returns the item on which the condition of action i failed, if the action asked for it.
func (l *Lost) Found(i int) Item {
	if i < len(l.reasons) {
		return l.reasons[i].Item
	}
	return nil
}

// busy reports whether repeating the call may help.
func busy(err error) bool {
	if cancelled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		return slices.ContainsFunc(cancelled.CancellationReasons, coded("ThrottlingError", "ProvisionedThroughputExceeded"))
	}
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{
		"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
		"TransactionInProgressException", "InternalServerError", "ServiceUnavailable",
	}, api.ErrorCode())
}

// Backoff waits longer each time, with random variation, so that conflicting callers spread out.
type backoff struct {
	next, most time.Duration
	waits      int
}

// fewestTries is how often a call is repeated even if the earlier tries took all of the time: after one slow answer the
// next is usually fast.
const fewestTries = 3

func NewBackoff(first, most time.Duration) *backoff { return &backoff{next: first, most: most} }

// Until waits. It returns false if ctx ends, or if the wait would exceed stop after the first fewestTries.
func (b *backoff) Until(ctx context.Context, stop time.Time) bool {
	d := b.next/2 + rand.N(b.next)
	b.next = min(2*b.next, b.most)
	if b.waits++; b.waits > fewestTries && time.Until(stop) < d {
		return false
	}
	return clock.LastsFor(ctx, d)
}

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
	out, err := t.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &t.Name, Key: Key(pk, sk),
		ConsistentRead: aws.Bool(true)})
	if err != nil {
		return err
	}
	if out.Item == nil || Expired(out.Item, t.Now()) {
		return aggregate.ErrNotFound
	}
	return Unpack(out.Item, into)
}

// Find returns the query of a partition of the table, which is read consistently, or of an index if that is not empty:
// of the items for which these conditions hold, too.
func (t *Table) Find(e *Expression, index, partition string, conditions ...string) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{TableName: &t.Name}
	if index == "" {
		in.ConsistentRead = aws.Bool(true)
	} else {
		in.IndexName = &index
	}
	in.KeyConditionExpression = All(append([]string{e.Is(index+"PK", "=", partition)}, conditions...)...)
	return Filled(e, in)
}

// Queried returns all items of a query, converted by read.
func Queried[T any](ctx context.Context, t *Table, in *dynamodb.QueryInput, read func(Item) (T, error)) iter.Seq2[T,
	error] {
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

// erasedAtOnce is how many items are deleted in parallel.
const erasedAtOnce = 16

// Erase deletes the items of a partition, except those for which keep returns true, and returns how many it deleted. If
// keep is nil it deletes all. Items past their time are deleted, too.
func (t *Table) Erase(ctx context.Context, pk string, keep func(Item) bool) (deleted int, err error) {
	e := NewExpression()
	in := t.Find(e, "", pk)
	if keep == nil {
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
			if keep != nil && keep(it) {
				continue
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
