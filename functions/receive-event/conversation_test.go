package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

const root = "1776675599.000100"

// direct are the fields of a direct message.
func direct(text string, more map[string]any) map[string]any {
	out := map[string]any{"type": "message", "channel": "D0DM", "channel_type": "im", "text": text}
	merge(out, more)
	return out
}

// said returns the messages that were saved.
func (k *kept) said() (out []*conversation.Message) {
	for _, c := range k.told {
		for _, l := range c.Beside {
			out = append(out, l.Row.(*conversation.Message))
		}
	}
	return out
}

func custom(change func(s *tenancy.Settings)) tenancy.Settings {
	s := tenancy.DefaultSettings()
	s.Agents = []agent.Definition{
		{ID: "doc-bot", Provider: agent.Local, Endpoint: "http://127.0.0.1:9", Capabilities: []agent.Capability{agent.Code}, IsDefault: true},
		{ID: "broken", Provider: agent.HTTP, Capabilities: []agent.Capability{agent.Code}},
	}
	change(&s)
	return s
}

// A conversation begins in the workspace's language of now, whatever is cached of its settings.
func TestAConversationBeginsInTheLanguageOfNow(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for n, locale := range language.All {
		k.settings = custom(func(s *tenancy.Settings) { s.Locale = locale })
		post(t, h, signed(callback(t, direct("claude: x", map[string]any{"ts": fmt.Sprintf("177667560%d.000100", n)}), nil)))
		began := k.said()[n].SessionID
		expect.Is(t, k.opened[began].Conversation.Locale, locale, "the language of conversation %d", n)
	}
}

func TestADirectMessageThatNamesAnAgentOpensAConversation(t *testing.T) {
	task, toAgent := custom(func(*tenancy.Settings) {}), custom(func(s *tenancy.Settings) { s.DMDefault = "agent" })
	for _, tt := range []struct {
		name     string
		settings tenancy.Settings
		text     string
		agent    string // empty: a task
		kept     string
	}{
		{"a built-in agent", task, "claude: テストを直して", "claude", "テストを直して"},
		{"in capitals, with a full-width colon", task, "Codex：直して", "codex", "直して"},
		{"one of the settings, which this function can't reach", task, "doc-bot: write", "doc-bot", "write"},
		{"a name and a space", task, "claude テストを直して", "claude", "テストを直して"},
		{"a name and a comma", task, "Claude、テストを直して", "claude", "テストを直して"},
		{"a name and a line", task, "codex\nテストを直して", "codex", "テストを直して"},
		{"a name alone", task, "codex", "codex", "codex"},
		{"a longer name", task, "claude-code の費用をまとめて", "", ""},
		{"a name within a word", task, "claudeさんに送って", "", ""},
		{"an entry that is not valid", task, "broken: write", "", ""},
		{"nobody's name", task, "メモ: 勤怠をまとめて", "", ""},
		{"no name", task, "勤怠をまとめて", "", ""},
		{"no name, and messages are the default agent's", toAgent, "勤怠をまとめて", "doc-bot", "勤怠をまとめて"},
		{"a name, and messages are the default agent's", toAgent, "claude: 直して", "claude", "直して"},
		{"nothing but a name", task, "claude:", "claude", "claude:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{settings: tt.settings}
			if out := post(t, handler(k), signed(callback(t, direct(tt.text, nil), nil))); out.StatusCode != 200 {
				t.Fatal(out.StatusCode, out.Body)
			}
			if tt.agent == "" {
				if k.request(t).Text != tt.text || len(k.told) != 0 {
					t.Errorf("kept %+v and said %v", k.changes, k.said())
				}
				return
			}
			s := k.opened[conversation.ID("T0TEAM", "D0DM", root)]
			if s == nil || len(k.changes) != 0 || s.Conversation.AgentID != tt.agent || k.said()[0].Content != tt.kept ||
				len(s.Inbox) != 1 {
				t.Errorf("opened %+v, said %v, made %d tasks", s, k.said(), len(k.changes))
			}
		})
	}
}

