package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// mentioned are the fields of a message in a channel that mentions Ringi.
func mentioned(text string, more map[string]any) map[string]any {
	out := map[string]any{"type": "app_mention", "channel": "C0HR", "text": "<@U0BOT> " + text}
	merge(out, more)
	return out
}

// In a channel an agent's id and a colon behind the mention open a conversation, in a thread, too; nothing else does.
func TestAMentionThatCallsAnAgentOpensAConversation(t *testing.T) {
	agents := custom(func(s *tenancy.Settings) { s.DMDefault = "agent" })
	for _, tt := range []struct{ name, text, thread, agent, kept string }{
		{"a built-in agent", "claude: テストを直して", "", "claude", "テストを直して"},
		{"with a full-width colon", "Codex：直して", "", "codex", "直して"},
		{"one of the settings", "doc-bot: write", "", "doc-bot", "write"},
		{"within a thread", "claude: これを直して", "1776675000.000100", "claude", "これを直して"},
		{"a name without a colon", "claude の費用をまとめて", "", "", ""},
		{"no name, though direct messages are the default agent's", "勤怠をまとめて", "", "", ""},
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
				s.Conversation.ChannelType != "im" && !s.Conversation.Unnamed &&
				s.Conversation.ThreadTS == thread && (s.Conversation.ThreadBefore != "") == (tt.thread != "") &&
				k.said()[0].Content == tt.kept, "%+v, said %+v", s.Conversation, k.said()[0])
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

// In the thread of one agent's conversation another agent's name is answered by neither: people are told how to begin.
func TestAnotherAgentsNameInAThreadIsAnswered(t *testing.T) {
	for _, in := range []func(string, map[string]any) map[string]any{direct, mentioned} {
		for text, detail := range map[string]string{"codex: 見て": "claude/codex", "CODEX@shop、見て": "claude/codex", "claude: 見て": "",
			"codex は速い": "", "見て": ""} {
			k := &kept{}
			h := handler(k)
			post(t, h, signed(callback(t, in("claude: hi", nil), nil)))
			said := len(k.told)
			out := post(t, h, signed(callback(t, in(text, map[string]any{"ts": "1776675602.000100", "thread_ts": root}), nil)))
			expect.Is(t, out.StatusCode, 200)
			if detail == "" {
				expect.That(t, len(k.told) == said+1 && len(k.changes) == 0, "%q: told %d, made %d", text, len(k.told), len(k.changes))
				continue
			}
			expect.Must(t, len(k.told) == said && len(k.changes) == 1, "%q: told %d, made %d", text, len(k.told), len(k.changes))
			ended := k.ends(t)
			expect.That(t, ended.Reason == task.ReasonOtherAgent && ended.Detail == detail, "%+v", ended)
			expect.Is(t, k.request(t).Text, "")
		}
	}
}

// A name that is almost an agent's is asked about, once: no conversation, no request, no model.
func TestANearMissIsAskedAbout(t *testing.T) {
	for about, tt := range map[string]struct {
		fields map[string]any
		detail string // empty: a request
	}{
		"in a channel":               {mentioned("claud: 直して", nil), "claud/claude"},
		"in a thread of a channel":   {mentioned("cluade：直して", map[string]any{"thread_ts": "1776675000.000100"}), "cluade/claude"},
		"directly":                   {direct("codx: 直して", nil), "codx/codex"},
		"without a colon":            {mentioned("claud 直して", nil), ""},
		"directly without a colon":   {direct("claud 直して", nil), ""},
		"a word that is nobody's id": {mentioned("cloud: 費用をまとめて", nil), ""},
	} {
		t.Run(about, func(t *testing.T) {
			k := &kept{}
			expect.Is(t, post(t, handler(k), signed(callback(t, tt.fields, nil))).StatusCode, 200)
			expect.Must(t, len(k.changes) == 1 && len(k.told) == 0, "made %d tasks, said %v", len(k.changes), k.said())
			head := k.changes[0].Head.(*task.Head)
			if tt.detail == "" {
				expect.That(t, head.Ended == nil, "%+v", head.Ended)
				return
			}
			expect.Must(t, head.Ended != nil && head.Ended.Reason == task.ReasonAgentMeant && head.Ended.Detail == tt.detail,
				"%+v", head.Ended)
			expect.That(t, !strings.Contains(fmt.Sprintf("%+v", k.request(t)), "直して"), "the text is saved: %+v", k.request(t))
		})
	}
}
