package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// What Slack or an app writes is nobody's request, also without a bot_id.
func TestWhatNobodyWroteIsIgnored(t *testing.T) {
	direct := func(more map[string]any) map[string]any { return directly("You have been removed from #sales", more) }
	for name, fields := range map[string]map[string]any{
		"Slack's own notice": direct(map[string]any{"user": "USLACKBOT"}),
		"as a client shows it": direct(map[string]any{"user": "USLACKBOT", "user_team": "T0TEAM",
			"user_profile": map[string]any{"name": "slackbot"}}),
		"in a thread":             direct(map[string]any{"user": "USLACKBOT", "thread_ts": root}),
		"a reminder in a channel": {"user": "USLACKBOT", "text": "Reminder: <@U0BOT> 勤怠をまとめて"},
		"to an agent":             directly("claude: hi", map[string]any{"user": "USLACKBOT"}),
		"a bot's by its profile":  direct(map[string]any{"user": "U0APP", "bot_profile": map[string]any{"id": "B7"}}),
		"a bot's by its app":      direct(map[string]any{"user": "U0APP", "app_id": "A7"}),
		"a huddle":                direct(map[string]any{"subtype": "huddle_thread"}),
		"a notice of a channel":   {"type": "message", "subtype": "channel_topic", "text": "<@U0BOT> set the topic"},
	} {
		for _, team := range []any{"T0TEAM", nil} {
			fields["team"] = team
			k := &kept{}
			out := post(t, handler(k), signed(callback(t, fields, nil)))
			expect.That(t, out.StatusCode == 200 && len(k.changes) == 0 && len(k.told) == 0,
				"%s of team %v: answered %d, made %d, told %d", name, team, out.StatusCode, len(k.changes), len(k.told))
		}
	}
	for _, user := range []string{"USLACKBOT", "U0ALICE"} { // nor what changes of it
		k := &kept{}
		h := handler(k)
		post(t, h, signed(callback(t, directly("claude: hi", nil), nil)))
		was := map[string]any{"user": user, "team": "T0TEAM", "ts": root, "text": "a"}
		is := map[string]any{"user": user, "team": "T0TEAM", "ts": root, "text": "b"}
		post(t, h, signed(callback(t, edit(root, "", "b", map[string]any{"message": is, "previous_message": was}), nil)))
		expect.Is(t, len(k.told) == 2, user == "U0ALICE", "an edit of %s's", user)
	}
}

// directly are the fields of a direct message.
func directly(text string, more map[string]any) map[string]any {
	fields := direct(text, nil)
	merge(fields, more)
	return fields
}

// The organization's id says nothing about the workspace: users.info is asked later, as at a click.
func TestAMemberWhomTheEventNamesByTheirOrganizationIsHeard(t *testing.T) {
	org := func(id any) map[string]any {
		return map[string]any{"authorizations": []any{map[string]any{"enterprise_id": id, "team_id": "T0TEAM",
			"user_id": "U0BOT", "is_bot": true}}}
	}
	for _, tt := range []struct {
		name          string
		fields, outer map[string]any
		kept          bool
	}{
		{"by user_team", map[string]any{"user_team": "E0ORG"}, org("E0ORG"), true},
		{"by source_team", map[string]any{"source_team": "E0ORG", "user_team": "E0ORG"}, org("E0ORG"), true},
		{"by team alone", map[string]any{"team": "E0ORG"}, org("E0ORG"), true},
		{"without the installation's organization", map[string]any{"user_team": "E0ORG"}, org(nil), true},
		{"by another's", map[string]any{"user_team": "E0OTHER"}, org("E0ORG"), false},
		{"by another workspace", map[string]any{"user_team": "T0OTHER"}, org("E0ORG"), false},
	} {
		k := &kept{}
		post(t, handler(k), signed(callback(t, tt.fields, tt.outer)))
		expect.Is(t, len(k.changes) == 1, tt.kept, tt.name)
	}
}

