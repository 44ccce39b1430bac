package main

import (
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestAMessageSaysItsSource(t *testing.T) {
	s := custom(func(s *tenancy.Settings) {
		shop := agent.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", Path: "pay", RepositoryID: 7,
			People: []string{agent.Everybody}, Agents: []string{"claude", "doc-bot"}, CI: agent.CISkip}
		hr, codex, unasked := shop, shop, shop
		hr.Name, hr.People = "hr", []string{"U0ELSE"}
		codex.Name, codex.Agents = "tools", []string{"codex"}
		unasked.Name, unasked.RepositoryID = "unasked", 0
		s.Sources = []agent.Source{shop, hr, codex, unasked}
	})
	shared := map[string]any{"is_ext_shared_channel": true}
	for _, tt := range []struct {
		name, text string
		envelope   map[string]any
		agent      string // of the conversation
		kept       string
		source     string
		refused    string // detail of the refusal
	}{
		{name: "a source", text: "claude@shop: 直して", agent: "claude", kept: "直して", source: "shop"},
		{name: "in full width", text: "Claude＠shop：直して", agent: "claude", kept: "直して", source: "shop"},
		{name: "in capitals, and a space", text: "claude@SHOP fix it", agent: "claude", kept: "fix it", source: "shop"},
		{name: "an agent of the settings", text: "doc-bot@shop、書いて", agent: "doc-bot", kept: "書いて", source: "shop"},
		{name: "no source", text: "claude: 直して", agent: "claude", kept: "直して"},
		{name: "none of this name", text: "claude@none: fix", refused: "none/shop"},
		{name: "no name after the @", text: "claude@: fix", refused: "/shop"},
		{name: "other people's", text: "claude@hr: fix", refused: "hr/shop"},
		{name: "another agent's", text: "claude@tools: fix", refused: "tools/shop"},
		{name: "one that GitHub was not asked for", text: "claude@unasked: fix", refused: "unasked/shop"},
		{name: "what is no name", text: "claude@<!here>: fix", refused: "/shop"},
		{name: "where others read it", text: "claude@shop: fix", envelope: shared, refused: "shop/"},
		{name: "nobody's name", text: "メモ@shop: fix"}, {name: "an e-mail address", text: "claude@example.com に送って"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{settings: s}
			out := post(t, handler(k), signed(callback(t, direct(tt.text, map[string]any{"user_team": "T0TEAM"}), tt.envelope)))
			expect.Must(t, out.StatusCode == 200, "%d %s", out.StatusCode, out.Body)
			opened := k.opened[conversation.ID("T0TEAM", "D0DM", root)]
			switch {
			case tt.agent != "":
				expect.Must(t, opened != nil && opened.Conversation.AgentID == tt.agent && k.said()[0].Content == tt.kept,
					"%+v", opened)
				if tt.source == "" {
					expect.That(t, opened.Conversation.Source == nil, "%+v", opened.Conversation.Source)
					return
				}
				expect.Same(t, &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Ref: "heads/main",
					Path: "pay", State: conversation.SourceWanted}, opened.Conversation.Source)
			case tt.refused != "":
				expect.Must(t, opened == nil && len(k.changes) == 1, "opened %+v, made %d", opened, len(k.changes))
				ended := k.ends(t)
				expect.Same(t, task.ReasonNoSource, ended.Reason)
				expect.Same(t, tt.refused, ended.Detail)
				expect.Same(t, "", k.request(t).Text)
			default:
				expect.That(t, opened == nil && k.request(t).Text == tt.text, "%+v", k.changes)
			}
		})
	}
}

// In a channel the source stands behind the mention, too. The channel's people see the files.
func TestAMentionSaysItsSource(t *testing.T) {
	s := custom(func(s *tenancy.Settings) {
		s.Sources = []agent.Source{{Name: "shop", Repository: "acme/shop", Ref: "heads/main", RepositoryID: 7,
			People: []string{agent.Everybody}, Agents: []string{"claude"}, CI: agent.CISkip}}
	})
	k := &kept{settings: s}
	expect.Is(t, post(t, handler(k), signed(callback(t, mentioned("claude@shop: 直して", nil), nil))).StatusCode, 200)
	opened := k.opened[conversation.ID("T0TEAM", "C0HR", root)]
	expect.That(t, opened != nil && opened.Conversation.Source != nil && opened.Conversation.Source.Name == "shop" &&
		k.said()[0].Content == "直して", "%+v", opened)
}

// An administrator lists a source while the settings are still cached.
func TestASourceCanBeNamedAsSoonAsItIsListed(t *testing.T) {
	k := &kept{settings: custom(func(*tenancy.Settings) {})}
	h := handler(k)
	say := func(text, ts string) {
		over := map[string]any{"user_team": "T0TEAM", "ts": ts}
		expect.Is(t, post(t, h, signed(callback(t, direct(text, over), nil))).StatusCode, 200)
	}
	say("claude: こんにちは", "1775034000.000200")
	k.settings = custom(func(s *tenancy.Settings) {
		s.Sources = []agent.Source{{Name: "shop", Repository: "acme/shop", Ref: "heads/main", RepositoryID: 7,
			People: []string{agent.Everybody}, Agents: []string{"claude"}, CI: agent.CISkip}}
	})
	say("claude@shop: 直して", "1775034000.000300")
	opened := k.opened[conversation.ID("T0TEAM", "D0DM", "1775034000.000300")]
	expect.That(t, opened != nil && opened.Conversation.Source != nil, "the source is not known: %+v", opened)
}

// ends returns how the only task that was made ended.
func (k *kept) ends(t *testing.T) *task.Ended {
	t.Helper()
	head, ok := k.changes[0].Head.(*task.Head)
	expect.Must(t, ok && head.Ended != nil, "%+v", k.changes[0].Head)
	return head.Ended
}
