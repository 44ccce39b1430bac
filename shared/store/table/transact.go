package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

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
	stop := time.Now().Add(RetryFor)
	for wait := NewBackoff(20*time.Millisecond, 400*time.Millisecond); ; {
		_, err := t.DB.TransactWriteItems(ctx, in, quickly)
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			if l := lostIn(cancelled); l != nil {
				return l
			}
		}
		if err == nil || !busy(err) || !wait.Until(ctx, stop) {
			return err
		}
	}
}

// TransactPast is Transact, repeated for up to two seconds while only other transactions are in the way.
func (t *Table) TransactPast(ctx context.Context, token string, items []types.TransactWriteItem) error {
	stop := time.Now().Add(RetryFor)
	for wait := NewBackoff(20*time.Millisecond, 400*time.Millisecond); ; {
		err := t.Transact(ctx, token, items)
		var l *Lost
		if !errors.As(err, &l) || !l.OnlyInTheWay() || !wait.Until(ctx, stop) {
			return err
		}
	}
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
	for i, r := range l.reasons {
		if code := aws.ToString(r.Code); code != "None" {
			return fmt.Sprintf("action %d of %d: %s", i+1, len(l.reasons), code)
		}
	}
	return "the transaction was refused"
}

func (l *Lost) Unwrap() error { return aggregate.ErrConflict }

// Failed reports whether the condition of action i failed.
func (l *Lost) Failed(i int) bool {
	return i < len(l.reasons) && aws.ToString(l.reasons[i].Code) == "ConditionalCheckFailed"
}

// OnlyInTheWay reports whether no condition failed: another transaction held a row.
func (l *Lost) OnlyInTheWay() bool {
	for i := range l.reasons {
		if l.Failed(i) {
			return false
		}
	}
	return true
}

// Found returns the item on which the condition of action i failed, if the action asked for it.
func (l *Lost) Found(i int) Item {
	if i < len(l.reasons) {
		return l.reasons[i].Item
	}
	return nil
}

func lostIn(c *types.TransactionCanceledException) *Lost {
	for _, r := range c.CancellationReasons {
		switch aws.ToString(r.Code) {
		case "ConditionalCheckFailed", "TransactionConflict":
			return &Lost{c.CancellationReasons}
		}
	}
	return nil
}

// busy reports whether repeating the call may help.
func busy(err error) bool {
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) {
		for _, r := range cancelled.CancellationReasons {
			switch aws.ToString(r.Code) {
			case "ThrottlingError", "ProvisionedThroughputExceeded":
				return true
			}
		}
		return false
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
		"TransactionInProgressException", "InternalServerError", "ServiceUnavailable":
		return true
	}
	return false
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