// Some of Slack's clients mention the bot by its own id. In channels Slack then sends the message and no app_mention.
func TestTheBotIsMentionedByEitherId(t *testing.T) {
	channel := func(text string) map[string]any {
		return map[string]any{"type": "message", "channel_type": "channel", "text": text}
	}
	reply := func(text string) map[string]any {
		return directly(text, map[string]any{"thread_ts": "1776675000.000200"})
	}
	for _, tt := range []struct {
		name, bot string
		fields    map[string]any
		text      string // of the request; empty: none is made
	}{
		{"in a channel", "B0BOT", channel("<@B0BOT> 勤怠をまとめて"), "勤怠をまとめて"},
		{"another bot in a channel", "B0BOT", channel("<@B0OTHER> 勤怠をまとめて"), ""},
		{"before the first request", "", channel("<@B0BOT> 勤怠をまとめて"), ""},
		{"both ids: app_mention comes, too", "B0BOT", channel("<@U0BOT> <@B0BOT> 勤怠"), ""},
		{"both ids in that", "B0BOT", map[string]any{"text": "<@U0BOT> <@B0BOT|ringi> 勤怠"}, "勤怠"},
		{"in a direct message's thread", "B0BOT", reply("<@B0BOT> 9月で"), "9月で"},
		{"in one before the first request", "", reply("<@B0BOT> 9月で"), "9月で"},
		{"another bot in one", "B0BOT", reply("<@B0OTHER> 9月で"), ""},
		{"directly", "B0BOT", directly("<@B0BOT> 9月で", nil), "9月で"},
	} {
		k := &kept{bot: tt.bot}
		out := post(t, handler(k), signed(callback(t, tt.fields, nil)))
		made := len(k.changes) == 1 && k.changes[0].Head.(*task.Head).Ended == nil
		expect.That(t, out.StatusCode == 200 && made == (tt.text != ""), "%s: answered %d, made %d", tt.name, out.StatusCode,
			len(k.changes))
		if made {
			expect.Is(t, k.request(t).Text, tt.text, tt.name)
		}
	}
}

// In a channel that workspaces share, an event belongs to the workspace whose app receives it. Only that workspace's
// own people may ask there.
func TestWhoseWorkspaceAnEventIsFor(t *testing.T) {
	shared := func(team string, more map[string]any) map[string]any {
		out := map[string]any{"team_id": team, "is_ext_shared_channel": true}
		merge(out, more)
		return out
	}
	for name, tt := range map[string]struct {
		fields map[string]any
		outer  map[string]any
		kept   bool
	}{
		"our own":                      {nil, nil, true},
		"ours in a channel of another": {nil, shared("T0OTHER", map[string]any{"context_team_id": "T0TEAM"}), true},
		"ours, by the context alone": {nil, shared("T0OTHER",
			map[string]any{"context_team_id": "T0TEAM", "authorizations": nil}), true},
		"a stranger in a channel of ours": {map[string]any{"team": "T0OTHER", "user_team": "T0OTHER"},
			shared("T0TEAM", nil), false},
		"nobody's in a channel of another": {map[string]any{"team": nil}, shared("T0OTHER", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			var k kept
			out := post(t, handler(&k), signed(callback(t, tt.fields, tt.outer)))
			expect.That(t, out.StatusCode == 200 && len(k.changes) > 0 == tt.kept,
				"answered %d, kept %d", out.StatusCode, len(k.changes))
			if tt.kept && k.request(t).TeamID != "T0TEAM" {
				t.Errorf("for %s", k.request(t).TeamID)
			}
		})
	}
}

// An installation for a whole organization is refused: nothing is written, and Slack doesn't repeat the event.
func TestOrganizationsInstallationsAreRefused(t *testing.T) {
	for name, outer := range map[string]map[string]any{
		"with a workspace": {"authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": "T0TEAM",
			"user_id": "U0BOT", "is_bot": true, "is_enterprise_install": true}}},
		"without one": {"team_id": nil, "enterprise_id": "E1",
			"authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": nil, "user_id": "U0BOT", "is_bot": true,
				"is_enterprise_install": true}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			out := post(t, handler(k), signed(callback(t, nil, outer)))
			expect.That(t, out.StatusCode == 200 && len(k.changes) == 0,
				"answered %d, wrote %d times", out.StatusCode, len(k.changes))
		})
	}
}

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

