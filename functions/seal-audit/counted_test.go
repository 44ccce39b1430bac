package main

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// scored is a row of the board at a revision.
func scored(rev, score string) map[string]types.AttributeValue {
	it := texts("PK", "TEAM#"+tenant+"#550e8400-e29b-41d4-a716-446655440000.0011223344556677", "SK", "BOARD#01", "type", "leader_board", "team_id", "team-001")
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	it["rev"], it["evaluation_score"] = number(rev), number(score)
	it["usage_info"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"input_tokens": &types.AttributeValueMemberNULL{Value: true}, "output_tokens": number("900")}}
	return it
}

// unable counts nothing but how often it is asked to.
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
	away := &unable{Store: w.store}
	w.Store = away
	if out := w.handle(events.DynamoDBEvent{Records: records}); len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "1" {
		t.Errorf("gave back %v", out.BatchItemFailures)
	}
	expect.That(t, away.asked == 1, "one row of a batch is counted %d times", away.asked)
	w.Store = w.store
	for _, batch := range [][]events.DynamoDBEventRecord{records, records[1:], records[:1], records} {
		if out := w.handle(events.DynamoDBEvent{Records: batch}); out.BatchItemFailures != nil {
			t.Errorf("gave back %v", out.BatchItemFailures)
		}
	}
	sums := expect.Value(w.store.CountedSums(t.Context(), tenant, contest.TeamHash("team-001"), contest.SumRounds, contest.SumScore, contest.SumInput, contest.SumOutput))(t)
	if sums[contest.SumRounds] != 1 || sums[contest.SumScore] != 400_000 || sums[contest.SumInput] != 0 || sums[contest.SumOutput] != 900 {
		t.Errorf("%v", sums)
	}
}
