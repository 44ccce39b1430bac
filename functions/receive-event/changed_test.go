package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// More files than are read of one message are not dropped silently: the first attachment says how many.
func TestFilesBeyondThoseThatAreReadAreNoted(t *testing.T) {
	var files []any
	for i := range 25 {
		files = append(files, map[string]any{"id": fmt.Sprint("F", i), "name": fmt.Sprint(i, ".txt")})
	}
	k := &kept{}
	post(t, handler(k), signed(callback(t, direct("claude: hi", map[string]any{"subtype": "file_share", "files": files}),
		nil)))
	all := k.said()[0].Attachments
	expect.Must(t, len(all) == 21, "%d attachments", len(all))
	expect.Same(t, all[0], conversation.Attachment{Kind: "unread", Name: "+5", FileID: "beyond " + root,
		Why: conversation.Beyond})
}

// edit is the event of a message that changed from one text to another; "" is a deletion.
func edit(ts, was, is string, more map[string]any) map[string]any {
	message := func(text string) map[string]any {
		m := map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": ts, "text": text}
		if ts != root {
			m["thread_ts"] = root
		}
		return m
	}
	out := map[string]any{"type": "message", "subtype": "message_changed", "hidden": true, "channel": "D0DM",
		"channel_type": "im", "ts": "1776675700.000200", "event_ts": "1776675700.000200", "user": nil, "text": nil,
		"team":    nil,
		"message": message(is), "previous_message": message(was)}
	if is == "" {
		out["subtype"], out["deleted_ts"], out["message"] = "message_deleted", ts, nil
		delete(out, "message")
	}
	merge(out, more)
	return out
}

func TestAPersonsChangeOfAMessageReachesTheAgent(t *testing.T) {
	const reply = "1776675600.000100"
	keyOf := func(ts string) string {
		m := expect.Value(conversation.Tell(conversation.Inbound{Team: "T0TEAM", Channel: "D0DM", Thread: root, TS: ts},
			conversation.Opening{}, now))(t)
		return m.Rows[0].(*conversation.Inbox).Message
	}
	bot := map[string]any{"type": "message", "user": "U0BOT", "bot_id": "B1", "team": "T0TEAM", "ts": reply,
		"thread_ts": root, "text": "x"}
	other := map[string]any{"type": "message", "user": "U0BOB", "team": "T0OTHER", "ts": reply, "thread_ts": root,
		"text": "x"}
	again := map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": reply, "thread_ts": root,
		"text": "y", "edited": map[string]any{"user": "U0ALICE", "ts": "1776675700.000000"}}
	dead := map[string]any{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": root,
		"text": "This message was deleted."}
	for _, tt := range []struct {
		name    string
		event   map[string]any
		of      string // the changed message; "" if nothing is told
		text    string
		deleted bool
	}{
		{"an edit", edit(reply, "pay 100", "pay &lt;200&gt;", nil), reply, "pay <200>", false},
		{"an edit of the first message, with the agent's name", edit(root, "claude: hi", "claude: hello", nil), root,
			"hello", false},
		{"an edit of the first message to nothing but the name", edit(root, "claude: hi", "claude:", nil), root, "claude:",
			false},
		{"a deletion", edit(reply, "pay 100", "", nil), reply, "", true},
		{"a deletion of the first message, whose thread goes on",
			edit(root, "claude: hi", "x", map[string]any{"message": dead}), root, "", true},
		{"a link that Slack unfolds", edit(reply, "see https://example.com", "see https://example.com", nil), "", "", false},
		{"what an app changes", edit(reply, "x", "y", map[string]any{"message": bot, "previous_message": bot}), "", "",
			false},
		{"a stranger's edit", edit(reply, "x", "y", map[string]any{"message": other, "previous_message": other}), "", "",
			false},
		{"an edit in a channel", edit(reply, "x", "y", map[string]any{"channel": "C0HR", "channel_type": "channel"}), "", "",
			false},
		{"an edit in another thread", edit("1776671000.000100", "x", "y",
			map[string]any{"previous_message": map[string]any{"user": "U0ALICE", "team": "T0TEAM", "ts": "1776671000.000100",
				"text": "x"}}), "", "", false},
		{"an edit without what was before", edit(reply, "x", "y", map[string]any{"previous_message": nil,
			"message": again}), reply, "y", false},
		{"a link that Slack unfolds, without what was before", edit(reply, "x", "y", map[string]any{
			"previous_message": nil}), "", "", false},
		{"a deletion without whose it was", edit(reply, "x", "", map[string]any{"previous_message": nil}), "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{}
			h := handler(k)
			post(t, h, signed(callback(t, direct("claude: hi", nil), nil)))
			out := post(t, h, signed(callback(t, tt.event, nil)))
			expect.Same(t, 200, out.StatusCode)
			if tt.of == "" {
				expect.That(t, len(k.told) == 1 && len(k.changes) == 0, "told %v", k.said())
				return
			}
			expect.Must(t, len(k.told) == 2, "told %d times", len(k.told))
			m := k.said()[1]
			expect.That(t, m.Content == tt.text && m.Deleted == tt.deleted && m.Changes == keyOf(tt.of) && m.User == "U0ALICE",
				"told %+v", m)
			i := k.told[1].Rows[0].(*conversation.Inbox)
			expect.That(t, i.Changes == m.Changes && i.Deleted == tt.deleted && i.Message == m.Key(), "waits as %+v", i)
		})
	}
}