func TestAReplyInAConversationsThreadIsTheAgents(t *testing.T) {
	k := &kept{}
	h := handler(k)
	post(t, h, signed(callback(t, direct("claude: hi", nil), nil)))
	reply := func(text, thread, ts string) int {
		return post(t, h, signed(callback(t, direct(text, map[string]any{
			"thread_ts": thread, "ts": ts, "subtype": "file_share",
			"files": []any{map[string]any{"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 12}, map[string]any{"id": "<!here>"}},
		}), nil))).StatusCode
	}
	if got := reply("<@U0BOT> go on", root, "1776675600.000100"); got != 200 || len(k.said()) != 2 || len(k.changes) != 0 {
		t.Fatalf("answered %d, said %v", got, k.said())
	}
	m := k.said()[1]
	if m.Content != "go on" || m.User != "U0ALICE" || !slices.Equal(m.Attachments, []conversation.Attachment{{Kind: "unread", Name: "a.txt", Type: "text/plain", FileID: "F1", Bytes: 12}}) {
		t.Errorf("said %+v", m)
	}
	for i, subtype := range []string{"thread_broadcast", "me_message"} {
		fields := map[string]any{"thread_ts": root, "ts": fmt.Sprintf("177667560%d.000200", i), "subtype": subtype}
		post(t, h, signed(callback(t, direct(subtype, fields), nil)))
		expect.That(t, k.said()[len(k.said())-1].Content == subtype, "a %s vanished: %v", subtype, k.said())
	}
	k.told = k.told[:2]
	if got := reply("elsewhere", "1776675000.000100", "1776675601.000100"); got != 200 || len(k.said()) != 2 ||
		len(k.changes) != 1 {
		t.Errorf("a reply in another thread was answered %d: said %v, wrote %d", got, k.said(), len(k.changes))
	}
}

func TestWhatAnAgentIsToldMayBeDeliveredAgain(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for range 3 {
		if out := post(t, h, signed(callback(t, direct("claude: hi", nil), nil))); out.StatusCode != 200 {
			t.Fatal(out.StatusCode, out.Body)
		}
	}
	expect.That(t, len(k.told) == 1 && len(k.changes) == 0, "%d conversations, %d tasks", len(k.told), len(k.changes))
	k = &kept{err: errors.New("the table is away")}
	if out := post(t, handler(k), signed(callback(t, direct("claude: hi", nil), nil))); out.StatusCode != 503 {
		t.Errorf("answered %d, so that Slack sends it never again", out.StatusCode)
	}
}

func TestTheStopButtonEndsWhatTheAgentDoes(t *testing.T) {
	stop := func(h *Handler, user, thread string) int {
		return post(t, h, signed(callback(t, map[string]any{
			"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM", "thread_ts": thread, "user": user, "streaming_message_ts": []any{}, "event_ts": "1776675601.000200",
		}, nil))).StatusCode
	}
	k := &kept{}
	h := handler(k)
	post(t, h, signed(callback(t, direct("claude: hi", nil), nil)))
	id := conversation.ID("T0TEAM", "D0DM", root)
	if got := stop(h, "U0MALLORY", root); got != 200 || len(k.opened[id].Inbox) != 1 {
		t.Errorf("another person's stop was answered %d and left %d messages", got, len(k.opened[id].Inbox))
	}
	if got := stop(h, "U0ALICE", root); got != 200 || len(k.opened[id].Inbox) != 0 || !k.opened[id].Head.Resting {
		t.Fatalf("answered %d, left %d messages", got, len(k.opened[id].Inbox))
	}
	if got := stop(h, "U0ALICE", root); got != 200 {
		t.Errorf("nothing to stop was answered %d", got)
	}
	expect.Same(t, 200, stop(h, "U0ALICE", "1.000001"))
	expect.Same(t, 400, stop(h, "U0ALICE", "soon"))

	x := &conversation.Action{
		Number: 1, ActionID: aggregate.Derive(now, "x"), Status: conversation.ActionExecuting,
		Claim: &conversation.Claim{Invocation: "i", LeaseUntil: now.Add(time.Minute)},
		Gate:  aggregate.Gate{Status: aggregate.Approved},
	}
	a := k.opened[id]
	a.Conversation.Actions, a.Conversation.Status, a.Head.Acting = 1, conversation.Executing, x.ActionID
	a.Add(x)
	if got := stop(h, "U0ALICE", root); got != 200 ||
		k.opened[id].Action(x.ActionID).Status != conversation.ActionCancelled || k.opened[id].Head.Acting != "" {
		t.Errorf("answered %d: the action is %+v", got, k.opened[id].Action(x.ActionID))
	}

	post(t, h, signed(callback(t, direct("claude: again", map[string]any{"ts": "1776675602.000100", "thread_ts": root}),
		nil)))
	for err, want := range map[error]int{aggregate.ErrInFlight: 200, aggregate.ErrSuperseded: 200, aggregate.ErrMoved: 200,
		aggregate.ErrConflict: 503, errors.New("a bug"): 503} {
		k.err = err
		if got := stop(h, "U0ALICE", root); got != want {
			t.Errorf("%v was answered %d, want %d: Slack repeats what may be done later, and nothing else", err, got, want)
		}
	}
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
		script, by := aggregate.JSON(fmt.Sprintf(`{"script":"make %d","base":""}`, at.UnixNano())), at.Add(24*time.Hour)
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
		"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM", "thread_ts": root, "user": "U0ALICE", "streaming_message_ts": []any{}, "event_ts": "1776675601.000200",
	}, nil))); out.StatusCode != 200 {
		t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
	a := expect.Value(opened.Load(t.Context(), ref))(t)
	old := expect.Value(opened.Archived(t.Context(), ref.Tenant, ref.ID))(t)
	got := a.Action(x.ActionID)
	expect.That(t, got != nil && got.Status == conversation.ActionCancelled && len(old) != 0 && a.Actions[0].Number != 1,
		"the command is %+v, %d old actions have left", got, len(old))
}
