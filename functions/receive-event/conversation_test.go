package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

const root = "1776675599.000100"

// direct are the fields of a direct message, mentioned those of a message in a channel that mentions Ringi.
func direct(text string, more map[string]any) map[string]any {
	return with(map[string]any{"type": "message", "channel": "D0DM", "channel_type": "im", "text": text}, more)
}

func mentioned(text string, more map[string]any) map[string]any {
	return with(map[string]any{"type": "app_mention", "channel": "C0HR", "text": "<@U0BOT> " + text}, more)
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
	s.Agents = []tenancy.Agent{
		{ID: "doc-bot", Provider: tenancy.LocalEndpoint, Endpoint: "http://127.0.0.1:9", IsDefault: true,
			Capabilities: []tenancy.Capability{tenancy.CanCode}},
		{ID: "broken", Provider: tenancy.HTTPEndpoint, Capabilities: []tenancy.Capability{tenancy.CanCode}},
	}
	change(&s)
	return s
}

// fromShop lists the source "shop", and some that Alice and these agents can't use.
func fromShop(s *tenancy.Settings) {
	shop := tenancy.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", Path: "pay", RepositoryID: 7,
		People: []string{tenancy.Everybody}, Agents: []string{"claude", "doc-bot"}, CI: tenancy.CISkip}
	hr, codex, unasked := shop, shop, shop
	hr.Name, hr.People = "hr", []string{"U0ELSE"}
	codex.Name, codex.Agents = "tools", []string{"codex"}
	unasked.Name, unasked.RepositoryID = "unasked", 0
	s.Sources = []tenancy.Source{shop, hr, codex, unasked}
}

// A message that names an agent opens a conversation with it, from the source that it names; in a channel the name
// needs its colon. Any other message is a request, and a source that can't be used there is refused.
func TestWhomAMessageIsTo(t *testing.T) {
	const inChannel, inThread, between = "channel", "thread", "shared with others"
	for _, tt := range []struct {
		in, text, agent, kept, source string // no agent: a request
		refused                       string // detail of the refusal
	}{
		{text: "claude: テストを直して", agent: "claude", kept: "テストを直して"},
		{text: "Codex：fix the tests", agent: "codex", kept: "fix the tests"},
		{text: "doc-bot: write", agent: "doc-bot", kept: "write"}, // which this function can't reach
		{text: "claude テストを直して", agent: "claude", kept: "テストを直して"},
		{text: "Claude、テストを直して", agent: "claude", kept: "テストを直して"},
		{text: "codex\nテストを直して", agent: "codex", kept: "テストを直して"},
		{text: "codex", agent: "codex", kept: "codex"},
		{text: "claude:", agent: "claude", kept: "claude:"},
		{text: "claude-code の費用をまとめて"},
		{text: "claudeさんに送って"},
		{text: "broken: write"}, // an entry that is not valid
		{text: "メモ: 勤怠をまとめて"},
		{text: "勤怠をまとめて"},
		{in: inChannel, text: "claude: テストを直して", agent: "claude", kept: "テストを直して"},
		{in: inChannel, text: "Codex：fix the tests", agent: "codex", kept: "fix the tests"},
		{in: inThread, text: "claude: これを直して", agent: "claude", kept: "これを直して"},
		{in: inChannel, text: "claude の費用をまとめて"},
		{in: inChannel, text: "memo: 勤怠をまとめて"},
		{in: inThread, text: "勤怠をまとめて"},
		{in: inThread, text: "claude の費用をまとめて"},
		{text: "Claude＠shop：直して", agent: "claude", kept: "直して", source: "shop"},
		{text: "claude@SHOP fix it", agent: "claude", kept: "fix it", source: "shop"},
		{text: "doc-bot@shop、書いて", agent: "doc-bot", kept: "書いて", source: "shop"},
		{in: inChannel, text: "claude@shop: 直して", agent: "claude", kept: "直して", source: "shop"},
		{text: "claude@none: fix", refused: "none/shop"},
		{text: "claude@: fix", refused: "/shop"},
		{text: "claude@hr: fix", refused: "hr/shop"},           // other people's
		{text: "claude@tools: fix", refused: "tools/shop"},     // another agent's
		{text: "claude@unasked: fix", refused: "unasked/shop"}, // which GitHub was not asked for
		{text: "claude@<!here>: fix", refused: "here/shop"},
		{in: between, text: "claude@shop: fix", refused: "shop/"},
		{text: "メモ@shop: fix"},
		{text: "claude@example.com に送って"},
	} {
		t.Run(tt.in+" "+tt.text, func(t *testing.T) {
			k, thread, outer := &kept{settings: custom(fromShop)}, root, map[string]any(nil)
			fields, channel, kind := direct(tt.text, map[string]any{"user_team": "T0TEAM"}), "D0DM", "im"
			switch tt.in {
			case inThread:
				thread = "1776675000.000100"
				fields, channel, kind = mentioned(tt.text, map[string]any{"thread_ts": thread}), "C0HR", "channel"
			case inChannel:
				fields, channel, kind = mentioned(tt.text, nil), "C0HR", "channel"
			case between:
				outer = map[string]any{"is_ext_shared_channel": true}
			}
			h := handler(k)
			for range 2 { // Slack may deliver it twice
				expect.Must(t, send(t, h, fields, outer).StatusCode == 200, "it is not accepted")
			}
			opened := k.opened[conversation.ID("T0TEAM", channel, thread)]
			switch {
			case tt.refused != "":
				ended := k.changes[0].Head.(*task.Head).Ended
				expect.Must(t, opened == nil && ended != nil && ended.Reason == task.ReasonNoSource, "%+v", ended)
				expect.Same(t, tt.refused, ended.Detail)
				k.changes = k.changes[:1]
				expect.Same(t, "", k.request(t).Text)
			case tt.agent == "":
				k.changes = k.changes[:1]
				expect.That(t, opened == nil && k.request(t).Text == tt.text &&
					k.changes[0].Head.(*task.Head).Ended == nil, "%+v", k.changes)
			default:
				expect.Must(t, opened != nil && len(k.changes) == 0, "opened %+v", k.opened)
				c, from := opened.Conversation, ""
				if c.Source != nil {
					from = c.Source.Name
					expect.Same(t, &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7,
						Ref: "heads/main", Path: "pay", State: conversation.SourceWanted}, c.Source)
				}
				expect.Same(t, []string{tt.agent, tt.kept, tt.source, channel, kind, thread},
					[]string{c.AgentID, k.said()[0].Content, from, c.Channel, c.ChannelType, c.ThreadTS})
				if tt.kept != tt.text { // more than the agent's name
					expect.Is(t, c.Locale, language.Detect(tt.kept, "ja"), "the language of its cards")
				}
				expect.Is(t, c.ThreadBefore != "", tt.in == inThread, "what was said before is read")
			}
		})
	}
}