func TestAChangeThatCantBeReadIsRefused(t *testing.T) {
	k := &kept{}
	h := handler(k)
	post(t, h, signed(callback(t, direct("claude: hi", nil), nil)))
	for _, more := range []map[string]any{{"ts": "soon"}, {"message": 7}} {
		out := post(t, h, signed(callback(t, edit("1776675600.000100", "x", "y", more), nil)))
		expect.That(t, out.StatusCode == 400 && len(k.told) == 1, "%v was answered %d", more, out.StatusCode)
	}
}

// In a channel the change of a message that mentioned Ringi reaches its agent, with its files and what it forwards.
func TestAChangeInAChannelReachesTheAgent(t *testing.T) {
	is := func(text string, more map[string]any) map[string]any {
		out := map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS,
			"text": "<@U0BOT> " + text}
		merge(out, more)
		return out
	}
	was := is("claude: 直して", nil)
	file := []any{map[string]any{"id": "F1", "name": "a.txt", "user": "U0BOB"}}
	shared := []any{map[string]any{"is_share": true, "author_id": "U0BOB", "text": "消さないで"}}
	for name, tt := range map[string]struct {
		event   map[string]any
		text    string
		quotes  []string
		deleted bool
	}{
		"an edit": {map[string]any{"message": is("claude: 消して", nil)}, "消して", nil, false},
		"a file": {map[string]any{"message": is("claude: 直して", map[string]any{"files": file})}, "直して",
			[]string{"U0BOB"}, false},
		"a forward": {map[string]any{"message": is("claude: 直して", map[string]any{"attachments": shared})}, "直して",
			[]string{"U0BOB"}, false},
		"a deletion": {map[string]any{"subtype": "message_deleted", "message": nil, "deleted_ts": messageTS}, "", nil, true},
	} {
		k := &kept{}
		h := handler(k)
		post(t, h, signed(callback(t, map[string]any{"type": "app_mention", "channel": "C0HR", "text": was["text"],
			"ts": messageTS}, nil)))
		expect.Must(t, len(k.said()) == 1, "%s: said %d", name, len(k.said()))
		tt.event["previous_message"] = was
		post(t, h, signed(callback(t, messageChanged("C0HR", "channel", tt.event), nil)))
		expect.Must(t, len(k.said()) == 2, "%s: said %d", name, len(k.said()))
		m := k.said()[1]
		expect.That(t, m.Content == tt.text && m.Deleted == tt.deleted && slices.Equal(m.Quotes(), tt.quotes) &&
			m.SessionID == k.said()[0].SessionID,
			"%s: %+v", name, m)
	}
	k := &kept{}
	h := handler(k)
	post(t, h, signed(callback(t, map[string]any{"type": "app_mention", "channel": "C0HR", "text": was["text"],
		"ts": messageTS}, nil)))
	talk := func(text string) map[string]any {
		return is("", map[string]any{"ts": "1776675601.000100", "thread_ts": messageTS, "text": text})
	}
	post(t, h, signed(callback(t, messageChanged("C0HR", "channel",
		map[string]any{"message": talk("昼は?"), "previous_message": talk("昼")}), nil)))
	expect.Is(t, len(k.said()), 1, "what people say to each other is told")
}

