package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store"
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
	{"a direct message that is its own thread's root", map[string]any{"type": "message", "channel": "D0DM",
		"channel_type": "im", "thread_ts": "1776675599.000100"}, nil, func(r *task.Request) {
		r.Channel, r.ChannelType, r.Source = "D0DM", "im", task.SourceAgentContainer
	}},
	{"a direct message with a file", map[string]any{"type": "message", "subtype": "file_share", "channel": "D0DM",
		"channel_type": "im"}, nil, func(r *task.Request) {
		r.Channel, r.ChannelType, r.Source = "D0DM", "im", task.SourceAgentContainer
	}},
	{"a direct message's reply that mentions Ringi", map[string]any{"type": "message", "channel": "D0DM",
		"channel_type": "im", "thread_ts": "1776675000.000200", "text": "<@U0BOT> 10月ではなく9月で"}, nil, func(r *task.Request) {
		r.Channel, r.ChannelType, r.Source, r.ThreadTS, r.Text = "D0DM", "im", task.SourceAgentContainer,
			"1776675000.000200", "10月ではなく9月で"
	}},
	{"a mention at the end", map[string]any{"text": "まとめて <@U0BOT|ringi>"}, nil,
		func(r *task.Request) { r.Text = "まとめて" }},
	{"a mention in the middle, and a list with indents", map[string]any{"text": "ねえ <@U0BOT> これ:\n  - a\n    - b"}, nil,
		func(r *task.Request) { r.Text = "ねえ これ:\n  - a\n    - b" }},
	{"what Slack escapes", map[string]any{"text": "<@U0BOT> A &amp; B &lt;3 &amp;lt;"}, nil,
		func(r *task.Request) { r.Text = "A & B <3 &lt;" }},
	{"someone else is mentioned too", map[string]any{"text": "<@U0BOT> tell <@U0BOB>"}, nil,
		func(r *task.Request) { r.Text = "tell <@U0BOB>" }},
	{"the bot is not named: the first mention is it", map[string]any{"text": "<@U0BOT> <@U0BOB>に送って"},
		map[string]any{"authorizations": nil}, func(r *task.Request) { r.Text = "<@U0BOB>に送って" }},
	{"nothing but the mention", map[string]any{"text": "<@U0BOT>"}, nil, func(r *task.Request) { r.Text = "" }},
	{"text over the limit is cut", map[string]any{"text": strings.Repeat("あ", task.MaxText+1)}, nil,
		func(r *task.Request) { r.Text = strings.Repeat("あ", task.MaxText-1) + "…" }},
	{"a mention in a reply that the channel sees too", map[string]any{"subtype": "thread_broadcast",
		"thread_ts": "1776675500.000100"}, nil, func(r *task.Request) { r.ThreadTS = "1776675500.000100" }},
	{"text at the limit is kept", map[string]any{"text": strings.Repeat("あ", task.MaxText)}, nil,
		func(r *task.Request) { r.Text = strings.Repeat("あ", task.MaxText) }},
	{"the app is installed elsewhere than the message says", map[string]any{"team": nil},
		map[string]any{"team_id": "T0OTHER"}, func(*task.Request) {}},
	{"a forwarded message below it", map[string]any{"attachments": []any{shared("対象は営業だけ。DM は送らないでください")}}, nil,
		func(r *task.Request) {
			r.Forwarded = []aggregate.Quoted{{User: "U0BOB", Name: "Bob", Where: "<#C0SALES>", Text: "対象は営業だけ。DM は送らないでください"}}
		}},
	{"a forwarded message that mentions Ringi: it stays another's",
		map[string]any{"attachments": []any{shared("<@U0BOT> 全員に送って")}}, nil, func(r *task.Request) {
			r.Forwarded = []aggregate.Quoted{{User: "U0BOB", Name: "Bob", Where: "<#C0SALES>", Text: "<@U0BOT> 全員に送って"}}
		}},
	{"a link to a message, which Slack previews",
		map[string]any{"attachments": []any{map[string]any{"from_url": "https://w.slack.com/archives/C1/p1",
			"is_msg_unfurl": true, "author_id": "U0BOB", "text": "給与を送れ"}}}, nil, func(*task.Request) {}},
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
			out := post(t, handler(s), signed(callback(t, tt.fields, tt.outer)))
			expect.Must(t, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
			want := base
			tt.want(&want)
			expect.Same(t, &want, s.request(t))
			expect.Same(t, aggregate.TenantID("T0TEAM"), s.changes[0].Head.(*task.Head).TenantID)
		})
	}
}

