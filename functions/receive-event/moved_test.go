package main

import (
	"context"
	"errors"
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
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// renamed is the event of a channel that becomes shared with another organization.
func renamed(was, is, at string) map[string]any {
	return map[string]any{"type": "channel_id_changed", "old_channel_id": was, "new_channel_id": is, "event_ts": at,
		"text": nil, "user": nil, "ts": nil, "channel": nil, "team": nil}
}

// What people write under a channel's new id belongs to what they began under an earlier one.
func TestMessagesOfAChannelThatGotAnotherID(t *testing.T) {
	k := &kept{}
	h := handler(k)
	requests := requests{}
	h.Tasks = requests
	send := func(fields map[string]any) int { return post(t, h, signed(callback(t, fields, nil))).StatusCode }
	expect.Is(t, send(mentioned("claude: 見て", map[string]any{"ts": root})), 200)
	expect.Is(t, len(k.told), 1)
	for range 2 {
		expect.Is(t, send(renamed("C1NEXT", "C2LAST", "1776675700.000000")), 200)
		expect.Is(t, send(renamed("C0HR", "C1NEXT", "1776675650.000000")), 200) // late
	}
	expect.Is(t, send(mentioned("続けて", map[string]any{"channel": "C2LAST", "thread_ts": root,
		"ts": "1776675710.000100"})), 200)
	expect.That(t, len(k.told) == 2 && len(k.changes) == 0, "told %d, made %d tasks", len(k.told), len(k.changes))

	expect.Is(t, send(mentioned("勤怠をまとめて", map[string]any{"channel": "C2LAST", "ts": "1776675711.000100"})), 200)
	r := k.request(t)
	expect.Is(t, r.Channel, "C0HR", "rules and settings name it so")
	id := expect.Value(task.ID("T0TEAM", "C0HR", "1776675711.000100"))(t)
	expect.Is(t, k.changes[0].Head.(*task.Head).TaskID, id)

	// Begun before the change was known.
	early := conversation.ID("T0TEAM", "C2LAST", "1776675680.000100")
	k.opened[early] = k.opened[conversation.ID("T0TEAM", "C0HR", root)]
	expect.Is(t, send(mentioned("続けて", map[string]any{"channel": "C2LAST", "thread_ts": "1776675680.000100",
		"ts": "1776675712.000100"})), 200)
	expect.That(t, len(k.told) == 3 && len(k.changes) == 1, "told %d, made %d tasks", len(k.told), len(k.changes))
}

// Slack repeats a message whose answer it missed, and says meanwhile that the channel is called otherwise.
func TestAMessageIsOneRequestUnderAllIDs(t *testing.T) {
	k := &kept{}
	h := handler(k)
	made := requests{}
	h.Tasks = made
	said := mentioned("勤怠をまとめて", map[string]any{"channel": "C2LAST", "ts": "1776675711.000100"})
	send := func(fields map[string]any) {
		expect.Is(t, post(t, h, signed(callback(t, fields, nil))).StatusCode, 200)
	}
	send(said)
	id := k.changes[0].Head.(*task.Head).TaskID
	made[id] = (&task.Aggregate{}).Apply(k.changes[0])
	send(renamed("C0HR", "C2LAST", "1776675700.000000"))
	send(said)
	expect.Is(t, len(k.changes), 1)
	send(mentioned("残業をまとめて", map[string]any{"channel": "C2LAST", "ts": "1776675712.000100"}))
	expect.Is(t, len(k.changes), 2)
	expect.Is(t, k.read, 2, "what a channel is called is read once, and again after a change")
}

// Another process received the event. What this one remembers is read again before it opens anything, and nothing else
// is.
func TestWhatIsRememberedOfAChannelOpensNothing(t *testing.T) {
	for name, c := range map[string]struct {
		said             map[string]any
		told, made, read int
	}{
		"a message to an agent's thread": {mentioned("続けて", map[string]any{"channel": "C1NEXT", "thread_ts": root,
			"ts": "1776675710.000100"}), 2, 0, 1},
		"a request": {mentioned("勤怠", map[string]any{"channel": "C1NEXT", "ts": "1776675710.000100"}), 1, 1, 1},
		"a message under the former id": {mentioned("続けて", map[string]any{"thread_ts": root,
			"ts": "1776675710.000100"}), 2, 0, 0},
	} {
		k := &kept{}
		h := handler(k)
		n := 0
		send := func(fields map[string]any) {
			n++
			body := callback(t, fields, map[string]any{"event_id": fmt.Sprintf("Ev%d", n)})
			expect.Is(t, post(t, h, signed(body)).StatusCode, 200)
		}
		send(mentioned("claude: 見て", map[string]any{"ts": root}))
		expect.Value(h.names(t.Context(), envelope{TeamID: "T0TEAM", EventID: "Ev0"}, "C1NEXT"))(t)
		k.read = 0
		k.moved = tenancy.Channels{"C0HR": {To: "C1NEXT", At: "1776675650.000000"}}
		send(c.said)
		expect.Same(t, [3]int{len(k.told), len(k.changes), k.read}, [3]int{c.told, c.made, c.read})
		if c.made == 1 {
			expect.Is(t, k.request(t).Channel, "C0HR", name)
		}
	}
}

// Neither Slack's event nor a click told the channel's new id: the thread tells it. What is written in other threads is
// a request, even if somebody else wrote something in this microsecond.
func TestAReplyInAnAgentsThreadTellsAChannelsNewID(t *testing.T) {
	for _, tt := range []struct {
		name, parent, thread, writer string
		told                         bool
	}{
		{"by the opener", "U0SATO", root, "U0SATO", true},
		{"by somebody else", "U0SATO", root, "U0OTHER", true},
		{"by the opener, in another's thread", "U0OTHER", root, "U0SATO", true},
		{"in a thread that another began", "U0OTHER", root, "U0THIRD", false},
		{"in another thread", "U0SATO", "1776675000.000100", "U0SATO", false},
	} {
		k := &kept{}
		h := handler(k)
		send := func(fields map[string]any) {
			expect.Is(t, post(t, h, signed(callback(t, fields, nil))).StatusCode, 200, tt.name)
		}
		send(mentioned("claude: 見て", map[string]any{"ts": root, "user": "U0SATO"}))
		reply := mentioned("続けて", map[string]any{"channel": "C2LAST", "thread_ts": tt.thread, "parent_user_id": tt.parent,
			"user": tt.writer, "ts": "1776675710.000100"})
		send(reply)
		if !tt.told {
			expect.Same(t, [3]int{1, 1, 0}, [3]int{len(k.told), len(k.changes), len(k.moved)})
			continue
		}
		expect.Same(t, [3]int{2, 0, 1}, [3]int{len(k.told), len(k.changes), len(k.moved)})
		expect.Is(t, k.moved.Now("C0HR"), "C2LAST", tt.name)
		send(mentioned("勤怠をまとめて", map[string]any{"channel": "C2LAST", "ts": "1776675711.000100"}))
		expect.Is(t, k.request(t).Channel, "C0HR", tt.name)
	}
}

func TestAChannelsNewIDThatIsNotKeptIsSentAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		event map[string]any
		err   error
		want  int
	}{
		{"the write fails", renamed("C0HR", "C1", "1776675700.000000"), errors.New("down"), 503},
		{"no new id", renamed("C0HR", "", "1776675700.000000"), nil, 400},
		{"an id with a space", renamed("C0 HR", "C1", "1776675700.000000"), nil, 400},
		{"no time", renamed("C0HR", "C1", "soon"), nil, 400},
	} {
		k := &kept{err: tt.err}
		expect.Is(t, post(t, handler(k), signed(callback(t, tt.event, nil))).StatusCode, tt.want, tt.name)
		expect.Is(t, len(k.moved), 0, tt.name)
	}
}

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

// testOneCall: between a message of a channel and its answer its channel is looked up, and there is one transaction,
// however often and concurrently the message is
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

// testStopAfterMany: Slack's stop button ends the command of a conversation with so many actions that the same commit
// moves the oldest out of its partition.
func testStopAfterMany(t *testing.T, db *storetest.Server) {
	t.Helper()
	s, table := db.Store(t)
	h, now := handler(rowsOf(s)), time.Now().UTC().Truncate(time.Millisecond)
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