// The message by which a person made a request that an agent offered says "yes", not what the request says: its change
// is told to the agent, and ends nothing of what was made.
func TestAChangeOfTheYesIsTheConversations(t *testing.T) {
	const reply = "1776675600.000100"
	for name, now := range map[string]string{"an edit": "はい、それでお願いします", "a deletion": ""} {
		k := &kept{}
		h := handler(k)
		post(t, h, signed(callback(t, direct("claude: 営業部の残業をまとめたい", nil), nil)))
		r := task.Request{TeamID: "T0TEAM", Channel: "D0DM", ChannelType: "im", User: "U0ALICE", MessageTS: reply,
			ThreadTS: root, Text: "営業部の10月の残業を集計し、鈴木さんに DM で送る", EventID: task.OfferedIn("s1")}
		made, ref, err := task.Receive(aggregate.TenantID("T0TEAM"), r, h.Now())
		expect.NoError(t, err)
		all := requests{ref.ID: (&task.Aggregate{}).Apply(made)}
		h.Tasks = all
		told := len(k.told)
		post(t, h, signed(callback(t, edit(reply, "はい、それでお願いしまs", now, nil), nil)))
		a := all[ref.ID]
		expect.That(t, a.Request.Text == r.Text && a.Head.Ended == nil, "%s: %+v", name, a)
		expect.Is(t, len(k.told), told+1, name)
	}
}

const messageTS = "1776675599.000100"

