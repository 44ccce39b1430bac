package main

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/conversations"
	"ringi/shared/store/storetest"
)

// testStopAfterMany: Slack's stop button ends the command of a conversation that has had so many actions that the oldest leave
// its partition with the same commit.
func testStopAfterMany(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	h, now := handler(s), time.Now().UTC().Truncate(time.Millisecond)
	opened := conversations.New(db.DB, table)
	h.Conversations, h.Now = opened, func() time.Time { now = now.Add(time.Second); return now }
	post(t, h, signed(callback(t, direct("codex: hi", nil), nil)))

	ref := conversation.RefOf(aggregate.TenantID("T0TEAM"), conversation.ID("T0TEAM", "D0DM", root))
	policy := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversChannel, AllowSelf: true}
	person := func(id string) aggregate.Actor {
		return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: "T0TEAM", Member: true}
	}
	do := func(decide conversation.Decision) *conversation.Aggregate {
		t.Helper()
		return expect.Value(opened.Decide(t.Context(), ref, decide))(t)
	}
	answer := func() {
		t.Helper()
		if expect.Value(opened.Load(t.Context(), ref))(t).Head.Resting {
			do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.StartRun(h.Now()) })
		}
		do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			at := h.Now()
			return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "ok", Usage: aggregate.Usage{ID: fmt.Sprint(at.UnixNano()), Provider: "demo", Calls: 1}}, at)
		})
	}
	propose := func() *conversation.Action {
		t.Helper()
		answer()
		at := h.Now()
		script, by := aggregate.JSON(fmt.Sprintf(`{"script":"make %d"}`, at.UnixNano())), at.Add(24*time.Hour)
		p := conversation.Proposal{Type: conversation.ShellCommand, Payload: aggregate.Blob{JSON: script, Bytes: len(script)}, Seconds: 60, Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: &by}}
		return do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Propose(p, person("U0ALICE"), policy, at)
		}).Current()
	}
	for range 21 {
		x := propose()
		do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Reject(x.ActionID, "no", person("U0BOB"), policy, h.Now())
		})
	}
	x := propose()
	do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Approve(x.ActionID, x.Payload.Hash(), person("U0BOB"), policy, h.Now())
	})
	if out := post(t, h, signed(callback(t, map[string]any{
		"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM", "thread_ts": root, "user": "U0ALICE", "streaming_message_ts": []any{}, "event_ts": "1776675601.000200",
	}, nil))); out.StatusCode != 200 {
		t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
	a := expect.Value(opened.Load(t.Context(), ref))(t)
	old := expect.Value(opened.Archived(t.Context(), ref.Tenant, ref.ID))(t)
	if got := a.Action(x.ActionID); got == nil || got.Status != conversation.ActionCancelled || len(old) == 0 || a.Actions[0].Number == 1 {
		t.Errorf("the command is %+v, %d old actions have left", got, len(old))
	}
}
