package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// counted lists the calls that a client makes.
type counted struct {
	mu  sync.Mutex
	ops []string
}

func (c *counted) watch(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(s *middleware.Stack) error {
		return s.Finalize.Add(middleware.FinalizeMiddlewareFunc("count",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput,
				middleware.Metadata, error) {
				c.mu.Lock()
				c.ops = append(c.ops, middleware.GetOperationName(ctx))
				c.mu.Unlock()
				return next.HandleFinalize(ctx, in)
			}), middleware.After)
	})
}

// TestWithTheTable runs against one database, each part in a table of its own.
func TestWithTheTable(t *testing.T) {
	db := storetest.Start(t)
	t.Run("one call, then the answer, and one task of five deliveries at once", func(t *testing.T) { testOneCall(t, db) })
	t.Run("what an agent is told is told once", func(t *testing.T) { testTold(t, db) })
	t.Run("an agent is stopped after many actions", func(t *testing.T) { testStopAfterMany(t, db) })
}

// testOneCall: between a message of a channel and its answer there is one transaction, however often and concurrently
// the message is delivered.
func testOneCall(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	c := &counted{}
	h := handler(store.NewTasks(dynamodb.New(db.DB.Options(), c.watch), table))
	body := callback(t, nil, nil)
	if out := post(t, h, signed(body)); out.StatusCode != 200 {
		t.Fatal(out.StatusCode, out.Body)
	}
	expect.That(t, slices.Equal(c.ops, []string{"TransactWriteItems"}), "calls: %v", c.ops)

	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if out := post(t, h, signed(body)); out.StatusCode != 200 {
				t.Error(out.StatusCode, out.Body)
			}
		})
	}
	wg.Wait()
	id := expect.Value(task.ID("T0TEAM", "C0HR", "1776675599.000100"))(t)
	a := expect.Value(s.Load(t.Context(), task.RefOf(aggregate.TenantID("T0TEAM"), id)))(t)
	expect.That(t, a.Head.Rev == 1 && a.Request.Text == "今月の勤怠をまとめて" && len(a.Cards) == 1 &&
		a.Cards[0].State == aggregate.CardNone, "%+v", a)

	policy := aggregate.Policy{Team: "T0TEAM", AllowSelf: true}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: "T0TEAM", Member: true}
	expect.Value(s.Decide(t.Context(), a.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(by, policy, now)
	}))(t)
	ended := expect.Value(s.Load(t.Context(), a.Ref()))(t)
	expect.Is(t, post(t, h, signed(body)).StatusCode, 200, "a delivery after the end")
	expect.Same(t, ended, expect.Value(s.Load(t.Context(), a.Ref()))(t))
}

// testTold: a conversation's first message, and a reply, delivered several times at once.
func testTold(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	h := handler(s)
	opened := store.NewConversations(dynamodb.New(db.DB.Options()), table)
	h.Conversations, h.Now = opened, time.Now // with another clock, rows with a time to live would be gone
	for _, fields := range []map[string]any{direct("claude: hi", nil),
		direct("and?", map[string]any{"thread_ts": root, "ts": "1776675600.000200"})} {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if out := post(t, h, signed(callback(t, fields, nil))); out.StatusCode != 200 {
					t.Error(out.StatusCode, out.Body)
				}
			})
		}
		wg.Wait()
	}
	a := expect.Value(opened.Load(t.Context(),
		conversation.RefOf(aggregate.TenantID("T0TEAM"), conversation.ID("T0TEAM", "D0DM", root))))(t)
	expect.That(t, a.Head.Rev == 2 && len(a.Inbox) == 2 && a.Conversation.AgentID == "claude",
		"%+v with %d messages", a.Head, len(a.Inbox))
}

// testStopAfterMany: Slack's stop button ends the command of a conversation with so many actions that the same commit
// moves the oldest out of its partition.
func testStopAfterMany(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	h, now := handler(s), time.Now().UTC().Truncate(time.Millisecond)
	opened := store.NewConversations(db.DB, table)
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
			return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "ok",
				Usage: aggregate.Usage{ID: fmt.Sprint(at.UnixNano()), Provider: "demo", Calls: 1}}, at)
		})
	}
	propose := func() *conversation.Action {
		t.Helper()
		answer()
		at := h.Now()
		script := aggregate.JSON(fmt.Sprintf(`{"script":"make %d","timeout_seconds":60,"base":""}`, at.UnixNano()))
		by := at.Add(24 * time.Hour)
		p := conversation.Proposal{Type: conversation.ShellCommand, Payload: aggregate.Blob{JSON: script, Bytes: len(script)},
			Seconds: 60, Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by}}
		return do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return a.Propose(p, person("U0ALICE"), policy, at)
		}).Current()
	}
	for range 21 {
		x := propose()
		do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			return decide.Reject("no")(a, x.ActionID, person("U0BOB"), policy, h.Now())
		})
	}
	x := propose()
	do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, x.ActionID, person("U0BOB"), policy, h.Now())
	})
	if out := post(t, h, signed(callback(t, map[string]any{
		"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM", "thread_ts": root, "user": "U0ALICE",
		"streaming_message_ts": []any{}, "event_ts": "1776675601.000200",
	}, nil))); out.StatusCode != 200 {
		t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
	a := expect.Value(opened.Load(t.Context(), ref))(t)
	old := expect.Value(opened.Archived(t.Context(), ref.Tenant, ref.ID))(t)
	got := a.Action(x.ActionID)
	expect.That(t, got != nil && got.Status == conversation.ActionCancelled && len(old) != 0 && a.Actions[0].Number != 1,
		"the command is %+v, %d old actions have left", got, len(old))
}