// changes of a request's message in a place, as Slack sends them.
func messageChanged(channel, kind string, more map[string]any) map[string]any {
	message := func(text string) map[string]any {
		return map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS, "text": text}
	}
	is := message("<@U0BOT> 人事部")
	is["edited"] = map[string]any{"user": "U0ALICE", "ts": "1776675603.000000"}
	out := map[string]any{"type": "message", "subtype": "message_changed", "hidden": true, "channel": channel,
		"channel_type": kind,
		"ts":           "1776675603.000200", "event_ts": "1776675603.000200", "user": nil, "text": nil, "team": nil,
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
	elsewhere := map[string]any{"previous_message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM",
		"ts":   messageTS,
		"text": "営業部"}}
	merge(elsewhere, gone)
	stone := map[string]any{"message": map[string]any{"type": "message", "subtype": "tombstone", "user": "USLACKBOT",
		"ts": messageTS}}
	file := map[string]any{"message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM",
		"ts":   messageTS,
		"text": "<@U0BOT> 営業部", "files": []any{map[string]any{"id": "F1", "name": "名簿.csv"}}}}
	listed := func(text string, file map[string]any) map[string]any {
		return map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS, "text": text,
			"files": []any{file}}
	}
	whole := map[string]any{"id": "F1", "name": "名簿.csv", "mode": "hosted"}
	removed := map[string]any{"previous_message": listed("<@U0BOT> 営業部 名簿", whole),
		"message": listed("<@U0BOT> 営業部 名簿", map[string]any{"id": "F1", "mode": "tombstone"})}
	unnamed := map[string]any{"previous_message": listed("<@U0BOT> 営業部", whole), "message": listed("営業部", whole)}
	same := map[string]any{"message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM",
		"ts":   messageTS,
		"text": "<@U0BOT> 営業部", "attachments": []any{map[string]any{"from_url": "https://example.com", "title": "Example"}}}}
	for _, tt := range []struct {
		name, channel string
		event         map[string]any
		noted         bool
		deleted       bool
	}{
		{"app_mention again", "C0HR", again(nil), false, false}, // message_changed comes, too
		{"a channel's message", "C0HR", messageChanged("C0HR", "channel", nil), true, false},
		{"a private channel's message", "G0HR", messageChanged("G0HR", "group", nil), true, false},
		{"a direct message", "D0DM", messageChanged("D0DM", "im", nil), true, false},
		{"an edit without what was before", "C0HR", messageChanged("C0HR", "channel", map[string]any{
			"previous_message": nil}), true, false},
		{"a link that Slack unfolds", "C0HR", messageChanged("C0HR", "channel", same), false, false},
		{"a file that is added", "C0HR", messageChanged("C0HR", "channel", file), true, false},
		{"a file that is deleted", "C0HR", messageChanged("C0HR", "channel", removed), true, false},
		{"a mention that is taken out", "C0HR", messageChanged("C0HR", "channel", unnamed), false, true},
		{"a deletion", "C0HR", messageChanged("C0HR", "channel", gone), false, true},
		{"a deletion of a direct message", "D0DM", messageChanged("D0DM", "im", gone), false, true},
		{"a deletion whose thread goes on", "C0HR", messageChanged("C0HR", "channel", stone), false, true},
		{"a deletion elsewhere", "C0HR", messageChanged("C0OTHER", "channel", elsewhere), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{}
			h := handler(k)
			r := task.Request{TeamID: "T0TEAM", Channel: tt.channel, User: "U0ALICE", Text: "営業部", MessageTS: messageTS,
				ThreadTS: messageTS}
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
			expect.That(t, a.Request.Text == "営業部" && is == tt.deleted, "%q, ended %+v", a.Request.Text, a.Head.Ended)
			notes := h.Slack.(*noting).notes
			expect.Is(t, len(notes) > 0, tt.noted, "%v", notes)
			for _, n := range notes {
				expect.Is(t, n, tt.channel+"  U0ALICE "+card.EditNote("ja"))
			}
			h.Tasks = failing{}
			if tt.deleted || tt.noted {
				expect.Is(t, post(t, h, signed(callback(t, tt.event, nil))).StatusCode, 503, "what could not be kept")
			}
		})
	}
	for name, event := range map[string]map[string]any{ // whose message's first delivery is still to come
		"an edit of a direct message": messageChanged("D0DM", "im", nil), "a deletion of one": messageChanged("D0DM", "im",
			gone),
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
			"previous_message": map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": messageTS,
				"text": "人事部"}}),
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
	}{
		"a direct message":      {direct("claude: 直して", nil), "D0DM"},
		"from a source":         {direct("claude@demo: 直して", nil), "D0DM"},
		"in a channel":          {mentioned, "C0HR"},
		"in a channel's thread": {map[string]any{"text": mentioned["text"], "thread_ts": "1776675590.000100"}, "C0HR"},
	} {
		k := &kept{}
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
		expect.That(t, len(k.opened) == 0 && len(k.changes) == 1, "%s: opened %d, wrote %d times", name, len(k.opened),
			len(k.changes))
		h.Tasks = failing{}
		expect.Is(t, post(t, h, signed(callback(t, tt.first, nil))).StatusCode, 503, name)
	}
	k := &kept{}
	between := handler(&meanwhile{k, func() { post(t, handler(k), signed(callback(t, direct("claude: 直して", nil), nil))) }})
	post(t, between, signed(callback(t, messageChanged("D0DM", "im",
		map[string]any{"subtype": "message_deleted", "message": nil}), nil)))
	all := k.said()
	expect.That(t, len(all) == 2 && all[1].Deleted && all[1].Changes == conversation.MessageKey(all[0].CreatedAt,
		all[0].MessageID), "%+v", all)
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

func (failing) Load(context.Context, aggregate.Ref) (*task.Aggregate, error) {
	return nil, errors.New("throttled")
}

func (failing) Thread(context.Context, string, string, string, int) ([]aggregate.Ref, error) {
	return nil, errors.New("throttled")
}
