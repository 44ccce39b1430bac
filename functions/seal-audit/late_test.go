package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/seal"
	"ringi/shared/store/storetest"
)

// The bucket deletes a head whose lock is over. That of a chain that rests is put away again before.
func TestTheHeadOfAChainThatRestsIsPutAwayAgain(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Locked = 40 * 24 * time.Hour // each of four windows of a day is read
	w.seals(w.written(tenant, 1)...)
	began := w.now
	for _, on := range []struct{ day, last time.Duration }{{0, 0}, {10, 0}, {19, 0}, {21, 21}, {39, 21}, {42, 42}} {
		w.now = began.Add(on.day * 24 * time.Hour)
		w.tick()
		is := expect.Value(seal.RowsIn(w.store.Table()).Chain(t.Context(), tenant))(t)
		expect.That(t, is.KeptAt.Sub(began).Round(time.Hour) == on.last*24*time.Hour, "on day %d its head is of %s", on.day,
			is.KeptAt)
	}
}

// short is a store whose invocations end after this many rows of the log.
type short struct {
	Store
	rows int
}

func (s *short) RowsOfLog(ctx context.Context, tenant string, from, until time.Time) iter.Seq2[chain.Row, error] {
	return func(yield func(chain.Row, error) bool) {
		n := 0
		for r, err := range s.Store.RowsOfLog(ctx, tenant, from, until) {
			if n++; n > s.rows {
				yield(chain.Row{}, errors.New("the invocation's time is over"))
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// A day with more rows than one invocation can read is checked in several.
func TestALongDayIsLookedAtBitByBit(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	yesterday := began.AddDate(0, 0, -1)
	w.now = yesterday
	var rows []chain.Row
	var puts []types.WriteRequest
	for n := range checkEvery + 60 {
		it := w.entry(tenant, yesterday.Add(time.Duration(n)*time.Second))
		rows = append(rows, expect.Value(seal.SealedRow(it))(t))
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	for some := range slices.Chunk(puts, 25) {
		expect.Value(w.db.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{
			RequestItems: map[string][]types.WriteRequest{w.table: some}}))(t)
	}
	for part := range slices.Chunk(rows, 300) {
		expect.NoError(t, w.seal(t.Context(), tenant, part, false))
	}
	w.now = began.Add(time.Hour)
	w.Store = &short{seal.RowsIn(w.store.Table()), checkEvery + 10}
	for range 3 {
		w.tick()
	}
	is := expect.Value(seal.RowsIn(w.store.Table()).Chain(t.Context(), tenant))(t)
	expect.That(t, !is.Checked.Before(began.Truncate(24*time.Hour)),
		"three invocations, and looked at no further than %v", is.Checked)
	w.finds(tenant, len(rows))
}

// texts returns an item of strings.
func texts(pairs ...string) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		it[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	return it
}

// told returns the records of a task's approval and of its model calls' costs.
func told(w *world) []events.DynamoDBEventRecord {
	approval := texts("PK", "AUDIT#"+tenant+"#2024-04", "SK", "2024-04-18T09:00:00.000Z#01E", "type", "audit", "id", "01E",
		"tenant_id", tenant, "timestamp", "2024-04-18T09:00:00.000Z",
		"actor_type", "user", "actor_id", "U1", "action", "prompt.approved", "resource_type", "prompt", "resource_id", "01P",
		"task_id", "01TASK", "details", `{"asked_at":"2024-04-18T08:59:00.000Z"}`)
	usage := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "USAGE#01U", "type", "usage", "id", "01U", "created_at",
		"2024-04-18T09:00:00.000Z")
	usage["cost_micro_usd"] = &types.AttributeValueMemberN{Value: "1200"}
	step := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "HEAD", "type", "head")
	return []events.DynamoDBEventRecord{w.record(1, nil, approval), w.record(2, nil, usage), w.record(3, nil, step),
		w.record(4, usage, usage)}
}

func testCounted(t *testing.T, w *world) {
	expect.Has(t, expect.Metrics(t, func() { w.seals(told(w)...) }), `"ModelCost":0.0012`, "printed")
	w.tick()
	if got := w.verified(tenant); got.Sealed != 0 || len(got.Findings) != 1 || got.Findings[0].Flaw != chain.Removed {
		t.Errorf("only the audit entry is sealed: %+v", got) // its row was never put
	}
}
