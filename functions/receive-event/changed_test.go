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
	send(t, handler(k), direct("claude: hi", map[string]any{"subtype": "file_share", "files": files}))
	all := k.said()[0].Attachments
	expect.Must(t, len(all) == 21, "%d attachments", len(all))
	expect.Same(t, all[0], conversation.Attachment{Kind: "unread", Name: "+5", FileID: "beyond " + root,
		Why: conversation.Beyond})
}

// wrote is Alice's message within an event about a change, with more.
func wrote(ts, text string, more map[string]any) map[string]any {
	return with(map[string]any{"type": "message", "user": "U0ALICE", "team": "T0TEAM", "ts": ts, "text": text}, more)
}

// edits is the event of Alice's message that was edited; deletes that of one that was deleted. more replaces members.
func edits(channel string, was, is, more map[string]any) map[string]any {
	kind := map[string]string{"D": "im", "C": "channel", "G": "group"}[channel[:1]]
	return with(map[string]any{"type": "message", "subtype": "message_changed", "hidden": true, "channel": channel,
		"channel_type": kind, "ts": "1776675700.000200", "event_ts": "1776675700.000200", "user": nil, "text": nil,
		"team": nil, "message": is, "previous_message": was}, more)
}

func deletes(channel string, was map[string]any) map[string]any {
	return edits(channel, was, nil, map[string]any{"subtype": "message_deleted", "deleted_ts": was["ts"]})
}

