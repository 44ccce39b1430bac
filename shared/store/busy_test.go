package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

const (
	throttled = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",
		"CancellationReasons":[{"Code":"None"},{"Code":"ThrottlingError","Message":"too fast"},{"Code":"None"},{"Code":"None"}]}`
	inTheWay = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",
		"CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"another transaction"},{"Code":"None"},{"Code":"None"}]}`
	tooMuch = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`
	refused = `{"__type":"com.amazon.coral.service#ValidationException","message":"no such thing"}`
)

// refusing returns the store on a table that answers the given number of transactions with body.
func refusing(st *taskStore, body string, times int32) (*taskStore, *refuser) {
	r := &refuser{operation: "TransactWriteItems", body: body}
	r.left.Store(times)
	return st.over(r, oneTry), r
}

func testBusyTable(t *testing.T, st *taskStore) {
	for i, c := range []struct{ name, body string }{
		{"a throttled transaction", throttled},
		{"a throttled table", tooMuch},
		{"another transaction in the way", inTheWay},
	} {
		t.Run(c.name+" delays a create", func(t *testing.T) {
			busy, r := refusing(st, c.body, 3)
			change, ref := received(t, 10*i)
			expect.NoError(t, busy.Create(t.Context(), change))
			_, err := st.Load(t.Context(), ref)
			expect.That(t, err == nil && r.refused.Load() == 3, "%v after %d refusals", err, r.refused.Load())
		})
		t.Run(c.name+" delays a decision", func(t *testing.T) {
			ref := waitingPrompt(t, st, 10*i+1)
			busy, _ := refusing(st, c.body, 3)
			a := expect.Value(busy.Decide(t.Context(), ref, approvePrompt))(t)
			expect.Is(t, a.Prompt().Status, aggregate.Approved, "prompt")
		})
		t.Run(c.name+" that lasts ends a create in time", func(t *testing.T) {
			busy, _ := refusing(st, c.body, 1<<30)
			change, _ := received(t, 10*i+2)
			inTime(t, func() bool {
				begun := time.Now()
				err := busy.Create(t.Context(), change)
				expect.That(t, err != nil && !errors.Is(err, ErrExists), "%v, want that the table is busy", err)
				return time.Since(begun) < 2500*time.Millisecond
			})
		})
		t.Run(c.name+" that lasts ends a decision before its deadline", func(t *testing.T) {
			ref := waitingPrompt(t, st, 10*i+3)
			busy, _ := refusing(st, c.body, 1<<30)
			inTime(t, func() bool {
				ctx, done := context.WithTimeout(t.Context(), time.Second)
				defer done()
				_, err := busy.Decide(ctx, ref, approvePrompt)
				expect.That(t, err != nil, "no error")
				return ctx.Err() == nil
			})
		})
	}

	t.Run("what is refused for good is not tried again", func(t *testing.T) {
		busy, r := refusing(st, refused, 1<<30)
		change, _ := received(t, 100)
		err := busy.Create(t.Context(), change)
		expect.That(t, err != nil, "no error")
		expect.That(t, r.refused.Load() == 1, "%d tries, want 1", r.refused.Load())
	})
}

// inTime fails the test if do misses its deadline repeatedly: a single miss may be due to a busy machine.
func inTime(t *testing.T, do func() bool) {
	t.Helper()
	for range 5 {
		if do() {
			return
		}
	}
	t.Error("it is never done in time")
}
