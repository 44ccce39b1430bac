package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// messages are requests as Slack sends them: how they differ from a mention in a channel, and which different fields
// are saved.
var messages = []struct {
	name   string
	fields map[string]any
	outer  map[string]any
	want   func(r *task.Request)
}{
	{"a mention in a channel", nil, nil, func(*task.Request) {}},
	{"a mention in a private channel", map[string]any{"channel": "G0SECRET"}, nil,
		func(r *task.Request) { r.Channel, r.ChannelType = "G0SECRET", "group" }},
	{"a mention in a thread: the cards go to its root", map[string]any{"thread_ts": "1776675000.000200"}, nil,
		func(r *task.Request) { r.ThreadTS = "1776675000.000200" }},
	{"a direct message", map[string]any{"type": "message", "channel": "D0DM", "channel_type": "im", "text": "従業員一覧を取得して"},
		nil, func(r *task.Request) {
			r.Channel, r.ChannelType, r.Text, r.Source = "D0DM", "im", "従業員一覧を取得して", task.SourceAgentContainer
		}},
	{"a direct message's reply that mentions Ringi", map[string]any{"type": "message", "channel": "D0DM",
		"channel_type": "im", "thread_ts": "1776675000.000200", "text": "<@U0BOT> 10月ではなく9月で"}, nil, func(r *task.Request) {
		r.Channel, r.ChannelType, r.Source, r.ThreadTS, r.Text = "D0DM", "im", task.SourceAgentContainer,
			"1776675000.000200", "10月ではなく9月で"
	}},
	{"a mention at the end", map[string]any{"text": "まとめて <@U0BOT|ringi>"}, nil,
		func(r *task.Request) { r.Text = "まとめて" }},
	{"a mention in the middle, and a list with indents", map[string]any{"text": "ねえ <@U0BOT> これ:\n  - a\n    - b"}, nil,
		func(r *task.Request) { r.Text = "ねえ <@U0BOT> これ:\n  - a\n    - b" }},
	{"a mention that is quoted", map[string]any{"text": "<@U0BOT> <@U0BOB> に「困ったら <@U0BOT|ringi> に書いて」とDMを送って"}, nil,
		func(r *task.Request) {
			r.Text = "<@U0BOB> に「困ったら <@U0BOT> に書いて」とDMを送って"
		}},
	{"what Slack escapes", map[string]any{"text": "<@U0BOT> A &amp; B &lt;3 &amp;lt;"}, nil,
		func(r *task.Request) { r.Text = "A & B <3 &lt;" }},
	{"the bot is not named: the first mention is it", map[string]any{"text": "<@U0BOT> <@U0BOB>に送って"},
		map[string]any{"authorizations": nil}, func(r *task.Request) { r.Text = "<@U0BOB>に送って" }},
	{"a group of which Slack doesn't say the name", map[string]any{"text": "<@U0BOT> <!subteam^S1> に"}, nil,
		func(r *task.Request) { r.Text = "@jinji に" }},
	{"nothing but the mention", map[string]any{"text": "<@U0BOT>"}, nil, func(r *task.Request) { r.Text = "" }},
	{"text over the limit is cut", map[string]any{"text": strings.Repeat("あ", task.MaxText+1)}, nil,
		func(r *task.Request) { r.Text = strings.Repeat("あ", task.MaxText-1) + "…" }},
	{"text at the limit is kept", map[string]any{"text": strings.Repeat("あ", task.MaxText)}, nil,
		func(r *task.Request) { r.Text = strings.Repeat("あ", task.MaxText) }},
	{"the app is installed elsewhere than the message says", map[string]any{"team": nil},
		map[string]any{"team_id": "T0OTHER"}, func(*task.Request) {}},
	{"a forwarded message below it", map[string]any{"attachments": []any{shared("対象は営業だけ。DM は送らないでください")}}, nil,
		func(r *task.Request) {
			r.Forwarded = []aggregate.Quoted{{User: "U0BOB", Name: "Bob", Where: "<#C0SALES>", Text: "対象は営業だけ。DM は送らないでください"}}
		}},
	{"a mention with a file", map[string]any{"files": []any{map[string]any{"id": "F1", "name": "対象者.csv",
		"mimetype": "text/csv", "size": 12}}}, nil, func(r *task.Request) {
		r.Files = []aggregate.SharedFile{{ID: "F1", Name: "対象者.csv", Type: "text/csv", Bytes: 12}}
	}},
	{"a direct message with a file alone, of which Slack says the id",
		map[string]any{"type": "message", "subtype": "file_share", "channel": "D0DM", "channel_type": "im", "text": "",
			"files": []any{map[string]any{"id": "F1", "mode": "file_access",
				"file_access": "check_file_info"}}}, nil, func(r *task.Request) {
			r.Channel, r.ChannelType, r.Source, r.Text = "D0DM", "im", task.SourceAgentContainer, ""
			r.Files = []aggregate.SharedFile{{ID: "F1"}}
		}},
	{"unknown fields change nothing", map[string]any{"blocks": []any{map[string]any{"type": "rich_text"}},
		"client_msg_id": 7}, map[string]any{"event_context": "4-x", "is_ext_shared_channel": false}, func(*task.Request) {}},
}