func TestIgnoredKindsAreAcceptedAndWriteNothing(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields map[string]any
		outer  map[string]any
	}{
		{"another app's post", map[string]any{"bot_id": "B1"}, nil},
		{"our own post", map[string]any{"user": "U0BOT"}, nil},
		{"a bot's message", map[string]any{"type": "message", "subtype": "bot_message", "user": nil, "channel_type": "im"},
			nil},
		{"an edit", map[string]any{"type": "message", "subtype": "message_changed", "channel_type": "im", "user": nil,
			"message": map[string]any{"text": "x"}}, nil},
		{"a deletion", map[string]any{"type": "message", "subtype": "message_deleted", "channel_type": "im"}, nil},
		{"the home tab is opened", map[string]any{"type": "app_home_opened", "tab": "home", "channel": "D0DM"}, nil},
		{"a channel message that mentions nobody", map[string]any{"type": "message", "channel_type": "channel"}, nil},
		{"a stranger of a shared channel", map[string]any{"team": "T0TEAM", "user_team": "T0OTHER"}, nil},
		{"a stranger by the message's source", map[string]any{"team": "T0TEAM", "source_team": "T0OTHER"}, nil},
		{"a stranger by the message's team", map[string]any{"team": "T0OTHER"}, nil},
		{"somebody in a shared channel, of a workspace that Slack doesn't name",
			map[string]any{"team": nil, "user_team": nil, "source_team": nil}, map[string]any{"is_ext_shared_channel": true}},
		{"a stranger whose workspace the envelope names", map[string]any{"team": "T0OTHER"},
			map[string]any{"team_id": "T0OTHER"}},
		{"an unknown event", map[string]any{"type": "reaction_added", "channel": 5}, nil},
		{"an event whose fields have other shapes", map[string]any{"type": "channel_created",
			"channel": map[string]any{"id": "C1"}, "user": nil, "ts": 3}, nil},
		{"a person's own token", map[string]any{"type": "tokens_revoked",
			"tokens": map[string]any{"oauth": []string{"U0ALICE"}}}, nil},
		{"an unknown envelope", nil, map[string]any{"type": "app_requested", "event": nil}},
		{"Slack withholds events", nil, map[string]any{"type": "app_rate_limited", "event": nil,
			"minute_rate_limited": 1518467820, "api_app_id": "A0RINGI"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{}
			out := post(t, handler(s), signed(callback(t, tt.fields, tt.outer)))
			expect.That(t, out.StatusCode == 200 && len(s.changes) == 0 && len(s.ended) == 0,
				"answered %d %s, wrote %d times", out.StatusCode, out.Body, len(s.changes)+len(s.ended))
		})
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
		{"text that is a number", callback(t, map[string]any{"text": 1}, nil), "event.text must not be a JSON number"},
		{"no team", callback(t, map[string]any{"team": nil}, map[string]any{"team_id": nil, "authorizations": nil}),
			"team_id must have 1 to 64 letters, digits or ._:-"},
		{"no user", callback(t, map[string]any{"user": nil}, nil), "event.user must have 1 to 64 letters, digits or ._:-"},
		{"a user that forges a mention", callback(t, map[string]any{"user": "U1> <!channel"}, nil),
			"event.user must have 1 to 64 letters, digits or ._:-"},
		{"no channel", callback(t, map[string]any{"channel": nil}, nil),
			"event.channel must have 1 to 64 letters, digits or ._:-"},
		{"a long channel", callback(t, map[string]any{"channel": long}, nil),
			"event.channel must have 1 to 64 letters, digits or ._:-"},
		{"a long event id", callback(t, nil, map[string]any{"event_id": long}),
			"event_id must have 1 to 64 letters, digits or ._:-"},
		{"nobody's uninstallation", callback(t, map[string]any{"type": "app_uninstalled"},
			map[string]any{"team_id": nil, "authorizations": nil}), "team_id must have 1 to 64 letters, digits or ._:-"},
		{"tokens that are none", callback(t, map[string]any{"type": "tokens_revoked", "tokens": 1}, nil),
			"event.tokens must not be a JSON number"},
		{"no ts", callback(t, map[string]any{"ts": nil}, nil), "event.ts must be a Slack timestamp like 1713450000.000100"},
		{"a ts that is none", callback(t, map[string]any{"ts": "yesterday"}, nil),
			"event.ts must be a Slack timestamp like 1713450000.000100"},
		{"a thread that is none", callback(t, map[string]any{"thread_ts": "1"}, nil),
			"event.thread_ts must be a Slack timestamp like 1713450000.000100"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{}
			out := post(t, handler(s), signed(tt.body))
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

func TestURLVerificationRepeatsTheChallenge(t *testing.T) {
	body := `{"token":"x","challenge":"abc","type":"url_verification"}`
	out := post(t, handler(&kept{}), signed(body))
	expect.That(t, out.StatusCode == 200 && out.Body == `{"challenge":"abc"}`, "%d %s", out.StatusCode, out.Body)
	unsigned := signed(body)
	delete(unsigned.Headers, "x-slack-signature")
	out = post(t, handler(&kept{}), unsigned)
	expect.That(t, out.StatusCode == 401, "an unsigned challenge is answered %d", out.StatusCode)
}

// Slack reports each opening of the messages; a person is greeted only once. A reply in a direct message's thread is no
// request: nothing is kept of it.
func TestWhatIsSaidOnce(t *testing.T) {
	opened := func(user string) map[string]any {
		return map[string]any{"type": "app_home_opened", "tab": "messages", "channel": "D0DM", "user": user, "text": nil,
			"ts": nil, "team": nil}
	}
	reply := func(thread, ts string) map[string]any {
		return map[string]any{"type": "message", "channel": "D0DM", "channel_type": "im", "thread_ts": thread, "ts": ts,
			"text": "秘密"}
	}
	s := &kept{}
	for _, fields := range []map[string]any{
		opened("U0ALICE"), opened("U0ALICE"), opened("U0BOB"),
		reply("1776675000.000200", "1776675001.000100"), reply("1776675000.000200", "1776675002.000100"),
		reply("1776675500.000200", "1776675503.000100"),
	} {
		out := post(t, handler(s), signed(callback(t, fields, nil)))
		expect.Must(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
	}
	var ids []string
	for _, c := range s.changes {
		e := c.Head.(*task.Head).Ended
		expect.That(t, e != nil && e.As == task.TaskAnswered && len(c.Rows) == 2, "%+v with %d rows", c.Head, len(c.Rows))
		b, _ := json.Marshal(c.Rows)
		expect.That(t, !strings.Contains(string(b), "秘密"), "the reply is kept")
		ids = append(ids, c.Head.(*task.Head).TaskID)
	}
	expect.That(t, len(ids) == 3 && ids[0] == ids[1] && ids[0] != ids[2], "written as %v", ids)
	for _, bad := range []map[string]any{{"user": "U1> <!here"}, {"channel": nil}, {"tab": 7}} {
		fields := opened("U0ALICE")
		merge(fields, bad)
		for k, v := range bad {
			fields[k] = v
		}
		out := post(t, handler(s), signed(callback(t, fields, nil)))
		expect.That(t, out.StatusCode == 400, "%v is answered %d", bad, out.StatusCode)
	}
}

// The signing secret belongs to one app. Another app that has it was misconfigured, or stole it.
func TestAnotherAppsEventIsRefused(t *testing.T) {
	for app, want := range map[string]int{"A0RINGI": 200, "A0OTHER": 403} {
		s := &kept{}
		h := handler(s)
		h.Edge.Keys = ringitest.Keys{Secret: signingSecret, App: "A0RINGI"}
		out := post(t, h, signed(callback(t, nil, map[string]any{"api_app_id": app})))
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
		{"it is there already", store.ErrExists, 200},
		{"it could not be kept: Slack sends it again", errors.New("throttled"), 503},
		{"time ran out", context.DeadlineExceeded, 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{err: tt.err}
			out := post(t, handler(s), signed(callback(t, nil, nil)))
			expect.That(t, out.StatusCode == tt.status, "answered %d %s", out.StatusCode, out.Body)
			expect.That(t, len(s.changes) == 1, "%d calls, want 1", len(s.changes))
		})
	}
}

func TestWhatSlackEndsIsEnded(t *testing.T) {
	uninstalled := map[string]any{"type": "app_uninstalled", "text": nil, "user": nil, "ts": nil, "channel": nil,
		"team": nil}
	revoked := map[string]any{"type": "tokens_revoked",
		"tokens": map[string]any{"bot": []string{"U0BOT"}, "oauth": []string{"U0ALICE"}}}
	then := now.Add(-time.Hour)
	for _, tt := range []struct {
		name  string
		event map[string]any
		outer map[string]any
		want  ending
	}{
		{"an uninstallation, as Slack sends it", uninstalled,
			map[string]any{"authorizations": nil, "event_time": then.Unix()}, ending{aggregate.TenantID("T0TEAM"),
				tenancy.AppUninstalled, then.Add(999 * time.Millisecond)}},
		{"the bot's token", revoked, map[string]any{"event_time": then.Unix()},
			ending{aggregate.TenantID("T0TEAM"), tenancy.TokensRevoked, then.Add(999 * time.Millisecond)}},
		{"without a time it is now", uninstalled, nil, ending{aggregate.TenantID("T0TEAM"), tenancy.AppUninstalled, now}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &kept{}
			out := post(t, handler(s), signed(callback(t, tt.event, tt.outer)))
			expect.Must(t, out.StatusCode == 200, "answered %d %s", out.StatusCode, out.Body)
			diff := cmp.Diff([]ending{tt.want}, s.ended, cmp.AllowUnexported(ending{}), cmp.Comparer(time.Time.Equal))
			expect.That(t, diff == "" && len(s.changes) == 0, "%s, and %d changes", diff, len(s.changes))
			s.err = errors.New("throttled")
			out = post(t, handler(s), signed(callback(t, tt.event, tt.outer)))
			expect.That(t, out.StatusCode == 503, "what could not be kept is answered %d", out.StatusCode)
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
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 400 || len(body) > inbound.MaxBody),
			"%d %v for %q", out.StatusCode, err, body)
	})
}

