package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// FuzzForm: whatever stands in the place of a form, the answer is 200 or 400.
func FuzzForm(f *testing.F) {
	f.Add("payload=%7B%22type%22%3A%22block_actions%22%7D")
	f.Add("ssl_check=1&token=x")
	f.Add("payload=&payload=%7B%7D")
	f.Add("payload=%zz")
	f.Add("a;b=c&payload")
	f.Fuzz(func(t *testing.T, body string) {
		h := idle()
		h.Rows, h.Slack = empty{}, silentSlack{}
		out, err := h.Handle(context.Background(), signed(body, h.Now()))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 400 || len(body) >= 1<<18),
			"%d %v for %q", out.StatusCode, err, body)
	})
}

// gate is a store with one task, whose policy waits; it keeps what was decided.
type gate struct {
	empty
	a      *task.Aggregate
	change aggregate.Change
}

func (g *gate) Decide(_ context.Context, ref aggregate.Ref, decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	if ref != g.a.Ref() {
		return nil, aggregate.ErrNotFound
	}
	c, err := decide(g.a)
	g.change = c
	return g.a, err
}

func (g *gate) Redraw(context.Context, aggregate.Ref) error { return nil }

// everybody is a directory in which nobody is a guest.
type everybody struct{ people.Directory }

func (everybody) User(_ context.Context, id string) (slackapi.User, error) {
	return slackapi.User{ID: id, Team: "T1"}, nil
}

// waiting is a task that a person may decide on, without asking Slack: it is the requester's own.
func waiting(t testing.TB) *gate {
	t.Helper()
	team, now := "T1", time.Unix(1776675600, 0)
	c, _, err := task.Receive(aggregate.TenantID(team), task.Request{
		TeamID: team, Text: "x", User: "U1", Channel: "D1", ChannelType: "im", MessageTS: "1776675600.000100", ThreadTS: "1776675600.000100", Source: task.SourceAgentContainer,
	}, now)
	expect.NoError(t, err)
	a := (&task.Aggregate{}).Apply(c)
	for _, d := range []func() (aggregate.Change, error){
		func() (aggregate.Change, error) { return a.Extracted(1, task.Extract{Title: "x"}, now) },
		func() (aggregate.Change, error) { return a.BeginPrompt(1, now) },
		func() (aggregate.Change, error) { return a.FinishPrompt(1, "x", tenancy.DefaultSettings(), now) },
	} {
		c := expect.Value(d())(t)
		a = a.Apply(c)
	}
	return &gate{a: a}
}

// FuzzModal: whatever a form's state and private_metadata say, a rejection is
// committed only with a reason that a card can show, of the prompt that is meant.
func FuzzModal(f *testing.F) {
	g := waiting(f)
	meant := expect.Value(json.Marshal(card.Rejection{Type: task.CardPrompt, ID: g.a.Prompt().ID, TaskID: g.a.Head.TaskID}))(f)
	f.Add("もっと簡潔に", string(meant))
	f.Add(" \n\t ", string(meant))
	f.Add(strings.Repeat("長", task.MaxReason+1), string(meant))
	f.Add("\x00\u202e<!channel>", string(meant))
	f.Add("x", `{"type":"prompt","task_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`)
	f.Add("x", `{"type":1}`)
	f.Fuzz(func(t *testing.T, reason, private string) {
		g, h := waiting(t), idle()
		h.Rows, h.Slack, h.People = g, silentSlack{}, &people.People{Slack: everybody{}, Now: h.Now}
		payload := expect.Value(json.Marshal(map[string]any{
			"type": "view_submission", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U1"}, "view": map[string]any{
				"callback_id": card.RejectionCallback, "private_metadata": private,
				"state": map[string]any{"values": map[string]any{card.ReasonBlock: map[string]any{card.ReasonInput: map[string]any{"value": reason}}}},
			},
		}))(t)
		out, err := h.Handle(context.Background(), signed(url.Values{"payload": {string(payload)}}.Encode(), h.Now()))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 400 || len(payload) >= 1<<18),
			"%d %v for %q, %q", out.StatusCode, err, reason, private)
		clean := utf8.ValidString(reason) && strings.TrimSpace(reason) != "" && utf8.RuneCountInString(reason) <= task.MaxReason && !strings.ContainsFunc(reason, unicode.IsControl)
		expect.That(t, !clean || private != string(meant) || !g.change.Empty(),
			"not rejected, with %q: %d %s", reason, out.StatusCode, out.Body)
		for _, r := range g.change.Rows {
			p, ok := r.(*task.Prompt)
			if !ok {
				continue
			}
			kept := p.RejectionReason
			if strings.TrimSpace(kept) == "" || utf8.RuneCountInString(kept) > task.MaxReason || !utf8.ValidString(kept) {
				t.Errorf("kept %q of %q", kept, reason)
			}
			var m card.Rejection
			expect.That(t, json.Unmarshal([]byte(private), &m) == nil && m.ID == p.ID && m.TaskID == p.TaskID,
				"rejected by %q", private)
		}
	})
}