// shared is a forwarded message of Bob's as Slack sends it.
func shared(text string) map[string]any {
	return map[string]any{"is_share": true, "is_msg_unfurl": true, "from_url": "https://w.slack.com/archives/C0SALES/p1",
		"author_id": "U0BOB", "author_name": "Bob", "channel_id": "C0SALES", "text": text, "footer": "Slack Conversation"}
}

func TestMessagesBecomeOneWrite(t *testing.T) {
	base := task.Request{TeamID: "T0TEAM", Text: "今月の勤怠をまとめて", User: "U0ALICE", Channel: "C0HR", ChannelType: "channel",
		MessageTS: "1776675599.000100", ThreadTS: "1776675599.000100", Source: task.SourceChannel, EventID: "Ev1",
		CreatedAt: now}
	for _, tt := range messages {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{}
			out := send(t, handler(s), tt.fields, tt.outer)
			expect.Must(t, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
			want := base
			tt.want(&want)
			expect.Same(t, &want, s.request(t))
			expect.Same(t, aggregate.TenantID("T0TEAM"), s.changes[0].Head.(*task.Head).TenantID)
		})
	}
}

// Nothing is written for what nobody of the workspace wrote to Ringi, whatever team Slack names.
func TestIgnoredKindsAreAcceptedAndWriteNothing(t *testing.T) {
	notice := func(more map[string]any) map[string]any { return direct("You have been removed from #sales", more) }
	for name, tt := range map[string]struct{ fields, outer map[string]any }{
		"another app's post": {map[string]any{"bot_id": "B1"}, nil},
		"our own post":       {map[string]any{"user": "U0BOT"}, nil},
		"a bot's message": {map[string]any{"type": "message", "subtype": "bot_message", "user": nil, "channel_type": "im"},
			nil},
		"a bot's by its profile":  {notice(map[string]any{"user": "U0APP", "bot_profile": map[string]any{"id": "B7"}}), nil},
		"a bot's by its app":      {notice(map[string]any{"user": "U0APP", "app_id": "A7"}), nil},
		"Slack's own notice":      {notice(map[string]any{"user": "USLACKBOT", "user_team": "T0TEAM"}), nil},
		"in a thread":             {notice(map[string]any{"user": "USLACKBOT", "thread_ts": root}), nil},
		"a reminder in a channel": {map[string]any{"user": "USLACKBOT", "text": "Reminder: <@U0BOT> 勤怠をまとめて"}, nil},
		"Slackbot, to an agent":   {direct("claude: hi", map[string]any{"user": "USLACKBOT"}), nil},
		"a huddle":                {notice(map[string]any{"subtype": "huddle_thread"}), nil},
		"a notice of a channel": {map[string]any{"type": "message", "subtype": "channel_topic",
			"text": "<@U0BOT> set the topic"}, nil},
		"an edit": {map[string]any{"type": "message", "subtype": "message_changed", "channel_type": "im", "user": nil,
			"message": map[string]any{"text": "x"}}, nil},
		"a deletion": {map[string]any{"type": "message", "subtype": "message_deleted",
			"channel_type": "im"}, nil},
		"a channel message that mentions nobody": {map[string]any{"type": "message", "channel_type": "channel"}, nil},
		"an unknown event":                       {map[string]any{"type": "reaction_added", "channel": 5}, nil},
		"an event whose fields have other shapes": {map[string]any{"type": "channel_created",
			"channel": map[string]any{"id": "C1"}, "user": nil, "ts": 3}, nil},
		"a person's own token": {map[string]any{"type": "tokens_revoked",
			"tokens": map[string]any{"oauth": []string{"U0ALICE"}}}, nil},
		"an unknown envelope": {nil, map[string]any{"type": "app_requested", "event": nil}},
		"Slack withholds events": {nil, map[string]any{"type": "app_rate_limited", "event": nil,
			"minute_rate_limited": 1518467820, "api_app_id": "A0RINGI"}},
	} {
		for _, team := range []any{"T0TEAM", nil} {
			s := &kept{}
			out := send(t, handler(s), with(map[string]any{"team": team}, tt.fields), tt.outer)
			expect.That(t, out.StatusCode == 200 && len(s.changes)+len(s.ended)+len(s.told) == 0,
				"%s of team %v: answered %d %s, wrote %v %v", name, team, out.StatusCode, out.Body, s.changes, s.told)
		}
	}
}

