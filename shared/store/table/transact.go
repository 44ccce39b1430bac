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
	"ringi/shared/runtime/sleep"
)

// RetryFor bounds how long one write is tried again while the table is busy; Slack waits three seconds for the function
// that needs it most.
const RetryFor = 2 * time.Second

// maxActions is DynamoDB's limit on one transaction.
const maxActions = 100

// Transact writes all or nothing, and tries again while the table is throttled.
// token names the transaction: DynamoDB takes a repeated one for the first, for ten minutes.
//
// It returns a *lost when a condition failed or another transaction was in the
// way; any other error leaves the outcome unknown.
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

// TransactPast is transact, and again for up to two seconds while nothing but other transactions is in the way.
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

// quickly bounds the client's own waits between its tries, which would outlast
// the two seconds otherwise. A client that tries once is left so.
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

// Failed reports whether the condition of action i did.
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

// Found is the item that the condition of action i met, if the action asked for it.
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

// busy reports whether the same call may go through a moment later.
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

// backoff waits longer each time, by chance, so that those who met once part.
type backoff struct {
	next, most time.Duration
	waits      int
}

// fewestTries is how often a call is made again even if its earlier tries took all of the time: where one answer was
// late, the next is most often not.
const fewestTries = 3

func NewBackoff(first, most time.Duration) *backoff { return &backoff{next: first, most: most} }

// Until waits. It reports false when stop would pass, but not the first few times, or ctx end.
func (b *backoff) Until(ctx context.Context, stop time.Time) bool {
	d := b.next/2 + rand.N(b.next)
	b.next = min(2*b.next, b.most)
	if b.waits++; b.waits > fewestTries && time.Until(stop) < d {
		return false
	}
	return sleep.Within(ctx, d)
}
