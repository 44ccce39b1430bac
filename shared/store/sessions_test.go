package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const root = "1775034000.000100"

// world has one conversation in a new table.
type world struct {
	*store.ConversationStore
	ref aggregate.Ref
	now time.Time
}

func inbound(ts, text string) conversation.Inbound {
	return conversation.Inbound{Team: "T1", Channel: "D1", ChannelType: "im", Thread: root, TS: ts, User: "U1", Text: text}
}

func open(t *testing.T, server *storetest.Server, o conversation.Opening) *world {
	t.Helper()
	_, name := server.Store(t)
	w := &world{ConversationStore: store.NewConversations(server.DB, name), ref: inbound(root, "").Ref(),
		now: time.Now().UTC().Truncate(time.Millisecond)}
	expect.NoError(t, w.Begin(t.Context(), expect.Value(conversation.Begin(inbound(root, "hello"), o, w.now))(t)))
	return w
}

func (w *world) tell(t *testing.T, ts, text string) error {
	t.Helper()
	return w.Tell(t.Context(), w.ref, expect.Value(conversation.Tell(inbound(ts, text), conversation.Opening{}, w.now))(t))
}

func (w *world) decide(t *testing.T, decide conversation.Decision) *conversation.Aggregate {
	t.Helper()
	return expect.Value(w.Decide(t.Context(), w.ref, decide))(t)
}

func (w *world) load(t *testing.T) *conversation.Aggregate {
	t.Helper()
	return expect.Value(w.Load(t.Context(), w.ref))(t)
}

func (w *world) said(t *testing.T) (out []string) {
	t.Helper()
	for _, m := range expect.Value(w.Messages(t.Context(), w.ref.Tenant, w.ref.ID, ""))(t) {
		out = append(out, string(m.Sender)+": "+m.Content)
	}
	return out
}

func TestSessionsInTheTable(t *testing.T) {
	server := storetest.Start(t)
	t.Run("a message comes once, into a session that nobody read", func(t *testing.T) {
		testIngress(t, open(t, server, conversation.Opening{AgentID: "codex"}))
	})
	t.Run("an answer takes what it saw and nothing else", func(t *testing.T) {
		testAnswer(t, open(t, server, conversation.Opening{AgentID: "codex"}))
	})
	t.Run("one that is not kept is forgotten", func(t *testing.T) {
		testForgotten(t, open(t, server, conversation.Opening{AgentID: "codex"}))
	})
	t.Run("what nobody copied isn't committed", func(t *testing.T) {
		testUncopied(t, open(t, server, conversation.Opening{AgentID: "codex"}))
	})
	t.Run("the newest lines of an output stay", func(t *testing.T) {
		testLog(t, open(t, server, conversation.Opening{AgentID: "codex"}))
	})
	t.Run("a tenant's sessions are listed", func(t *testing.T) {
		w := open(t, server, conversation.Opening{AgentID: "codex"})
		page := expect.Value(w.Listed(t.Context(), w.ref.Tenant, "", 10, 0, nil))(t)
		expect.That(t, len(page.Items) == 1, "%d", len(page.Items))
	})
}

func testIngress(t *testing.T, w *world) {
	err := w.Begin(t.Context(), expect.Value(conversation.Begin(inbound(root, "hello"), conversation.Opening{}, w.now))(t))
	expect.That(t, errors.Is(err, store.ErrExists), "opened twice: %v", err)
	expect.NoError(t, w.tell(t, "1775034001.000100", "more"))
	expect.Fails(t, w.tell(t, "1775034001.000100", "more"), store.ErrExists, "told twice")
	expect.Fails(t, w.tell(t, root, "hello"), store.ErrExists, "the first one told again")
	c := expect.Value(conversation.Tell(conversation.Inbound{Team: "T1", Channel: "D1", Thread: "1775034009.000100",
		TS: root, User: "U1"}, conversation.Opening{}, w.now))(t)
	err = w.Tell(t.Context(), conversation.RefOf(w.ref.Tenant, conversation.ID("T1", "D1", "1775034009.000100")), c)
	expect.That(t, errors.Is(err, aggregate.ErrNotFound), "a thread without a session: %v", err)
	a := w.load(t)
	expect.That(t, len(a.Inbox) == 2 && a.Head.Rev == 2 && a.Conversation.Opener == "U1" && len(w.said(t)) == 2,
		"%+v, %d wait, %v", a.Head, len(a.Inbox), w.said(t))
	e := a.Effects(w.now)
	expect.That(t, e.Run != nil && e.Run.Name == w.ref.ID+"-1" && e.Begin == nil, "%+v", e)
}

