package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

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
		return s.Finalize.Add(middleware.FinalizeMiddlewareFunc("count", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
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
	t.Run("one call, then the answer", func(t *testing.T) { testOneCall(t, db) })
	t.Run("delivered five times at once, it is one task", func(t *testing.T) { testAtOnce(t, db) })
	t.Run("what an agent is told is told once", func(t *testing.T) { testTold(t, db) })
	t.Run("an agent is stopped after many actions", func(t *testing.T) { testStopAfterMany(t, db) })
}

// testOneCall: between a message of a channel and its answer its channel is looked up, and there is one transaction, however often and concurrently the message is
// delivered.
func testOneCall(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	c := &counted{}
	h := handler(rowsOf(store.NewTasks(dynamodb.New(db.DB.Options(), c.watch), table)))
	body := callback(t, nil, nil)
	if out := post(t, h, signed(body)); out.StatusCode != 200 {
		t.Fatal(out.StatusCode, out.Body)
	}
	expect.That(t, slices.Equal(c.ops, []string{"GetItem", "TransactWriteItems"}), "calls: %v", c.ops)

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
}

// testAtOnce: of concurrent deliveries, all are answered 200.
func testAtOnce(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, _ := db.Store(t)
	h := handler(rowsOf(s))
	body := callback(t, nil, nil)
	statuses := make(chan int, 5)
	for range cap(statuses) {
		go func() {
			out, err := h.Handle(context.Background(), signed(body))
			if err != nil {
				out.StatusCode = -1
			}
			statuses <- out.StatusCode
		}()
	}
	for range cap(statuses) {
		expect.Same(t, 200, <-statuses)
	}
	id := expect.Value(task.ID("T0TEAM", "C0HR", "1776675599.000100"))(t)
	if a, err := s.Load(t.Context(), task.RefOf(aggregate.TenantID("T0TEAM"), id)); err != nil || a.Head.Rev != 1 {
		t.Errorf("%v %+v", err, a)
	}
}

// testTold: a conversation's first message, and a reply, delivered several times at once.
func testTold(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	h := handler(rowsOf(s))
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
