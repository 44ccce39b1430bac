package main

import (
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// What Slack or an app writes is nobody's request, also without a bot_id.
func TestWhatNobodyWroteIsIgnored(t *testing.T) {
	direct := func(more map[string]any) map[string]any { return directly("You have been removed from #sales", more) }
	for name, fields := range map[string]map[string]any{
		"Slack's own notice":      direct(map[string]any{"user": "USLACKBOT"}),
		"as a client shows it":    direct(map[string]any{"user": "USLACKBOT", "user_team": "T0TEAM", "user_profile": map[string]any{"name": "slackbot"}}),
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
			k := &kept{settings: custom(func(s *tenancy.Settings) { s.DMDefault = "agent" })}
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
		return map[string]any{"authorizations": []any{map[string]any{"enterprise_id": id, "team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": true}}}
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
		{"shown in a channel", "B0BOT", channel("`<@B0BOT> 勤怠をまとめて`"), ""},
		{"in a direct message's thread", "B0BOT", reply("<@B0BOT> 9月で"), "9月で"},
		{"in one before the first request", "", reply("<@B0BOT> 9月で"), "9月で"},
		{"another bot in one", "B0BOT", reply("<@B0OTHER> 9月で"), ""},
		{"directly", "B0BOT", directly("<@B0BOT> 9月で", nil), "9月で"},
	} {
		k := &kept{bot: tt.bot}
		out := post(t, handler(k), signed(callback(t, tt.fields, nil)))
		made := len(k.changes) == 1 && k.changes[0].Head.(*task.Head).Ended == nil
		expect.That(t, out.StatusCode == 200 && made == (tt.text != ""), "%s: answered %d, made %d", tt.name, out.StatusCode, len(k.changes))
		if made {
			expect.Is(t, k.request(t).Text, tt.text, tt.name)
		}
	}
}

// What a message only shows, in code, in a quote or struck through, is no request. People who write to Ringi are told.
func TestWhatAMessageOnlyShowsIsNoRequest(t *testing.T) {
	const nothing, hint, request, told = "", "hint", "request", "told"
	code := []any{map[string]any{"type": "rich_text", "elements": []any{map[string]any{"type": "rich_text_section", "elements": []any{
		map[string]any{"type": "user", "user_id": "U0BOT", "style": map[string]any{"code": true}},
		map[string]any{"type": "text", "text": " 残業", "style": map[string]any{"code": true}}}}}}}
	in := func(thread string, fields map[string]any) map[string]any {
		merge(fields, map[string]any{"thread_ts": thread, "ts": "1776675602.000100"})
		return fields
	}
	mention := func(text string) map[string]any { return map[string]any{"text": text} }
	for _, tt := range []struct {
		name   string
		fields map[string]any
		want   string
	}{
		{"code", mention("`<@U0BOT> 残業をまとめて`"), nothing},
		{"code by its blocks", map[string]any{"text": "<@U0BOT> 残業", "blocks": code}, nothing},
		{"an agent's in code", mention("`<@U0BOT> claude: 直して`"), nothing},
		{"a quote and a request", mention("&gt; 残業は?\n<@U0BOT> これをまとめて"), request},
		{"a mention, and code alone", mention("<@U0BOT> `残業をまとめて`"), hint},
		{"a mention, and an agent in code", mention("<@U0BOT> `claude: 直して`"), hint},
		{"a mention alone", mention("<@U0BOT>"), request},
		{"directly in code", directly("`残業をまとめて`", nil), hint},
		{"an agent, directly in code", directly("`claude: 直して`", nil), hint},
		{"directly, with more", directly("`残業` をまとめて", nil), request},
		{"a mention in code in a direct thread", in("1776675000.000200", directly("`<@U0BOT> 9月で`", nil)), hint},
		{"code in a conversation's thread", in(root, directly("```panic: nil```", nil)), told},
		{"a mention and code in one's thread", in(root, directly("<@U0BOT> ```panic: nil```", nil)), told},
		{"a mention in code in a thread", in("1776675000.000200", mention("`<@U0BOT> 9月で`")), nothing},
		{"a command in code", directly("`/ringi list`", nil), hint},
	} {
		k := &kept{}
		h := handler(k)
		post(t, h, signed(callback(t, direct("claude: hi", nil), nil))) // the conversation
		for range 2 {
			expect.Is(t, post(t, h, signed(callback(t, tt.fields, nil))).StatusCode, 200, tt.name)
		}
		is := nothing
		switch {
		case len(k.changes) > 0 && k.changes[0].Head.(*task.Head).Ended == nil:
			is = request
		case len(k.changes) > 0:
			is = hint
			expect.Is(t, k.changes[0].Head.(*task.Head).TaskID, k.changes[1].Head.(*task.Head).TaskID, "%s: a second hint", tt.name)
			why := k.changes[0].Head.(*task.Head).Ended.Reason
			expect.That(t, why == task.ReasonShown || why == task.ReasonThreadHint, "%s: %s", tt.name, why)
		case len(k.told) > 1:
			is = told
		}
		expect.Is(t, is, tt.want, tt.name)
		expect.Is(t, len(k.opened), 1, tt.name)
	}
}