// inThread are requests of which the thread's index lists some.
type inThread struct {
	requests
	listed []aggregate.Ref
}

func (r inThread) Thread(context.Context, string, string, string, int) ([]aggregate.Ref, error) {
	return r.listed, nil
}

// In the thread of a request that waits for people a message to Ringi is no request. Its author alone sees a note,
// whose button rejects with their words; other messages are talk.
func TestAMessageBesideAGateIsNoRequest(t *testing.T) {
	w := ringitest.Start(t).World(t)
	w.Prompted(tenancy.DefaultSettings())
	open := w.Load()
	ended := open.Apply(expect.Value(open.Deleted(open.Head.Requester, w.Now()))(t))
	const ts, thread = "1776675602.000100", "1776675000.000100"
	mention := map[string]any{"text": "<@U0BOT> 部署別でお願いします", "ts": ts, "thread_ts": thread}
	talk := map[string]any{"type": "message", "channel_type": "channel", "text": "部署別でお願いします", "ts": ts,
		"thread_ts": thread}
	reply := direct("部署別でお願いします", map[string]any{"ts": ts, "thread_ts": thread})
	for name, tt := range map[string]struct {
		fields map[string]any
		beside *task.Aggregate
		want   string // of the note; empty: none
		makes  bool
	}{
		"a mention":                      {mention, open, "部署別でお願いします", false},
		"a reply in direct messages":     {reply, open, "部署別でお願いします", false},
		"talk":                           {talk, open, "", false},
		"a mention, once it is over":     {mention, ended, "", true},
		"a direct reply, once it's over": {reply, ended, card.Elsewhere("ja"), false},
		"a mention in another thread":    {mention, nil, "", true},
	} {
		k := &kept{}
		h := handler(k)
		all := inThread{requests: requests{}}
		if tt.beside != nil {
			all.requests[tt.beside.Head.TaskID] = tt.beside
			all.listed = []aggregate.Ref{task.RefOf(aggregate.TenantID("T0TEAM"), tt.beside.Head.TaskID)}
		}
		h.Tasks = all
		expect.Is(t, post(t, h, signed(callback(t, tt.fields, nil))).StatusCode, 200, name)
		notes := h.Slack.(*noting)
		expect.Is(t, len(k.changes) == 1, tt.makes, name)
		expect.Must(t, (len(notes.notes) == 1) == (tt.want != ""), "%s: %v", name, notes.notes)
		switch {
		case tt.want == "":
		case notes.blocks[0] == nil:
			expect.Has(t, notes.notes[0], tt.want)
		default:
			row := notes.blocks[0][len(notes.blocks[0])-1].(*slack.ActionBlock)
			b := row.Elements.ElementSet[0].(*slack.ButtonBlockElement)
			id, _, hash, _ := card.Subject(row.BlockID)
			value := []string{open.Prompt().ID, open.Asked(open.Prompt().ID).Hash, tt.want}
			expect.That(t, b.ActionID == "reject_prompt" && slices.Equal(strings.Split(b.Value, "/"), value) &&
				id == open.Head.TaskID && hash == value[1], "%s: %+v in %s", name, b, row.BlockID)
		}
		h.Tasks = failing{}
		if tt.want != "" {
			expect.Is(t, post(t, h, signed(callback(t, tt.fields, nil))).StatusCode, 503, name)
		}
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: open.Head.Requester, Team: "T0TEAM", Member: true}
	listed := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversList, Approvers: []string{"U0BOSS"}}
	text, blocks := card.NoRequest(open, by, listed, "部署別でお願いします", "ja")
	expect.That(t, len(blocks) == 1 && !strings.Contains(text, "ボタン"), "whoever may not reject is told to: %s", text)
}
