package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
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
		{ID: "doc-bot", Provider: agent.Local, Endpoint: "http://127.0.0.1:9", Capabilities: []agent.Capability{agent.Code},
			IsDefault: true},
		{ID: "broken", Provider: agent.HTTP, Capabilities: []agent.Capability{agent.Code}},
	}
	change(&s)
	return s
}

// A conversation whose first message tells no language begins in the workspace's of now, whatever is cached.
func TestAConversationBeginsInTheLanguageOfNow(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for n, locale := range language.All {
		k.settings = custom(func(s *tenancy.Settings) { s.Locale = locale })
		post(t, h, signed(callback(t, direct("claude: 1", map[string]any{"ts": fmt.Sprintf("177667560%d.000100", n)}), nil)))
		began := k.said()[n].SessionID
		expect.Is(t, k.opened[began].Conversation.Locale, locale, "the language of conversation %d", n)
	}
}

func TestADirectMessageThatNamesAnAgentOpensAConversation(t *testing.T) {
	task := custom(func(*tenancy.Settings) {})
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
		{"nothing but a name", task, "claude:", "claude", "claude:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{settings: tt.settings}
			out := post(t, handler(k), signed(callback(t, direct(tt.text, nil), nil)))
			expect.Must(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
			if tt.agent == "" {
				expect.That(t, k.request(t).Text == tt.text && len(k.told) == 0, "kept %+v and said %v", k.changes, k.said())
				return
			}
			s := k.opened[conversation.ID("T0TEAM", "D0DM", root)]
			expect.That(t, s != nil && len(k.changes) == 0 && s.Conversation.AgentID == tt.agent &&
				k.said()[0].Content == tt.kept && len(s.Inbox) == 1, "opened %+v, said %v, made %d tasks", s, k.said(),
				len(k.changes))
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
			"files": []any{map[string]any{"id": "F1", "name": "a.txt", "mimetype": "text/plain", "size": 12},
				map[string]any{"id": "<!here>"}},
		}), nil))).StatusCode
	}
	got := reply("<@U0BOT> go on", root, "1776675600.000100")
	expect.Must(t, got == 200 && len(k.said()) == 2 && len(k.changes) == 0, "answered %d, said %v", got, k.said())
	m := k.said()[1]
	if m.Content != "go on" || m.User != "U0ALICE" || !slices.Equal(m.Attachments,
		[]conversation.Attachment{{Kind: "unread", Name: "a.txt", Type: "text/plain", FileID: "F1", Bytes: 12}}) {
		t.Errorf("said %+v", m)
	}
	for i, subtype := range []string{"thread_broadcast", "me_message"} {
		fields := map[string]any{"thread_ts": root, "ts": fmt.Sprintf("177667560%d.000200", i), "subtype": subtype}
		post(t, h, signed(callback(t, direct(subtype, fields), nil)))
		expect.That(t, k.said()[len(k.said())-1].Content == subtype, "a %s vanished: %v", subtype, k.said())
	}
	k.told = k.told[:2]
	got = reply("elsewhere", "1776675000.000100", "1776675601.000100")
	expect.That(t, got == 200 && len(k.said()) == 2 && len(k.changes) == 0 && len(h.Slack.(*noting).notes) == 1,
		"a reply in another thread was answered %d: said %v, wrote %d", got, k.said(), len(k.changes))
}

