package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/chain"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

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
	approval := texts("PK", "AUDIT#"+tenant+"#2026-04", "SK", "2026-04-18T09:00:00.000Z#01E", "type", "audit", "id", "01E",
		"tenant_id", tenant, "timestamp", "2026-04-18T09:00:00.000Z",
		"actor_type", "user", "actor_id", "U1", "action", "prompt.approved", "resource_type", "prompt", "resource_id", "01P",
		"task_id", "01TASK", "details", `{"asked_at":"2026-04-18T08:59:00.000Z"}`)
	usage := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "USAGE#01U", "type", "usage", "id", "01U", "created_at",
		"2026-04-18T09:00:00.000Z")
	usage["cost_micro_usd"] = &types.AttributeValueMemberN{Value: "1200"}
	step := texts("PK", "TASK#"+tenant+"#01TASK", "SK", "HEAD", "type", "head")
	return []events.DynamoDBEventRecord{w.record(1, nil, approval), w.record(2, nil, usage), w.record(3, nil, step),
		w.record(4, usage, usage)}
}

func sum(t *testing.T, w *world) tenancy.DailySum {
	t.Helper()
	all := expect.Value(store.CounterOf(w.store.Table(), w.store.Kinds()).Sums(t.Context(), tenant,
		[]string{tenancy.DayOf(w.now)}))(t)
	return all[len(all)-1]
}

func testCounted(t *testing.T, w *world) {
	out := expect.Metrics(t, func() { w.seals(told(w)...) })
	expect.That(t, strings.Contains(out, `"ModelCost":0.0012`), "printed %s", out)
	w.seals(told(w)...)
	s := sum(t, w)
	expect.That(t, s.Facts == 2 && s.Decided(tenancy.Approved) == 1 && s.Spent.Cost == 1200, "%+v", s)
	w.tick()
	if got := w.verified(tenant); got.Sealed != 0 || len(got.Findings) != 1 || got.Findings[0].Flaw != chain.Removed {
		t.Errorf("only the audit entry is sealed: %+v", got) // its row was never put
	}
}

// full fails to save facts.
type full struct{ Store }

func (full) PutFacts(context.Context, []tenancy.DailyFact) error {
	return errors.New("the table is full")
}

func testNotCounted(t *testing.T, w *world) {
	w.Store = full{rowsOf(w.store)}
	out := w.handle(events.DynamoDBEvent{Records: append(w.written(tenant, 1), told(w)...)})
	expect.That(t, len(out.BatchItemFailures) == 1 && out.BatchItemFailures[0].ItemIdentifier == "1",
		"gave back %v", out.BatchItemFailures)
	w.Store = rowsOf(w.store)
	odd := texts("PK", "AUDIT#"+tenant+"#2026-04", "SK", "x", "id", "01E", "tenant_id", tenant, "timestamp", "no time", "task_id", "01TASK")
	if out := w.handle(events.DynamoDBEvent{Records: append([]events.DynamoDBEventRecord{w.record(9, nil, odd)}, told(w)...)}); out.BatchItemFailures != nil {
		t.Errorf("an odd row holds up others: %v", out.BatchItemFailures)
	}
	expect.Same(t, 2, sum(t, w).Facts)
}

// scored returns the row of a scored round at a revision.
func scored(rev, score string) map[string]types.AttributeValue {
	it := texts("PK", "TEAM#"+tenant+"#550e8400-e29b-41d4-a716-446655440000.0011223344556677", "SK", "BOARD#01", "type",
		"leader_board", "team_id", "team-001")
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	it["rev"], it["evaluation_score"] = number(rev), number(score)
	it["usage_info"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"input_tokens": &types.AttributeValueMemberNULL{Value: true}, "output_tokens": number("900")}}
	return it
}

// unable fails to count rounds, and counts the attempts.
type unable struct {
	Store
	asked int
}

func (u *unable) Count(context.Context, store.Counted) error {
	u.asked++
	return errors.New("the table is away")
}

func testTeamCounted(t *testing.T, w *world) {
	w.store = store.New(w.db, w.table, contest.Kind, contest.TeamKind)
	first, again := scored("2", "0.9"), scored("5", "0.4")
	records := []events.DynamoDBEventRecord{w.record(1, nil, first), w.record(2, first, again), w.record(3, again, nil)}
	away := &unable{Store: rowsOf(w.store)}
	w.Store = away
	if out := w.handle(events.DynamoDBEvent{Records: records}); len(out.BatchItemFailures) != 1 ||
		out.BatchItemFailures[0].ItemIdentifier != "1" {
		t.Errorf("gave back %v", out.BatchItemFailures)
	}
	expect.That(t, away.asked == 1, "one row of a batch is counted %d times", away.asked)
	w.Store = rowsOf(w.store)
	for _, batch := range [][]events.DynamoDBEventRecord{records, records[1:], records[:1], records} {
		if out := w.handle(events.DynamoDBEvent{Records: batch}); out.BatchItemFailures != nil {
			t.Errorf("gave back %v", out.BatchItemFailures)
		}
	}
	sums := expect.Value(store.CounterOf(w.store.Table(), w.store.Kinds()).CountedSums(t.Context(), tenant,
		contest.TeamHash("team-001"), contest.SumRounds, contest.SumScore, contest.SumInput, contest.SumOutput))(t)
	expect.That(t, sums[contest.SumRounds] == 1 && sums[contest.SumScore] == 400_000 && sums[contest.SumInput] == 0 &&
		sums[contest.SumOutput] == 900, "%v", sums)
}