// stone is what stays of a deleted message whose thread goes on.
var stone = map[string]any{"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "ts": root, "text": "x"}

// editedAt is what an edited message says of its edit.
var editedAt = map[string]any{"edited": map[string]any{"user": "U0ALICE", "ts": "1776675700.000000"}}

func TestAPersonsChangeOfAMessageReachesTheAgent(t *testing.T) {
	const reply = "1776675600.000100"
	keyOf := func(channel, ts string) string {
		m := expect.Value(conversation.Tell(conversation.Inbound{Team: "T0TEAM", Channel: channel, Thread: root, TS: ts},
			conversation.Opening{}, now))(t)
		return m.Rows[0].(*conversation.Inbox).Message
	}
	in, text := map[string]any{"thread_ts": root}, map[string]any{"text": "y"}
	slackbot := map[string]any{"user": "USLACKBOT"}
	pay := wrote(reply, "pay 100", in)
	bot := wrote(reply, "x", map[string]any{"user": "U0BOT", "bot_id": "B1", "thread_ts": root})
	stranger := wrote(reply, "x", map[string]any{"user": "U0BOB", "team": "T0OTHER", "thread_ts": root})
	hi, mention := wrote(root, "claude: hi", nil), wrote(root, "<@U0BOT> claude: 直して", nil)
	file := map[string]any{"files": []any{map[string]any{"id": "F1", "name": "a.txt", "user": "U0BOB"}}}
	shares := map[string]any{"attachments": []any{map[string]any{"is_share": true, "author_id": "U0BOB", "text": "消さないで"}}}
	type told struct {
		of, text string // the changed message; "" if nothing is told
		deleted  bool
		quotes   []string
	}
	for name, tt := range map[string]struct {
		event map[string]any
		told
	}{
		"an edit": {edits("D0DM", pay, wrote(reply, "pay &lt;200&gt;", in), nil), told{reply, "pay <200>", false, nil}},
		"of the first message, with the agent's name": {edits("D0DM", hi, wrote(root, "claude: hello", nil), nil),
			told{root, "hello", false, nil}},
		"of the first message to nothing but the name": {edits("D0DM", hi, wrote(root, "claude:", nil), nil),
			told{root, "claude:", false, nil}},
		"a deletion":               {deletes("D0DM", pay), told{reply, "", true, nil}},
		"one whose thread goes on": {edits("D0DM", hi, stone, nil), told{root, "", true, nil}},
		"an edit without what was before": {edits("D0DM", nil, wrote(reply, "y", with(in, editedAt)), nil),
			told{reply, "y", false, nil}},
		"a link that Slack unfolds":       {edits("D0DM", pay, pay, nil), told{}},
		"without what was before":         {edits("D0DM", nil, pay, nil), told{}},
		"a deletion without whose it was": {with(deletes("D0DM", pay), map[string]any{"previous_message": nil}), told{}},
		"what an app changes":             {edits("D0DM", bot, with(bot, text), nil), told{}},
		"a stranger's edit":               {edits("D0DM", stranger, with(stranger, text), nil), told{}},
		"what Slackbot says of it":        {edits("D0DM", with(hi, slackbot), with(hi, slackbot, text), nil), told{}},
		"an edit that names no agent":     {edits("C0HR", pay, wrote(reply, "y", in), nil), told{}},
		"an edit in another thread":       {edits("D0DM", wrote("1776671000.000100", "x", nil), pay, nil), told{}},
		"an edit of a mention": {edits("C0HR", mention, wrote(root, "<@U0BOT> claude: 消して", nil), nil),
			told{root, "消して", false, nil}},
		"a file that is added to one": {edits("C0HR", mention, with(mention, file), nil),
			told{root, "直して", false, []string{"U0BOB"}}},
		"a message that one forwards now": {edits("C0HR", mention, with(mention, shares), nil),
			told{root, "直して", false, []string{"U0BOB"}}},
		"a deletion of one": {deletes("C0HR", mention), told{root, "", true, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			h := handler(k)
			channel := tt.event["channel"].(string)
			if channel == "C0HR" {
				send(t, h, mentioned("claude: 直して", nil))
			} else {
				send(t, h, direct("claude: hi", nil))
			}
			expect.Is(t, send(t, h, tt.event).StatusCode, 200)
			if tt.of == "" {
				expect.That(t, len(k.told) == 1 && len(k.changes) == 0, "told %v", k.said())
				return
			}
			expect.Must(t, len(k.told) == 2, "told %d times", len(k.told))
			m, i := k.said()[1], k.told[1].Rows[0].(*conversation.Inbox)
			expect.That(t, m.Content == tt.text && m.Deleted == tt.deleted && m.Changes == keyOf(channel, tt.of) &&
				m.User == "U0ALICE" && slices.Equal(m.Quotes(), tt.quotes) && m.SessionID == k.said()[0].SessionID, "told %+v", m)
			expect.That(t, i.Changes == m.Changes && i.Deleted == tt.deleted && i.Message == m.Key(), "waits as %+v", i)
		})
	}
	k := &kept{}
	h := handler(k)
	send(t, h, direct("claude: hi", nil))
	for _, more := range []map[string]any{{"ts": "soon"}, {"message": 7}} {
		out := send(t, h, edits("D0DM", pay, wrote(reply, "y", in), more))
		expect.That(t, out.StatusCode == 400 && len(k.told) == 1, "%v was answered %d", more, out.StatusCode)
	}
}

// received makes a request, and is what the handler finds of it.
func received(t *testing.T, r task.Request) (requests, aggregate.Ref) {
	t.Helper()
	r.TeamID, r.User = "T0TEAM", "U0ALICE"
	made, ref, err := task.Receive(aggregate.TenantID("T0TEAM"), r, now)
	expect.NoError(t, err)
	return requests{ref.ID: (&task.Aggregate{}).Apply(made)}, ref
}

// The message by which a person made a request that an agent offered says "yes", not what the request says: its change
// is told to the agent, and ends nothing of what was made.
func TestAChangeOfTheYesIsTheConversations(t *testing.T) {
	const reply = "1776675600.000100"
	yes := wrote(reply, "はい、それでお願いしまs", map[string]any{"thread_ts": root})
	for name, event := range map[string]map[string]any{"a deletion": deletes("D0DM", yes),
		"an edit": edits("D0DM", yes, with(yes, map[string]any{"text": "はい"}), nil)} {
		k := &kept{}
		h := handler(k)
		send(t, h, direct("claude: 営業部の残業をまとめたい", nil))
		all, ref := received(t, task.Request{Channel: "D0DM", ChannelType: "im", MessageTS: reply, ThreadTS: root,
			Text: "営業部の10月の残業を集計し、鈴木さんに DM で送る", EventID: task.OfferedIn("s1")})
		h.Tasks = all
		text, told := all[ref.ID].Request.Text, len(k.told)
		send(t, h, event)
		expect.That(t, all[ref.ID].Request.Text == text && all[ref.ID].Head.Ended == nil, "%s: %+v", name, all[ref.ID])
		expect.Is(t, len(k.told), told+1, name)
	}
}

// What changes a request's message reaches its request, and makes no second one.
func TestAChangeOfARequestsMessageReachesIt(t *testing.T) {
	was, is := wrote(root, "<@U0BOT> 営業部", nil), wrote(root, "<@U0BOT> 人事部", editedAt)
	again := mentioned("人事部", editedAt)
	listed := func(text string, file map[string]any) map[string]any {
		return wrote(root, text, map[string]any{"files": []any{file}})
	}
	whole := map[string]any{"id": "F1", "name": "名簿.csv", "mode": "hosted"}
	gone := map[string]any{"id": "F1", "mode": "tombstone"}
	unfolded := with(was, map[string]any{"attachments": []any{map[string]any{"from_url": "https://example.com"}}})
	for _, tt := range []struct {
		name           string
		event          map[string]any
		noted, deleted bool
	}{
		{"app_mention again", again, false, false}, // message_changed comes, too
		{"a channel's message", edits("C0HR", was, is, nil), true, false},
		{"a private channel's message", edits("G0HR", was, is, nil), true, false},
		{"a direct message", edits("D0DM", was, is, nil), true, false},
		{"an edit without what was before", edits("C0HR", nil, is, nil), true, false},
		{"another user group", edits("C0HR", wrote(root, "<@U0BOT> <!subteam^S1>", nil),
			wrote(root, "<@U0BOT> <!subteam^S2>", editedAt), nil), true, false},
		{"a link that Slack unfolds", edits("C0HR", was, unfolded, nil), false, false},
		{"a file that is added", edits("C0HR", was, listed("<@U0BOT> 営業部", whole), nil), true, false},
		{"a file that is deleted", edits("C0HR", listed("<@U0BOT> 名簿", whole), listed("<@U0BOT> 名簿", gone), nil), true,
			false},
		{"a mention that is taken out", edits("C0HR", was, wrote(root, "営業部", nil), nil), false, true},
		{"a deletion", deletes("C0HR", was), false, true},
		{"a deletion of a direct message", deletes("D0DM", was), false, true},
		{"a deletion whose thread goes on", edits("C0HR", was, stone, nil), false, true},
		{"a deletion elsewhere", deletes("C0OTHER", wrote(root, "営業部", nil)), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := &kept{}
			h, channel := handler(k), tt.event["channel"].(string)
			if channel == "C0OTHER" {
				channel = "C0HR"
			}
			all, ref := received(t, task.Request{Channel: channel, Text: "営業部", MessageTS: root, ThreadTS: root})
			h.Tasks = all
			for range 2 { // Slack may deliver it twice
				out := send(t, h, tt.event)
				expect.That(t, out.StatusCode == 200 && len(k.changes) == 0 && len(k.told) == 0, "answered %d, made %d, told %d",
					out.StatusCode, len(k.changes), len(k.told))
			}
			a := all[ref.ID]
			ended := a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDeleted
			expect.That(t, a.Request.Text == "営業部" && ended == tt.deleted, "%q, ended %+v", a.Request.Text, a.Head.Ended)
			notes := h.Slack.(*noting).notes
			expect.Is(t, len(notes) > 0, tt.noted, "%v", notes)
			for _, n := range notes {
				expect.Is(t, n, channel+"  U0ALICE "+card.EditNote("ja"))
			}
			h.Tasks = failing{}
			if tt.deleted || tt.noted {
				expect.Is(t, send(t, h, tt.event).StatusCode, 503, "what could not be kept")
			}
		})
	}
	for name, tt := range map[string]struct { // whose message's first delivery is still to come
		event map[string]any
		text  string
		made  int
	}{
		"an edit of a direct message": {edits("D0DM", was, is, nil), "人事部", 1},
		"a deletion of one":           {deletes("D0DM", was), "", 1},
		"a deletion":                  {deletes("C0HR", was), "", 1},
		"an edit in a channel":        {edits("C0HR", was, is, nil), "", 0}, // its app_mention comes, too
		"none of Ringi's":             {deletes("C0HR", wrote(root, "人事部", nil)), "", 0},
		"an edit that mentions Ringi": {again, "人事部", 1},
	} {
		k := &kept{}
		expect.Is(t, send(t, handler(k), tt.event).StatusCode, 200, name)
		expect.Must(t, len(k.changes) == tt.made, "%s makes %d", name, len(k.changes))
		if tt.made == 0 {
			continue
		}
		first := expect.Value(task.ID("T0TEAM", tt.event["channel"].(string), root))(t)
		head := k.changes[0].Head.(*task.Head)
		expect.That(t, head.TaskID == first && (head.Ended != nil) == (tt.text == ""), "%s makes %+v", name, head)
		expect.Is(t, k.request(t).Text, tt.text, name)
		if tt.event["type"] == "message" { // too late for that
			k = &kept{}
			send(t, handler(k), with(tt.event, map[string]any{"ts": "1776679300.000200", "event_ts": "1776679300.000200"}))
			expect.Is(t, len(k.changes), 0, "%s, an hour later", name)
		}
	}
}