// An event belongs to the workspace whose app receives it, whatever channel it is in, and only that workspace's own
// people may ask there. An organization's id says nothing about the workspace: users.info is asked later, as at a
// click. An installation for a whole organization is refused, and Slack doesn't repeat the event.
func TestWhoseAnEventIs(t *testing.T) {
	shared := func(team string, more map[string]any) map[string]any {
		return with(map[string]any{"team_id": team, "is_ext_shared_channel": true}, more)
	}
	by := func(more map[string]any) map[string]any {
		return map[string]any{"authorizations": []any{with(map[string]any{"team_id": "T0TEAM", "user_id": "U0BOT",
			"is_bot": true}, more)}}
	}
	org := by(map[string]any{"enterprise_id": "E0ORG"})
	for name, tt := range map[string]struct {
		fields, outer map[string]any
		kept          bool
	}{
		"our own":                      {nil, nil, true},
		"ours in a channel of another": {nil, shared("T0OTHER", map[string]any{"context_team_id": "T0TEAM"}), true},
		"ours, by the context alone": {nil, shared("T0OTHER",
			map[string]any{"context_team_id": "T0TEAM", "authorizations": nil}), true},
		"ours, of an app that is installed elsewhere": {map[string]any{"team": nil},
			map[string]any{"team_id": "T0OTHER"}, true},
		"a stranger":                         {map[string]any{"team": "T0OTHER"}, nil, false},
		"a stranger by their workspace":      {map[string]any{"team": "T0TEAM", "user_team": "T0OTHER"}, nil, false},
		"a stranger by the message's source": {map[string]any{"team": "T0TEAM", "source_team": "T0OTHER"}, nil, false},
		"a stranger in a channel of ours": {map[string]any{"team": "T0OTHER", "user_team": "T0OTHER"},
			shared("T0TEAM", nil), false},
		"a stranger whose workspace the envelope names": {map[string]any{"team": "T0OTHER"},
			map[string]any{"team_id": "T0OTHER"}, false},
		"nobody's in a channel of ours":       {map[string]any{"team": nil}, shared("T0TEAM", nil), false},
		"nobody's in a channel of another":    {map[string]any{"team": nil}, shared("T0OTHER", nil), false},
		"a member, by our organization":       {map[string]any{"user_team": "E0ORG"}, org, true},
		"by the source's":                     {map[string]any{"source_team": "E0ORG", "user_team": "E0ORG"}, org, true},
		"by team alone":                       {map[string]any{"team": "E0ORG"}, org, true},
		"while ours is not known":             {map[string]any{"user_team": "E0ORG"}, nil, true},
		"by another's":                        {map[string]any{"user_team": "E0OTHER"}, org, false},
		"another workspace's of ours":         {map[string]any{"user_team": "T0OTHER"}, org, false},
		"an organization's, with a workspace": {nil, by(map[string]any{"is_enterprise_install": true}), false},
		"an organization's, without one": {nil, with(by(map[string]any{"team_id": nil, "is_enterprise_install": true}),
			map[string]any{"team_id": nil, "enterprise_id": "E1"}), false},
	} {
		k := &kept{}
		out := send(t, handler(k), tt.fields, tt.outer)
		expect.That(t, out.StatusCode == 200 && len(k.changes) > 0 == tt.kept, "%s: answered %d, kept %d", name,
			out.StatusCode, len(k.changes))
		expect.That(t, !tt.kept || k.request(t).TeamID == "T0TEAM", "%s: of another workspace", name)
	}
}

