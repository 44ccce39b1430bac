package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/table"
)

// inConversation is a conversation that Sato began in direct messages, with a Slack that shows it.
type inConversation struct {
	*world
	ringitest.Talk
	channel string
	thread  string
}

func newConversation(t *testing.T, db *storetest.Server) *inConversation {
	t.Helper()
	return conversationThatIs(t, db, true)
}

func conversationThatIs(t *testing.T, db *storetest.Server, kept bool) *inConversation {
	t.Helper()
	w := newWorld(t, db)
	_, table := db.Store(t)
	s := store.New(db.DB, table, conversation.Kind)
	rows := store.ConversationsOf(s)
	rows.Now = w.Now
	w.h = w.handler()
	w.h.Store, w.h.Inbox.Rows, w.h.Inbox.Store = s, s, store.TasksOf(s)
	w.h.Said = rows
	k := &inConversation{world: w}
	k.channel = expect.Value(w.slack.Client.OpenDM(t.Context(), webapi.Sato))(t)
	k.thread = w.slack.Say(t, webapi.Sato, k.channel, "claude: テストを直して")
	k.Talk = ringitest.Begin(t, rows, w.Now, conversation.Inbound{Team: ringitest.Team, Channel: k.channel,
		ChannelType: "im", Thread: k.thread, TS: k.thread, User: webapi.Sato, Text: "テストを直して"},
		conversation.Opening{AgentID: "claude", IsCached: kept, Locale: "ja"})
	k.By, k.Tick = w.By, func() { w.Later(time.Second) }
	k.Under = ringitest.Policy()
	return k
}

// asking is the message about the cards as they are.
func (k *inConversation) asking() string {
	k.T.Helper()
	return asking(k.Ref, *expect.Value(k.Rows.KindStore.Load(k.T.Context(), k.Ref))(k.T).Root().Common())
}

// drawn draws, and checks these texts in the thread in this order, and the agent's status in Slack.
func (k *inConversation) drawn(status string, texts ...string) {
	k.T.Helper()
	expect.Must(k.T, k.send(k.asking()), "given back for %v s", k.queue.hidden)
	thread := k.slack.Thread(k.T, k.channel, k.thread)
	expect.Must(k.T, len(thread) == len(texts), "the thread shows %d messages, want %q: %+v", len(thread), texts, thread)
	for i, m := range thread {
		text := expect.JSON(m)
		expect.That(k.T, strings.Contains(text, texts[i]), "message %d is %s, want %q", i, text, texts[i])
	}
	got := ""
	for _, s := range k.slack.Sessions(k.channel) {
		if s.ThreadTS == k.thread {
			got = s.Status
		}
	}
	expect.That(k.T, got == status, "the agent is %q, want %q", got, status)
}

// The card of a conversation that is forgotten has no button that would do nothing, and what was said stays in Slack.
func TestTheCardOfAForgottenConversationOffersNothing(t *testing.T) {
	k := conversationThatIs(t, storetest.Start(t), false)
	k.Answer("はい", nil)
	k.End()
	k.drawn("closed", "はい", "会話を再開")
	k.Later(25 * time.Hour)
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		expect.Must(t, !a.Effects(k.Now()).Cards, "cards are drawn before anything changed")
		return a.Overdue(k.Now())[0].Decide(a)
	})
	a := expect.Value(k.Rows.KindStore.Load(t.Context(), k.Ref))(t)
	expect.Must(t, a.Head.ForgettingAt != nil && a.Effects(k.Now()).Cards, "nobody asks for the cards: %+v", a.Head)
	k.drawn("closed", "はい", "再開できなくなりました")
	for _, m := range k.slack.Thread(t, k.channel, k.thread) {
		text := expect.JSON(m)
		expect.That(t, !strings.Contains(text, "会話を再開"), "the button is there: %s", text)
	}
	a = expect.Value(k.Rows.KindStore.Load(t.Context(), k.Ref))(t)
	expect.That(t, !a.Effects(k.Now()).Cards, "they are drawn again and again: %+v", a.Head)
	pk := conversation.Kind.Prefix + k.Ref.Tenant + "#" + k.Ref.ID
	n, err := k.Rows.Table().Erase(t.Context(), pk, func(it table.Item) bool {
		return table.TextOf(it, "SK") == aggregate.HeadKey
	})
	expect.That(t, err == nil && n > 0, "%d rows are deleted: %v", n, err)
	k.drawn("closed", "はい", "再開できなくなりました") // a late message of the queue asks for nothing
}

