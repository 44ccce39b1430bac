package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

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
	w := pipelinetest.Start(t).World(t)
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