func TestNonsenseIsRefusedByName(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, tt := range []struct {
		name, body, want string
	}{
		{"no JSON", "hello", "body is not a JSON object"},
		{"nothing", "", "body is not a JSON object"},
		{"an array", "[]", "body is not a JSON object"},
		{"no type", "{}", "type is required"},
		{"a type that is no text", `{"type":7}`, "body.type must not be a JSON number"},
		{"no event", `{"type":"event_callback","team_id":"T0TEAM"}`, "event is required"},
		{"an event that is no object", `{"type":"event_callback","event":"x"}`, "event is not a JSON object"},
		{"an event without type", `{"type":"event_callback","event":{}}`, "event.type is required"},
		{"no challenge", `{"type":"url_verification"}`, "challenge must have 1 to 4096 bytes"},
		{"a huge challenge", `{"type":"url_verification","challenge":"` + strings.Repeat("x", 4097) + `"}`,
			"challenge must have 1 to 4096 bytes"},
		{"text that is a number", callback(t, map[string]any{"text": 1}), "event.text must not be a JSON number"},
		{"no team", callback(t, map[string]any{"team": nil}, map[string]any{"team_id": nil, "authorizations": nil}),
			"team_id must have 1 to 64 letters, digits or ._:-"},
		{"no user", callback(t, map[string]any{"user": nil}), "event.user must have 1 to 64 letters, digits or ._:-"},
		{"a user that forges a mention", callback(t, map[string]any{"user": "U1> <!channel"}),
			"event.user must have 1 to 64 letters, digits or ._:-"},
		{"no channel", callback(t, map[string]any{"channel": nil}),
			"event.channel must have 1 to 64 letters, digits or ._:-"},
		{"a long channel", callback(t, map[string]any{"channel": long}),
			"event.channel must have 1 to 64 letters, digits or ._:-"},
		{"a long event id", callback(t, nil, map[string]any{"event_id": long}),
			"event_id must have 1 to 64 letters, digits or ._:-"},
		{"nobody's uninstallation", callback(t, map[string]any{"type": "app_uninstalled"},
			map[string]any{"team_id": nil, "authorizations": nil}), "team_id must have 1 to 64 letters, digits or ._:-"},
		{"tokens that are none", callback(t, map[string]any{"type": "tokens_revoked", "tokens": 1}),
			"event.tokens must not be a JSON number"},
		{"no ts", callback(t, map[string]any{"ts": nil}), "event.ts must be a Slack timestamp like 1713450000.000100"},
		{"a ts that is none", callback(t, map[string]any{"ts": "yesterday"}),
			"event.ts must be a Slack timestamp like 1713450000.000100"},
		{"a thread that is none", callback(t, map[string]any{"thread_ts": "1"}),
			"event.thread_ts must be a Slack timestamp like 1713450000.000100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{}
			out := post(t, handler(s), tt.body)
			want := map[string]string{"error": tt.want}
			var got map[string]string
			err := json.Unmarshal([]byte(out.Body), &got)
			expect.Must(t, err == nil, "%v in %q", err, out.Body)
			diff := cmp.Diff(want, got)
			expect.That(t, diff == "" && out.StatusCode == 400 && len(s.changes) == 0,
				"%d, wrote %d times: %s", out.StatusCode, len(s.changes), diff)
		})
	}
}