// A conversation from its first message to its end: an answer comes before its action's card, and nothing is shown
// twice.
func TestAConversationIsDrawn(t *testing.T) {
	k := newConversation(t, storetest.Start(t))
	k.drawn("processing")
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.ReadOn(a.Head.Run, a.Waiting(), conversation.Reading{Of: a.Waiting()[0].Message,
			Read: []conversation.Read{{Tool: "read_file", Path: "src/main.go"}}}, conversation.Answer{}, k.Now())
	})
	k.drawn("processing")
	expect.Has(t, k.slack.Sessions(k.channel)[0].Waiting, "src/main.go", "what the agent reads is not said")
	p := conversation.Payload{Script: "make test", TimeoutSeconds: 60, Stamped: conversation.Stamped{Base: new("")}}
	x := k.Answer("**まず** 試します。", &conversation.Proposal{Type: conversation.ShellCommand,
		Payload: ringitest.InRow(p.JSON()), Seconds: 60,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24}}).Current()
	k.drawn("suspended", "**まず** 試します。", "操作 #1 の確認")
	k.Approve()
	k.Wake()
	k.Claim()
	k.drawn("processing", "**まず** 試します。", "操作 #1 を実行中")

	line := func(order int) conversation.LogEntry {
		return conversation.LogEntry{LogID: fmt.Sprint(order), ActionID: x.ActionID, Order: order,
			Text: fmt.Sprintf("line %d", order), CreatedAt: k.Now(), DeleteAfter: time.Now().Add(time.Hour).Unix()}
	}
	var lines []conversation.LogEntry
	for i := range 15 {
		lines = append(lines, line(i))
	}
	expect.NoError(t, k.Rows.AppendLog(t.Context(), k.Ref, x.ActionID, lines, nil))
	expect.NoError(t, k.Rows.Redraw(t.Context(), k.Ref))
	k.drawn("processing", "**まず** 試します。", "line 5\\nline 6")

	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Lines: 15})
	k.drawn("processing", "**まず** 試します。", "操作 #1 完了")
	long := strings.Repeat("とても長い答えです。\n", 700)
	k.Answer(long, nil)
	parts := conversation.Parts(long)
	want := []string{"**まず** 試します。", "line 14"}
	for range parts {
		want = append(want, "とても長い答えです。")
	}
	k.drawn("active", want...)
	k.drawn("active", want...)

	k.End()
	k.drawn("closed", append(want, "reopen_session")...)
}

// callers is a world in which keys ask for calls.
type callers struct {
	*world
	all   *store.Store
	calls store.CallStore
}

func withCalls(w *world) *callers {
	k := &callers{world: w, all: store.New(w.Store.Table().DB, w.Store.Table().Name, store.Kinds()...)}
	k.calls = store.CallsOf(k.all)
	k.h.Store = k.all
	return k
}

func (k *callers) key() tenancy.Key {
	k.T.Helper()
	key, _, err := k.all.CreateKey(k.T.Context(), tenancy.Key{TenantID: k.Ref.Tenant, Team: ringitest.Team, Name: "締め",
		Answers: webapi.Sato, Tools: []string{"Bash"}, Channel: webapi.HR, QuotaDay: 99,
		ExpiresAt: k.Now().Add(time.Hour)}, k.By, k.Now())
	expect.NoError(k.T, err)
	return key
}

func (k *callers) asks(key tenancy.Key, command string) *call.Aggregate {
	k.T.Helper()
	x := call.Proposal{Key: key, Effect: command, Terms: tenancy.DefaultSettings().ActionTerms(k.Now()),
		Content: call.Content{Tool: "Bash", Arguments: `{"command":` + strconv.Quote(command) + `}`, Elsewhere: true}}
	k.Later(10 * time.Millisecond)
	a, err := k.calls.Ask(k.T.Context(), &x, expect.Value(x.Ask(k.Now()))(k.T))
	expect.NoError(k.T, err)
	return a
}

// drawn handles the message about a call's card, and reports whether it was handled.
func (k *callers) drawn(a *call.Aggregate) bool {
	k.T.Helper()
	return k.send(asking(a.Ref(), k.load(a).Head.Head))
}

func (k *callers) load(a *call.Aggregate) *call.Aggregate {
	k.T.Helper()
	return expect.Value(k.calls.Load(k.T.Context(), a.Ref()))(k.T)
}

// shown are the channel's messages of calls, as JSON.
func (k *callers) shown() (all []string) {
	k.T.Helper()
	for _, m := range expect.Value(k.slack.History(webapi.HR, webapi.Range{}))(k.T) {
		if text := expect.JSON(m.Attachments); strings.Contains(text, "締め") {
			all = append(all, text)
		}
	}
	return all
}

// Calls that a key asks for at once have a message each, with buttons of its own.
func TestEachCallHasItsMessage(t *testing.T) {
	k := withCalls(newWorld(t, storetest.Start(t)))
	key := k.key()
	for _, a := range []*call.Aggregate{k.asks(key, "rm one"), k.asks(key, "rm two")} {
		expect.Must(t, k.drawn(a), "given back")
		expect.That(t, !k.load(a).Effects(k.Now()).Cards, "something is left to draw")
	}
	all := k.shown()
	expect.Must(t, len(all) == 2, "%v", all)
	for _, m := range all {
		expect.Is(t, strings.Count(m, "approve_call"), 1)
	}
}