func TestWhatAnAgentIsToldMayBeDeliveredAgain(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for range 3 {
		out := post(t, h, signed(callback(t, direct("claude: hi", nil), nil)))
		expect.Must(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
	}
	expect.That(t, len(k.told) == 1 && len(k.changes) == 0, "%d conversations, %d tasks", len(k.told), len(k.changes))
	k = &kept{err: errors.New("the table is away")}
	out := post(t, handler(k), signed(callback(t, direct("claude: hi", nil), nil)))
	expect.That(t, out.StatusCode == 503, "answered %d, so that Slack sends it never again", out.StatusCode)
}

func TestTheStopButtonEndsWhatTheAgentDoes(t *testing.T) {
	stop := func(h *Handler, user, thread string) int {
		return post(t, h, signed(callback(t, map[string]any{
			"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM", "thread_ts": thread, "user": user,
			"streaming_message_ts": []any{}, "event_ts": "1776675601.000200",
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
	expect.Is(t, stop(h, "U0ALICE", root), 200, "nothing to stop was answered")
	expect.Same(t, 200, stop(h, "U0ALICE", "1.000001"))
	expect.Same(t, 400, stop(h, "U0ALICE", "soon"))

	x := &conversation.Action{Number: 1, ActionID: aggregate.Derive(now, "x"), Status: conversation.ActionExecuting,
		Claim: &aggregate.Claim{Invocation: "i", LeaseUntil: now.Add(time.Minute)},
		Gate:  aggregate.Gate{Status: aggregate.Approved}}
	a := k.opened[id]
	a.Conversation.Actions, a.Conversation.Status, a.Head.Acting = 1, conversation.Executing, x.ActionID
	a.Add(x)
	got := stop(h, "U0ALICE", root)
	expect.That(t, got == 200 && k.opened[id].Action(x.ActionID).Status == conversation.ActionCancelled &&
		k.opened[id].Head.Acting == "", "answered %d: the action is %+v", got, k.opened[id].Action(x.ActionID))

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

// mentioned are the fields of a message in a channel that mentions Ringi.
func mentioned(text string, more map[string]any) map[string]any {
	out := map[string]any{"type": "app_mention", "channel": "C0HR", "text": "<@U0BOT> " + text}
	merge(out, more)
	return out
}

// In a channel an agent's id and a colon behind the mention open a conversation, in a thread, too; nothing else does.
func TestAMentionThatCallsAnAgentOpensAConversation(t *testing.T) {
	agents := custom(func(*tenancy.Settings) {})
	for _, tt := range []struct{ name, text, thread, agent, kept string }{
		{"a built-in agent", "claude: テストを直して", "", "claude", "テストを直して"},
		{"in English", "claude: fix the tests", "", "claude", "fix the tests"},
		{"with a full-width colon", "Codex：直して", "", "codex", "直して"},
		{"one of the settings", "doc-bot: write", "", "doc-bot", "write"},
		{"within a thread", "claude: これを直して", "1776675000.000100", "claude", "これを直して"},
		{"a name without a colon", "claude の費用をまとめて", "", "", ""},
		{"no name", "勤怠をまとめて", "", "", ""},
		{"no name within a thread", "勤怠をまとめて", "1776675000.000100", "", ""},
		{"nobody's name", "memo: 勤怠をまとめて", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, more, thread := &kept{settings: agents}, map[string]any{}, root
			if tt.thread != "" {
				more["thread_ts"], thread = tt.thread, tt.thread
			}
			h := handler(k)
			for range 2 { // Slack may deliver it twice
				expect.Is(t, post(t, h, signed(callback(t, mentioned(tt.text, more), nil))).StatusCode, 200)
			}
			if tt.agent == "" {
				expect.That(t, len(k.told) == 0 && len(k.changes) > 0 && k.changes[0].Head.(*task.Head).Ended == nil,
					"said %v, made %d tasks", k.said(), len(k.changes))
				return
			}
			s := k.opened[conversation.ID("T0TEAM", "C0HR", thread)]
			expect.Must(t, s != nil && len(k.changes) == 0, "opened %v, made %d tasks", k.opened, len(k.changes))
			expect.That(t, s.Conversation.AgentID == tt.agent && s.Conversation.Channel == "C0HR" &&
				s.Conversation.ChannelType != "im" &&
				s.Conversation.ThreadTS == thread && (s.Conversation.ThreadBefore != "") == (tt.thread != "") &&
				k.said()[0].Content == tt.kept, "%+v, said %+v", s.Conversation, k.said()[0])
			expect.Is(t, s.Conversation.Locale, language.Detect(tt.kept, "ja"), "the language of its cards")
		})
	}
}

// What mentions Ringi in that thread is the agent's, whoever writes, also when two open it in the same moment.
func TestAMentionInAConversationsThreadIsTheAgents(t *testing.T) {
	k := &kept{}
	h := handler(k)
	in := func(text, ts, user string) int {
		return post(t, h, signed(callback(t, mentioned(text, map[string]any{"thread_ts": root, "ts": ts, "user": user}),
			nil))).StatusCode
	}
	expect.Is(t, in("claude: 見て", "1776675600.000100", "U0ALICE"), 200)
	expect.Is(t, in("こちらも", "1776675601.000100", "U0BOB"), 200)
	expect.That(t, len(k.said()) == 2 && k.said()[1].User == "U0BOB" && k.said()[1].Content == "こちらも" &&
		len(k.changes) == 0, "said %v, made %d tasks", k.said(), len(k.changes))

	late := &atOnce{kept: &kept{}}
	h = handler(late.kept)
	h.Conversations = late
	expect.Is(t, in("claude: 見て", "1776675600.000100", "U0ALICE"), 200)
	expect.That(t, late.tells == 2, "the second one's message is gone: told %d times", late.tells)
}

// atOnce is a table in which somebody else opens the conversation between the two writes.
type atOnce struct {
	*kept
	tells int
}

func (a *atOnce) Tell(context.Context, aggregate.Ref, aggregate.Change) error {
	a.tells++
	if a.tells == 1 {
		return aggregate.ErrNotFound
	}
	return nil
}

func (a *atOnce) Begin(context.Context, aggregate.Change) error { return store.ErrExists }

// In the thread of one agent's conversation what begins with another agent's name is that one's, too.
func TestAnotherAgentsNameInAThreadIsToTheThreadsAgent(t *testing.T) {
	for _, in := range []func(string, map[string]any) map[string]any{direct, mentioned} {
		for _, text := range []string{"codex: 見て", "CODEX@shop、見て", "claude: 見て", "codex は速い", "見て"} {
			k := &kept{}
			h := handler(k)
			post(t, h, signed(callback(t, in("claude: hi", nil), nil)))
			said := len(k.told)
			out := post(t, h, signed(callback(t, in(text, map[string]any{"ts": "1776675602.000100", "thread_ts": root}), nil)))
			expect.Is(t, out.StatusCode, 200)
			expect.That(t, len(k.told) == said+1 && len(k.changes) == 0, "%q: told %d, made %d", text, len(k.told),
				len(k.changes))
		}
	}
}