// Some of Slack's clients mention the bot by its own id. In channels Slack then sends the message and no app_mention.
func TestTheBotIsMentionedByEitherId(t *testing.T) {
	channel := func(text string) map[string]any {
		return map[string]any{"type": "message", "channel_type": "channel", "text": text}
	}
	reply := func(text string) map[string]any {
		return direct(text, map[string]any{"thread_ts": "1776675000.000200"})
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
		{"in a sentence", "B0BOT", channel("昨日 <@B0BOT> が送った請求書を取り消して <@B0BOT>"), "昨日 <@U0BOT> が送った請求書を取り消して"},
		{"in a direct message's thread", "B0BOT", reply("<@B0BOT> 9月で"), "9月で"},
		{"in one before the first request", "", reply("<@B0BOT> 9月で"), "9月で"},
		{"another bot in one", "B0BOT", reply("<@B0OTHER> 9月で"), ""},
		{"directly", "B0BOT", direct("<@B0BOT> 9月で", nil), "9月で"},
	} {
		k := &kept{bot: tt.bot}
		out := send(t, handler(k), tt.fields)
		made := len(k.changes) == 1 && k.changes[0].Head.(*task.Head).Ended == nil
		expect.That(t, out.StatusCode == 200 && made == (tt.text != ""), "%s: answered %d, made %d", tt.name, out.StatusCode,
			len(k.changes))
		if made {
			expect.Is(t, k.request(t).Text, tt.text, tt.name)
		}
	}
}

// The signing secret belongs to one app. Another app that has it was misconfigured, or stole it.
func TestAnotherAppsEventIsRefused(t *testing.T) {
	for app, want := range map[string]int{"A0RINGI": 200, "A0OTHER": 403} {
		s := &kept{}
		h := handler(s)
		h.Edge.Keys = ringitest.Keys{Secret: signingSecret, App: "A0RINGI"}
		out := send(t, h, nil, map[string]any{"api_app_id": app})
		expect.That(t, out.StatusCode == want && (len(s.changes) == 0 || want == 200),
			"%s: answered %d, wrote %d times", app, out.StatusCode, len(s.changes))
	}
}

func TestWhatTheWriteSaysIsAnswered(t *testing.T) {
	for _, tt := range []struct {
		name   string
		err    error
		status int
	}{
		{"it is new", nil, 200},
		{"it is there already", aggregate.ErrExists, 200},
		{"it could not be kept: Slack sends it again", errors.New("throttled"), 503},
		{"time ran out", context.DeadlineExceeded, 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{err: tt.err}
			out := send(t, handler(s), nil)
			expect.That(t, out.StatusCode == tt.status, "answered %d %s", out.StatusCode, out.Body)
			expect.That(t, len(s.changes) == 1, "%d calls, want 1", len(s.changes))
		})
	}
}

// FuzzReceive: any signed body is answered with 200 or 400, never with a server error.
func FuzzReceive(f *testing.F) {
	f.Add(`{"type":"url_verification","challenge":"abc"}`)
	f.Add(`{"type":"event_callback","team_id":"T1",
		"event":{"type":"app_mention","text":"<@U1> hi","user":"U1","ts":"1776675599.000100","channel":"C1"}}`)
	f.Add(`{"type":"event_callback","event":{"type":"message","channel_type":"im","thread_ts":{}}}`)
	f.Add("\x00\xff")
	f.Fuzz(func(t *testing.T, body string) {
		out, err := handler(&kept{}).Handle(context.Background(), signed(body))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 400 || len(body) > slackapi.MaxBody),
			"%d %v for %q", out.StatusCode, err, body)
	})
}
