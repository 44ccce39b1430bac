package main

import (
	"context"
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const messageTS = "1776675599.000100"

// changes of a request's message in a place, as Slack sends them.
func messageChanged(channel, kind string, more map[string]any) map[string]any {
	message := func(text string) map[string]any {
		return map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS, "text": text}
	}
	is := message("<@U0BOT> 人事部")
	is["edited"] = map[string]any{"user": "U0ALICE", "ts": "1776675603.000000"}
	out := map[string]any{"type": "message", "subtype": "message_changed", "hidden": true, "channel": channel, "channel_type": kind,
		"ts": "1776675603.000200", "event_ts": "1776675603.000200", "user": nil, "text": nil, "team": nil,
		"message": is, "previous_message": message("<@U0BOT> 営業部")}
	merge(out, more)
	return out
}

// What changes a request's message reaches its request, and makes no second one.
func TestAChangeOfARequestsMessageReachesIt(t *testing.T) {
	again := func(more map[string]any) map[string]any {
		out := map[string]any{"text": "<@U0BOT> 人事部", "edited": map[string]any{"user": "U0ALICE", "ts": "1776675603.000000"}}
		merge(out, more)
		return out
	}
	gone := map[string]any{"subtype": "message_deleted", "message": nil, "deleted_ts": messageTS}
	elsewhere := map[string]any{"previous_message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS,
		"text": "営業部"}}
	merge(elsewhere, gone)
	stone := map[string]any{"message": map[string]any{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": messageTS}}
	file := map[string]any{"message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS,
		"text": "<@U0BOT> 営業部", "files": []any{map[string]any{"id": "F1", "name": "名簿.csv"}}}}
	listed := func(text string, file map[string]any) map[string]any {
		return map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS, "text": text, "files": []any{file}}
	}
	whole := map[string]any{"id": "F1", "name": "名簿.csv", "mode": "hosted"}
	removed := map[string]any{"previous_message": listed("<@U0BOT> 営業部 名簿", whole), "message": listed("<@U0BOT> 営業部 名簿", map[string]any{"id": "F1", "mode": "tombstone"})}
	unnamed := map[string]any{"previous_message": listed("<@U0BOT> 営業部", whole), "message": listed("営業部", whole)}
	same := map[string]any{"message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS,
		"text": "<@U0BOT> 営業部", "attachments": []any{map[string]any{"from_url": "https://example.com", "title": "Example"}}}}
	for _, tt := range []struct {
		name, channel string
		event         map[string]any
		text          string // of the request afterwards
		deleted       bool
	}{
		{"app_mention again", "C0HR", again(nil), "人事部", false},
		{"app_mention again, struck through", "C0HR", again(map[string]any{"text": "~<@U0BOT> 営業部~"}), "営業部", true},
		{"a channel's message", "C0HR", messageChanged("C0HR", "channel", nil), "人事部", false},
		{"a private channel's message", "G0HR", messageChanged("G0HR", "group", nil), "人事部", false},
		{"a direct message", "D0DM", messageChanged("D0DM", "im", nil), "人事部", false},
		{"an edit without what was before", "C0HR", messageChanged("C0HR", "channel", map[string]any{
			"previous_message": nil}), "人事部", false},
		{"a link that Slack unfolds", "C0HR", messageChanged("C0HR", "channel", same), "営業部", false},
		{"a file that is added", "C0HR", messageChanged("C0HR", "channel", file), "営業部", false},
		{"a file that is deleted", "C0HR", messageChanged("C0HR", "channel", removed), "営業部 名簿", false},
		{"a mention that is taken out", "C0HR", messageChanged("C0HR", "channel", unnamed), "営業部", true},
		{"a deletion", "C0HR", messageChanged("C0HR", "channel", gone), "営業部", true},
		{"a deletion of a direct message", "D0DM", messageChanged("D0DM", "im", gone), "営業部", true},
		{"a deletion whose thread goes on", "C0HR", messageChanged("C0HR", "channel", stone), "営業部", true},
		{"a deletion elsewhere", "C0HR", messageChanged("C0OTHER", "channel", elsewhere), "営業部", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{}
			h := handler(k)
			r := task.Request{TeamID: "T0TEAM", Channel: tt.channel, User: "U0ALICE", Text: "営業部", MessageTS: messageTS, ThreadTS: messageTS}
			made, ref, err := task.Receive(aggregate.TenantID("T0TEAM"), r, now)
			expect.NoError(t, err)
			all := requests{ref.ID: (&task.Aggregate{}).Apply(made)}
			h.Tasks = all
			for range 2 { // Slack may deliver it twice
				out := post(t, h, signed(callback(t, tt.event, nil)))
				expect.That(t, out.StatusCode == 200 && len(k.changes) == 0 && len(k.told) == 0, "answered %d, made %d, told %d",
					out.StatusCode, len(k.changes), len(k.told))
			}
			a := all[ref.ID]
			is := a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDeleted
			expect.That(t, a.Request.Text == tt.text && is == tt.deleted, "%q, ended %+v", a.Request.Text, a.Head.Ended)
			expect.Is(t, len(a.Request.Files) == 1, tt.name == "a file that is added", "its files")
			h.Tasks = failing{}
			if tt.deleted || tt.text != "営業部" {
				expect.Is(t, post(t, h, signed(callback(t, tt.event, nil))).StatusCode, 503, "what could not be kept")
			}
		})
	}
	for name, event := range map[string]map[string]any{ // whose message's first delivery is still to come
		"an edit of a direct message": messageChanged("D0DM", "im", nil), "a deletion of one": messageChanged("D0DM", "im", gone),
		"a deletion": messageChanged("C0HR", "channel", gone),
	} {
		k := &kept{}
		expect.Is(t, post(t, handler(k), signed(callback(t, event, nil))).StatusCode, 200, name)
		first := expect.Value(task.ID("T0TEAM", event["channel"].(string), messageTS))(t)
		head := k.changes[0].Head.(*task.Head)
		is := event["subtype"] == "message_deleted"
		expect.That(t, head.TaskID == first && (head.Ended != nil) == is, "%s makes %+v", name, head)
		expect.Is(t, k.request(t).Text, map[bool]string{true: "", false: "人事部"}[is], name)
		event["ts"], event["event_ts"] = "1776679300.000200", "1776679300.000200" // too late for that
		k = &kept{}
		post(t, handler(k), signed(callback(t, event, nil)))
		expect.Is(t, len(k.changes), 0, "%s, an hour later", name)
	}
	for name, event := range map[string]map[string]any{ // and what is none of Ringi's
		"an edit in a channel": messageChanged("C0HR", "channel", nil), // its app_mention comes, too
		"a deletion": messageChanged("C0HR", "channel", map[string]any{"subtype": "message_deleted", "message": nil,
			"previous_message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS, "text": "`<@U0BOT>`"}}),
	} {
		k := &kept{}
		post(t, handler(k), signed(callback(t, event, nil)))
		expect.Is(t, len(k.changes), 0, name)
	}
	k := &kept{} // an edit that adds the mention is a request
	post(t, handler(k), signed(callback(t, again(nil), nil)))
	expect.Is(t, k.request(t).Text, "人事部")
}

// A deletion that overtakes the first message to an agent: the message opens no conversation when it comes, and what
// opened one in this moment is told.
func TestADeletedMessageOpensNoConversation(t *testing.T) {
	mentioned := map[string]any{"text": "<@U0BOT> claude: 直して"}
	for name, tt := range map[string]struct {
		first   map[string]any
		channel string
		setting func(*tenancy.Settings)
	}{
		"a direct message":              {direct("claude: 直して", nil), "D0DM", nil},
		"to the default agent":          {direct("直して", nil), "D0DM", func(s *tenancy.Settings) { s.DMDefault = "agent" }},
		"from a source":                 {direct("claude@demo: 直して", nil), "D0DM", nil},
		"in a channel":                  {mentioned, "C0HR", nil},
		"in a channel's thread":         {map[string]any{"text": mentioned["text"], "thread_ts": "1776675590.000100"}, "C0HR", nil},
		"a channel that was renumbered": {map[string]any{"text": mentioned["text"], "channel": "C0NEXT"}, "C0HR", nil},
	} {
		k := &kept{moved: tenancy.Channels{"C0HR": {To: "C0NEXT", At: "1776675599.500000"}}}
		if tt.setting != nil {
			k.settings = custom(tt.setting)
		}
		was := map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS}
		merge(was, tt.first)
		was["channel"], was["type"] = nil, "message"
		gone := messageChanged(tt.channel, map[string]string{"D": "im", "C": "channel"}[tt.channel[:1]],
			map[string]any{"subtype": "message_deleted", "message": nil, "deleted_ts": messageTS, "previous_message": was})
		expect.Is(t, post(t, handler(k), signed(callback(t, gone, nil))).StatusCode, 200, name)
		expect.Must(t, len(k.changes) == 1, "%s: wrote %d times", name, len(k.changes))
		h, made := handler(k), (&task.Aggregate{}).Apply(k.changes[0])
		h.Tasks = requests{made.Head.TaskID: made}
		expect.Is(t, post(t, h, signed(callback(t, tt.first, nil))).StatusCode, 200, name)
		expect.That(t, len(k.opened) == 0 && len(k.changes) == 1, "%s: opened %d, wrote %d times", name, len(k.opened), len(k.changes))
		h.Tasks = failing{}
		expect.Is(t, post(t, h, signed(callback(t, tt.first, nil))).StatusCode, 503, name)
	}
	k := &kept{}
	between := handler(&meanwhile{k, func() { post(t, handler(k), signed(callback(t, direct("claude: 直して", nil), nil))) }})
	post(t, between, signed(callback(t, messageChanged("D0DM", "im", map[string]any{"subtype": "message_deleted", "message": nil}), nil)))
	all := k.said()
	expect.That(t, len(all) == 2 && all[1].Deleted && all[1].Changes == conversation.MessageKey(all[0].CreatedAt, all[0].MessageID), "%+v", all)
}

// meanwhile is a store in which something happens before a message is created.
type meanwhile struct {
	*kept
	then func()
}

func (m *meanwhile) Create(ctx context.Context, c aggregate.Change) error {
	m.then()
	return m.kept.Create(ctx, c)
}

type failing struct{}

func (failing) Decide(context.Context, aggregate.Ref, task.Decision) (*task.Aggregate, error) {
	return nil, errors.New("throttled")
}