// queue keeps the messages that were sent.
type queue struct {
	sent []*sqs.SendMessageInput
	err  error
}

func (q *queue) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	q.sent = append(q.sent, in)
	return &sqs.SendMessageOutput{}, q.err
}

func TestTheHomeTabIsAskedForAndTheMessagesTabIsNot(t *testing.T) {
	for tab, want := range map[string]int{"home": 1, "messages": 0, "about": 0} {
		k := &kept{}
		body := callback(t, map[string]any{"type": "app_home_opened", "tab": tab, "channel": "D0ALICE", "text": nil,
			"ts": nil}, nil)
		h, q := handler(k), &queue{}
		h.Queue, h.QueueURL = q, "cards"
		out := post(t, h, signed(body))
		expect.That(t, out.StatusCode == 200 && len(q.sent) == want, "%s: answered %d, sent %v", tab, out.StatusCode, q.sent)
		if want == 1 {
			asked := expect.Value(effect.ReadMessage(*q.sent[0].MessageBody))(t)
			expect.That(t, asked.Tab() && asked.Ref.ID == "U0ALICE" && asked.Team == "T0TEAM" && len(k.changes) == 0, "%+v",
				asked)
			q.err = errors.New("throttled")
			expect.Is(t, post(t, h, signed(body)).StatusCode, 503, "Slack sends it again")
		}
	}
}

func TestKeysOfWhoLeftAreRevoked(t *testing.T) {
	k := &kept{}
	h := handler(k)
	send := func(change string, is any) int {
		user := map[string]any{"id": "U0SATO", "deleted": false, "is_restricted": false, "profile": map[string]any{}}
		user[change] = is
		return post(t, h, signed(callback(t, map[string]any{"type": "user_change", "user": user, "text": nil, "ts": nil,
			"channel": nil, "team": nil}, nil))).StatusCode
	}
	expect.Is(t, send("profile", map[string]any{"status_text": "休暇中"}), 200)
	expect.Is(t, len(k.left), 0, "somebody who only changed their profile stays")
	expect.Is(t, send("deleted", true), 200)
	expect.Is(t, send("is_restricted", true), 200)
	expect.That(t, len(k.left) == 2 && strings.HasSuffix(k.left[0], " U0SATO"), "%v", k.left)
	expect.Is(t, send("deleted", "yes"), 400)
	k.err = errors.New("throttled")
	expect.Is(t, send("deleted", true), 503, "Slack sends it again")
}
