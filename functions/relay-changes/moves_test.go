package main

import (
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

type image = map[string]events.DynamoDBAttributeValue

func head(rev, run, shown string) image {
	m := image{"type": events.NewStringAttribute("head"), "rev": events.NewNumberAttribute(rev),
		"run": events.NewNumberAttribute(run)}
	if shown != "" {
		m["shown_rev"] = events.NewNumberAttribute(shown)
	}
	return m
}

func redrawn(times string) image {
	m := head("3", "1", "")
	m["redraws"] = events.NewNumberAttribute(times)
	return m
}

func wait(token string) image {
	return image{"type": events.NewStringAttribute("wait"), "task_token": events.NewStringAttribute(token)}
}

func record(id, taskID, sk string, before, now image) events.DynamoDBEventRecord {
	return events.DynamoDBEventRecord{EventID: id, Change: events.DynamoDBStreamRecord{
		Keys:     image{"PK": events.NewStringAttribute("TASK#T#" + taskID), "SK": events.NewStringAttribute(sk)},
		OldImage: before, NewImage: now, SequenceNumber: "s" + id,
	}}
}

func TestMoves(t *testing.T) {
	ref := func(id string) aggregate.Ref { return task.RefOf("T", id) }
	tests := []struct {
		name    string
		records []events.DynamoDBEventRecord
		want    []move
	}{
		{"a new task starts a run and shows its card",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", nil, head("1", "1", ""))},
			[]move{{ref: ref("A"), run: true, cards: true, event: "1", first: "s1"}}},
		{"a commit redraws, but starts nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", head("3", "1", "3"), head("4", "1", "3"))},
			[]move{{ref: ref("A"), cards: true, event: "1", first: "s1"}}},
		{"a new run is started",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", head("3", "1", "3"), head("4", "2", "3"))},
			[]move{{ref: ref("A"), run: true, cards: true, event: "1", first: "s1"}}},
		{"what was shown, and when it is due, moves nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", head("3", "1", "2"), head("3", "1", "3"))}, nil},
		{"a card's first showing moves nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", head("3", "1", ""), head("3", "1", "3"))}, nil},
		{"a forced redraw",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", head("3", "1", "3"), head("3", "1", ""))},
			[]move{{ref: ref("A"), cards: true, event: "1", first: "s1"}}},
		{"a redraw that is asked for while the one before is being drawn",
			[]events.DynamoDBEventRecord{record("1", "A", "HEAD", redrawn("1"), redrawn("2"))},
			[]move{{ref: ref("A"), cards: true, event: "1", first: "s1"}}},
		{"a token that arrives is looked at, and draws nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "WAIT#PROMPT#0001", nil, wait("x"))},
			[]move{{ref: ref("A"), event: "1", first: "s1"}}},
		{"the same token again moves nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "WAIT#PROMPT#0001", wait("x"), wait("x"))}, nil},
		{"a token that goes moves nothing",
			[]events.DynamoDBEventRecord{record("1", "A", "WAIT#PROMPT#0001", wait("x"), nil)}, nil},
		{"one task is looked at once, in the order of first records",
			[]events.DynamoDBEventRecord{
				record("1", "A", "HEAD", head("1", "1", ""), head("2", "1", "")),
				record("2", "B", "HEAD", nil, head("1", "1", "")),
				record("3", "A", "HEAD", head("2", "1", ""), head("3", "2", "")),
			},
			[]move{
				{ref: ref("A"), run: true, cards: true, event: "3", first: "s1"},
				{ref: ref("B"), run: true, cards: true, event: "2", first: "s2"},
			}},
		{"a row of another kind is no task",
			[]events.DynamoDBEventRecord{{EventID: "1", Change: events.DynamoDBStreamRecord{
				Keys:     image{"PK": events.NewStringAttribute("TENANT#T"), "SK": events.NewStringAttribute("HEAD")},
				NewImage: head("1", "1", ""),
			}}}, nil},
		{"nothing follows from a kind that is still",
			[]events.DynamoDBEventRecord{{EventID: "1", Change: events.DynamoDBStreamRecord{
				Keys:     image{"PK": events.NewStringAttribute("TEAM#T#a"), "SK": events.NewStringAttribute("HEAD")},
				NewImage: head("1", "1", ""),
			}}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, tt.want, moves(aggregate.Kinds{task.Kind, contest.TeamKind}, tt.records), cmp.AllowUnexported(move{}))
		})
	}
}

func TestAnOpenHomeTabIsAskedFor(t *testing.T) {
	key := map[string]events.DynamoDBAttributeValue{"PK": events.NewStringAttribute("HOME#T1"),
		"SK": events.NewStringAttribute("U1")}
	opened := events.DynamoDBEventRecord{EventID: "e",
		Change: events.DynamoDBStreamRecord{Keys: key, NewImage: key, SequenceNumber: "1"}}
	gone := events.DynamoDBEventRecord{EventID: "f",
		Change: events.DynamoDBStreamRecord{Keys: key, OldImage: key, SequenceNumber: "2"}}
	found := moves(aggregate.Kinds{task.Kind}, []events.DynamoDBEventRecord{opened, gone})
	if len(found) != 1 || found[0].ref != (aggregate.Ref{Tenant: "T1", Kind: effect.Home, ID: "U1"}) || found[0].event != "e" {
		t.Errorf("%+v", found)
	}
}