// A deletion that overtakes the first message to an agent: the message opens no conversation when it comes, and what
// opened one in this moment is told.
func TestADeletedMessageOpensNoConversation(t *testing.T) {
	for name, first := range map[string]map[string]any{
		"a direct message":      direct("claude: 直して", nil),
		"from a source":         direct("claude@demo: 直して", nil),
		"in a channel":          mentioned("claude: 直して", nil),
		"in a channel's thread": mentioned("claude: 直して", map[string]any{"thread_ts": "1776675590.000100"}),
	} {
		k := &kept{}
		was := wrote(root, "", with(first, map[string]any{"channel": nil, "type": "message"}))
		gone := deletes(first["channel"].(string), was)
		expect.Is(t, send(t, handler(k), gone).StatusCode, 200, name)
		expect.Must(t, len(k.changes) == 1, "%s: wrote %d times", name, len(k.changes))
		h, made := handler(k), (&task.Aggregate{}).Apply(k.changes[0])
		h.Tasks = requests{made.Head.TaskID: made}
		expect.Is(t, send(t, h, first).StatusCode, 200, name)
		expect.That(t, len(k.opened) == 0 && len(k.changes) == 1, "%s: opened %d, wrote %d times", name, len(k.opened),
			len(k.changes))
		h.Tasks = failing{}
		expect.Is(t, send(t, h, first).StatusCode, 503, name)
	}
	k := &kept{}
	between := handler(&meanwhile{k, func() { send(t, handler(k), direct("claude: 直して", nil)) }})
	send(t, between, deletes("D0DM", wrote(root, "<@U0BOT> 営業部", nil)))
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

// failing is a table that is away.
type failing struct{}

var errAway = errors.New("throttled")

func (failing) Decide(context.Context, aggregate.Ref, task.Decision) (*task.Aggregate, error) {
	return nil, errAway
}

func (failing) Load(context.Context, aggregate.Ref) (*task.Aggregate, error) { return nil, errAway }

func (failing) Thread(context.Context, string, string, string, int) ([]aggregate.Ref, error) {
	return nil, errAway
}