func testAnswer(t *testing.T, w *world) {
	seen := w.load(t).Waiting()
	expect.NoError(t, w.tell(t, "1775034001.000100", "meanwhile"))
	use := aggregate.Usage{ID: "use-1", Provider: "demo", Calls: 1, Cost: 7}
	a := w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, seen, conversation.Answer{Text: "hi", Usage: use}, w.now)
	})
	expect.That(t, len(a.Inbox) == 1 && !a.Head.Resting && a.Conversation.Usage.Cost == 7, "%d wait, resting %v, %v",
		len(a.Inbox), a.Head.Resting, a.Conversation.Usage.Cost)
	if is := w.load(t); len(is.Inbox) != 1 || len(is.Cards) != 1 {
		t.Errorf("in the table %d wait, %d cards", len(is.Inbox), len(is.Cards))
	}
	expect.Fails(t, expect.Err(w.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, seen, conversation.Answer{Text: "again"}, w.now)
	})), aggregate.ErrMoved, "answered twice")
	a = w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(1, a.Waiting(), conversation.Answer{Text: "yes?"}, w.now)
	})
	uses := expect.Value(w.Uses(t.Context(), w.ref.Tenant, w.ref.ID))(t)
	expect.That(t, a.Head.Resting && len(uses) == 1 && uses[0].Cost == 7, "resting %v, used %+v", a.Head.Resting, uses)
	newest := expect.Value(w.Newest(t.Context(), w.ref.Tenant, w.ref.ID, "", 1))(t)
	expect.That(t, len(newest) == 1 && newest[0].Content == "yes?", "the newest is %+v", newest)
}

func testForgotten(t *testing.T, w *world) {
	policy := aggregate.Policy{Team: "T1", AllowSelf: true}
	w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.End(aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1"}, policy, w.now)
	})
	expect.NoError(t, w.tell(t, "1775034001.000100", "still there?"))
	if a := w.load(t); a.Conversation.Status != conversation.Closed || len(a.Inbox) != 1 || a.Effects(w.now).Run != nil {
		t.Errorf("%+v", a.Conversation)
	}
	w.Now = func() time.Time { return w.now.Add(25 * time.Hour) }
	expect.Fails(t, expect.Err(w.Load(t.Context(), w.ref)), aggregate.ErrNotFound, "a day later")
	w.now = w.now.Add(25 * time.Hour)
	expect.Fails(t, w.tell(t, "1775034002.000100", "hello?"), aggregate.ErrNotFound, "told a day later")
}

// testUncopied: a stamp whose payload was not copied to where it stays is no stamp.
func testUncopied(t *testing.T, w *world) {
	payload := aggregate.Blob{S3Key: "talks/t/s/" + aggregate.HashOf("x") + ".json", Bytes: 5000}
	x := w.decide(t, func(a *conversation.Aggregate) (aggregate.Change, error) {
		p := &conversation.Proposal{Type: conversation.ShellCommand, Payload: payload,
			Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}
		return a.Answered(1, a.Waiting(), conversation.Answer{Text: "shall I?", Proposal: p}, w.now)
	}).Current()
	_, err := w.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U1", Team: "T1", Member: true}
		return decide.Approve(a, x.ActionID, by, aggregate.Policy{Team: "T1", AllowSelf: true}, w.now)
	})
	expect.That(t, err != nil && w.load(t).Current().Status == conversation.ActionPending, "it is stamped: %v", err)
}

func testLog(t *testing.T, w *world) {
	entries := func(action string, from, n int) (out []conversation.LogEntry) {
		for i := range n {
			out = append(out, conversation.LogEntry{LogID: fmt.Sprint(from + i), ActionID: action, Order: from + i,
				Text: fmt.Sprint("line ", from+i), CreatedAt: w.now, DeleteAfter: w.now.Add(time.Hour).Unix()})
		}
		return out
	}
	var gone []int
	for i := range 100 {
		gone = append(gone, i)
	}
	late := []int{100, 101, 102, 103, 104, 105, 106}
	for _, part := range []struct {
		from, n int
		gone    []int
	}{{0, 300, nil}, {300, 300, gone}, {600, 7, late}, {600, 7, late}} { // the last again, as after a lost answer
		expect.NoError(t, w.AppendLog(context.Background(), w.ref, "A", entries("A", part.from, part.n), part.gone))
	}
	all := expect.Value(w.Log(t.Context(), w.ref, "A", 0))(t)
	tail := expect.Value(w.Log(t.Context(), w.ref, "A", 10))(t)
	expect.That(t, len(all) == conversation.MostLines && all[0].Order == 107 && len(tail) == 10 &&
		tail[9].Text == "line 606", "%d lines from %d, the tail %+v", len(all), all[0].Order, tail)
	// A flood: the first lines are there, then only the newest ones came. More at once than are kept are not all put.
	expect.NoError(t, w.AppendLog(t.Context(), w.ref, "B", entries("B", 0, 20), nil))
	flood := entries("B", 9000, 600)
	expect.NoError(t, w.AppendLog(t.Context(), w.ref, "B", flood, []int{0, 1, 2, 9000, 9099}))
	all = expect.Value(w.Log(t.Context(), w.ref, "B", 0))(t)
	expect.That(t, len(all) == 517 && all[0].Order == 3 && all[17].Order == 9100 && all[516].Order == 9599,
		"%d lines from %d", len(all), all[0].Order)
}
