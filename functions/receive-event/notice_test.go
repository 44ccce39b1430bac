package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestURLVerificationRepeatsTheChallenge(t *testing.T) {
	body := `{"token":"x","challenge":"abc","type":"url_verification"}`
	out := post(t, handler(&kept{}), body)
	expect.That(t, out.StatusCode == 200 && out.Body == `{"challenge":"abc"}`, "%d %s", out.StatusCode, out.Body)
	unsigned := signed(body)
	delete(unsigned.Headers, "x-slack-signature")
	out = expect.Value(handler(&kept{}).Handle(t.Context(), unsigned))(t)
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
		out := send(t, handler(s), fields)
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
		fields := with(opened("U0ALICE"))
		maps.Copy(fields, bad)
		out := send(t, handler(s), fields)
		expect.That(t, out.StatusCode == 400, "%v is answered %d", bad, out.StatusCode)
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
			out := send(t, handler(s), tt.event, tt.outer)
			expect.Must(t, out.StatusCode == 200, "answered %d %s", out.StatusCode, out.Body)
			diff := cmp.Diff([]ending{tt.want}, s.ended, cmp.AllowUnexported(ending{}), cmp.Comparer(time.Time.Equal))
			expect.That(t, diff == "" && len(s.changes) == 0, "%s, and %d changes", diff, len(s.changes))
			s.err = errors.New("throttled")
			out = send(t, handler(s), tt.event, tt.outer)
			expect.That(t, out.StatusCode == 503, "what could not be kept is answered %d", out.StatusCode)
		})
	}
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
		out := post(t, h, body)
		expect.That(t, out.StatusCode == 200 && len(q.sent) == want, "%s: answered %d, sent %v", tab, out.StatusCode, q.sent)
		if want == 1 {
			asked := expect.Value(effect.ReadMessage(*q.sent[0].MessageBody))(t)
			expect.That(t, asked.Tab() && asked.ID == "U0ALICE" && asked.Team == "T0TEAM" && len(k.changes) == 0, "%+v",
				asked)
			q.err = errors.New("throttled")
			expect.Is(t, post(t, h, body).StatusCode, 503, "Slack sends it again")
		}
	}
}

func TestKeysOfWhoLeftAreRevoked(t *testing.T) {
	k := &kept{}
	h := handler(k)
	send := func(change string, is any) int {
		user := map[string]any{"id": "U0SATO", "deleted": false, "is_restricted": false, "profile": map[string]any{}}
		user[change] = is
		return send(t, h, map[string]any{"type": "user_change", "user": user, "text": nil, "ts": nil,
			"channel": nil, "team": nil}).StatusCode
	}
	expect.Is(t, send("profile", map[string]any{"status_text": "休暇中"}), 200)
	expect.Is(t, len(k.left)+len(k.looks), 0, "somebody who only changed their profile stays")
	expect.Is(t, send("deleted", true), 200)
	expect.Is(t, send("is_restricted", true), 200)
	expect.That(t, len(k.left) == 2 && strings.HasSuffix(k.left[0], " U0SATO"), "%v", k.left)
	expect.Same(t, []string{aggregate.TenantID("T0TEAM")}, k.looks)
	expect.Is(t, send("deleted", "yes"), 400)
	k.err = errors.New("throttled")
	expect.Is(t, send("deleted", true), 503, "Slack sends it again")
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
	approving, acts := with(talk, map[string]any{"text": "承認します。"}), card.NoteActs.Told("ja")
	for name, tt := range map[string]struct {
		fields map[string]any
		beside *task.Aggregate
		want   string // of the note; empty: none
		makes  bool
	}{
		"a mention":                      {mention, open, "部署別でお願いします", false},
		"a reply in direct messages":     {reply, open, "部署別でお願いします", false},
		"talk":                           {talk, open, "", false},
		"that approves":                  {approving, open, acts, false},
		"that cancels":                   {with(talk, map[string]any{"text": "取り下げてください"}), open, acts, false},
		"that approves politely":         {with(talk, map[string]any{"text": "承認致します"}), open, acts, false},
		"that approves and thanks":       {with(talk, map[string]any{"text": "承認します！🙇 よろしくお願いします。"}), open, acts, false},
		"that approves with an emoji":    {with(talk, map[string]any{"text": "LGTM :+1::skin-tone-2:"}), open, acts, false},
		"that takes it back":             {with(talk, map[string]any{"text": "すみません、中止してください"}), open, acts, false},
		"that approves a list":           {with(talk, map[string]any{"text": "承認 一覧をください"}), open, "", false},
		"a mention that approves":        {with(mention, map[string]any{"text": "<@U0BOT> LGTM!"}), open, acts, false},
		"that asks who approves":         {with(talk, map[string]any{"text": "承認者の一覧"}), open, "", false},
		"a mention that cancels a run":   {with(mention, map[string]any{"text": "<@U0BOT> キャンセル"}), ended, acts, false},
		"a direct reply that cancels it": {with(reply, map[string]any{"text": "取消"}), ended, acts, false},
		"that rejects, in wide letters":  {with(talk, map[string]any{"text": "Ｒｅｊｅｃｔ"}), open, acts, false},
		"that is about a rejection":      {with(talk, map[string]any{"text": "却下の理由は?"}), open, "", false},
		"a mention that cancels":         {with(mention, map[string]any{"text": "<@U0BOT> キャンセル"}), open, acts, false},
		"that approves something else":   {approving, nil, "", false},
		"that approves, of a stranger":   {with(approving, map[string]any{"team": "T0ELSE"}), open, "", false},
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
		expect.Is(t, send(t, h, tt.fields).StatusCode, 200, name)
		notes := h.Slack.(*noting)
		expect.Is(t, len(k.changes) == 1, tt.makes, name)
		expect.Must(t, (len(notes.notes) == 1) == (tt.want != ""), "%s: %v", name, notes.notes)
		switch {
		case tt.want == "":
		case len(notes.blocks[0]) < 2:
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
			expect.Is(t, send(t, h, tt.fields).StatusCode, 503, name)
		}
	}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: open.Head.Requester, Team: "T0TEAM", Member: true}
	listed := aggregate.Policy{Team: "T0TEAM", Mode: aggregate.ApproversList, Approvers: []string{"U0BOSS"}}
	text, blocks := card.NoRequest(open, by, listed, "部署別でお願いします", "ja")
	expect.That(t, len(blocks) == 1 && !strings.Contains(text, "ボタン"), "whoever may not reject is told to: %s", text)
}