// An administrator saves settings while earlier ones are cached: a listed source can be named, and a conversation whose
// first message tells no language begins in the workspace's.
func TestSettingsOfNowAreAskedForAtTheBeginning(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for n, locale := range language.All {
		k.settings = custom(func(s *tenancy.Settings) { s.Locale = locale })
		send(t, h, direct("claude: 1", map[string]any{"ts": fmt.Sprintf("177667560%d.000100", n)}))
		expect.Is(t, k.opened[k.said()[n].SessionID].Conversation.Locale, locale, "the language of conversation %d", n)
	}
	k.settings = custom(fromShop)
	send(t, h, direct("claude@shop: 直して", map[string]any{"user_team": "T0TEAM", "ts": "1775034000.000300"}))
	opened := k.opened[conversation.ID("T0TEAM", "D0DM", "1775034000.000300")]
	expect.That(t, opened != nil && opened.Conversation.Source != nil, "the source is not known: %+v", opened)
}

// Whatever it begins with, what is written in a conversation's thread is its agent's: in direct messages all of it, in
// a channel what mentions Ringi, whoever writes.
func TestWhatIsWrittenInAConversationsThreadIsTheAgents(t *testing.T) {
	for _, in := range []func(string, map[string]any) map[string]any{direct, mentioned} {
		for _, text := range []string{"codex: 見て", "CODEX@shop、見て", "claude: 見て", "codex は速い", "見て"} {
			k := &kept{}
			h := handler(k)
			send(t, h, in("claude: hi", nil))
			send(t, h, in(text, map[string]any{"ts": "1776675602.000100", "thread_ts": root, "user": "U0BOB"}))
			expect.Must(t, len(k.said()) == 2 && len(k.changes) == 0, "%q: said %v, made %d", text, k.said(), len(k.changes))
			expect.Is(t, k.said()[1].User, "U0BOB")
		}
	}
	k := &kept{}
	h := handler(k)
	send(t, h, direct("claude: hi", nil))
	file := map[string]any{"subtype": "file_share", "files": []any{map[string]any{"id": "F1", "name": "a.txt",
		"mimetype": "text/plain", "size": 12}, map[string]any{"id": "<!here>"}}}
	reply := func(text, thread, ts string, more map[string]any) {
		expect.Is(t, send(t, h, direct(text, with(map[string]any{"thread_ts": thread, "ts": ts}, more))).StatusCode, 200)
	}
	reply("<@U0BOT> go on", root, "1776675600.000100", file)
	m := k.said()[1]
	expect.That(t, m.Content == "go on" && m.User == "U0ALICE" && slices.Equal(m.Attachments,
		[]conversation.Attachment{{Kind: "unread", Name: "a.txt", Type: "text/plain", FileID: "F1", Bytes: 12}}), "%+v", m)
	for i, subtype := range []string{"thread_broadcast", "me_message"} {
		reply("x", root, fmt.Sprintf("177667560%d.000200", i), map[string]any{"subtype": subtype})
		expect.Is(t, len(k.said()), 3+i, "messages after a %s", subtype)
	}
	reply("elsewhere", "1776675000.000100", "1776675601.000100", nil)
	expect.That(t, len(k.said()) == 4 && len(k.changes) == 0 && len(h.Slack.(*noting).notes) == 1,
		"of another thread: said %v, wrote %d", k.said(), len(k.changes))
}

func TestWhatAnAgentIsToldMayBeDeliveredAgain(t *testing.T) {
	k := &kept{}
	h := handler(k)
	for range 3 {
		expect.Is(t, send(t, h, direct("claude: hi", nil)).StatusCode, 200)
	}
	expect.That(t, len(k.told) == 1 && len(k.changes) == 0, "%d conversations, %d tasks", len(k.told), len(k.changes))
	k = &kept{err: errors.New("the table is away")}
	expect.Is(t, send(t, handler(k), direct("claude: hi", nil)).StatusCode, 503, "Slack sends it again")

	late := &atOnce{kept: &kept{}}
	h = handler(late.kept)
	h.Conversations = late
	reply := map[string]any{"thread_ts": root, "ts": "1776675600.000100"}
	expect.Is(t, send(t, h, mentioned("claude: 見て", reply)).StatusCode, 200)
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

func (a *atOnce) Begin(context.Context, aggregate.Change) error { return aggregate.ErrExists }

func TestTheStopButtonEndsWhatTheAgentDoes(t *testing.T) {
	stop := func(h *Handler, user, thread string) int {
		return send(t, h, map[string]any{"type": "agent_session_stopped", "text": nil, "ts": nil, "channel": "D0DM",
			"thread_ts": thread, "user": user, "streaming_message_ts": []any{}, "event_ts": "1776675601.000200"}).StatusCode
	}
	k := &kept{}
	h := handler(k)
	send(t, h, direct("claude: hi", nil))
	id := conversation.ID("T0TEAM", "D0DM", root)
	expect.Is(t, stop(h, "U0MALLORY", root), 200, "another person's stop")
	expect.Is(t, len(k.opened[id].Inbox), 1, "messages after it")
	expect.Is(t, stop(h, "U0ALICE", root), 200)
	expect.Must(t, len(k.opened[id].Inbox) == 0 && k.opened[id].Head.Resting, "%+v", k.opened[id].Head)
	expect.Is(t, stop(h, "U0ALICE", root), 200, "nothing to stop")
	expect.Is(t, stop(h, "U0ALICE", "1.000001"), 200)
	expect.Is(t, stop(h, "U0ALICE", "soon"), 400)

	x := &conversation.Action{Number: 1, ActionID: aggregate.Derive(now, "x"), Status: conversation.ActionExecuting,
		Claim: &aggregate.Claim{Invocation: "i", LeaseUntil: now.Add(time.Minute)},
		Gate:  aggregate.Gate{Status: aggregate.Approved}}
	a := k.opened[id]
	a.Conversation.Actions, a.Conversation.Status, a.Head.Acting = 1, conversation.Executing, x.ActionID
	a.Add(x)
	expect.Is(t, stop(h, "U0ALICE", root), 200)
	a = k.opened[id]
	expect.That(t, a.Action(x.ActionID).Status == conversation.ActionCancelled && a.Head.Acting == "", "%+v", a.Head)

	send(t, h, direct("claude: again", map[string]any{"ts": "1776675602.000100", "thread_ts": root}))
	for err, want := range map[error]int{aggregate.ErrInFlight: 200, aggregate.ErrSuperseded: 200, aggregate.ErrMoved: 200,
		aggregate.ErrConflict: 503, errors.New("a bug"): 503} {
		k.err = err
		expect.Is(t, stop(h, "U0ALICE", root), want, "%v: Slack repeats what may be done later, and nothing else", err)
	}
}
