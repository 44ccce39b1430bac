package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// nobody panics at any call, since refused and ignored interactions must make none but one about the person.
type nobody struct {
	Store
	Slack
}

// Settings returns the defaults: an unreadable form is answered in the tenant's language.
func (nobody) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

// Channels lists none.
func (nobody) Channels(context.Context, string, ...string) iter.Seq2[slackapi.Channel, error] {
	return func(func(slackapi.Channel, error) bool) {}
}

func (nobody) Team(context.Context) (string, error) { return "T1", nil }

func (nobody) Tenant(context.Context, string) (tenancy.Tenant, error) {
	return tenancy.Tenant{}, aggregate.ErrNotFound
}

func idle() *Handler {
	now := time.Unix(1776675600, 0)
	clock := func() time.Time { return now }
	return &Handler{Store: nobody{}, Slack: nobody{}, People: &people.People{Slack: everybody{}, Now: clock},
		Results: storetest.Bucket{}, Now: clock,
		Edge: slackapi.Edge{Keys: ringitest.Keys{Secret: signingSecret, App: "A0RINGI"}, Now: clock}}
}

// For any answer but 200, Slack shows a warning that doesn't help the person.
func TestNonsenseAndStrangeKinds(t *testing.T) {
	payload := func(s string) string { return url.Values{"payload": {s}}.Encode() }
	const who = `"team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"}`
	old := fmt.Sprintf(`{"response_action":"errors","errors":{%q:%q}}`, card.ReasonBlock,
		card.Note("ja", explain.ErrMalformedForm))
	for _, tt := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"Slack checks the certificate", "ssl_check=1", 200, ""},
		{"no form", "%zz", 200, ""},
		{"no payload", "a=b", 200, ""},
		{"nothing", "", 200, ""},
		{"no JSON", payload("x"), 200, ""},
		{"no type", payload(`{}`), 200, ""},
		{"another kind", payload(`{"type":"view_closed","user":7}`), 200, ""},
		{"no team", payload(`{"type":"block_actions","user":{"id":"U1"}}`), 200, ""},
		{"a null team", payload(`{"type":"block_actions","team":null,"user":{"id":"U1"}}`), 200, ""},
		{"a user that forges a mention", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1><!here"}}`),
			200, ""},
		{"actions that are no list", payload(`{"type":"block_actions",` + who + `,"actions":"x"}`), 200, ""},
		{"no channel", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},
			"actions":[{"action_id":"approve_prompt"}]}`), 200, ""},
		{"an unknown button", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"approve_everything"}]}`),
			200, ""},
		{"a form without metadata", payload(`{"type":"view_submission",` + who +
			`,"view":{"callback_id":"rejection_reason_modal"}}`), 200,
			old},
		{"a form of another kind", payload(`{"type":"view_submission",` + who +
			`,"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"task\"}"}}`), 200,
			old},
		{"another app's", payload(`{"type":"block_actions","api_app_id":"A0OTHER",` + who + `}`), 403,
			`{"error":"api_app_id is another app's"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := idle()
			out, err := h.Handle(t.Context(), signed(tt.body, h.Now()))
			expect.That(t, err == nil && out.StatusCode == tt.status && out.Body == tt.want,
				"%d %s %v, want %d %s", out.StatusCode, out.Body, err, tt.status, tt.want)
		})
	}
	h := idle()
	unsigned := signed("ssl_check=1", h.Now())
	unsigned.Headers["x-slack-signature"] = "v0=00"
	out, err := h.Handle(t.Context(), unsigned)
	expect.That(t, err == nil && out.StatusCode == 401, "%d %v", out.StatusCode, err)
}

// empty is a tenant without anything to decide.
type empty struct{ Rows }

func (empty) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}
func (empty) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrNotFound
}
func (empty) Decide(
	context.Context, aggregate.Ref, aggregate.Decision[aggregate.Aggregate],
) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrNotFound
}

// silentSlack drops ephemeral messages.
type silentSlack struct{ nobody }

func (silentSlack) Ephemeral(context.Context, string, string, string, string, ...slack.Block) error {
	return nil
}

// FuzzInteraction: any signed interaction is answered with 200, or 403 for another app.
func FuzzInteraction(f *testing.F) {
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	f.Add(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},
		"actions":[{"action_id":"approve_prompt","block_id":"` + id + `","value":"` + id + `"}]}`)
	f.Add(`{"type":"message_action","callback_id":"cancel_task","team":{"id":"T1"},
		"user":{"id":"U1"},"channel":{"id":"C1"},
		"message":{"ts":"1776675600.000100",
		"metadata":{"event_type":"ringi_card","event_payload":{"task":"` + id + `"}}}}`)
	f.Add(`{"type":"view_submission","team":{"id":"T1"},"user":{"id":"U1"},
		"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"prompt\"}",
		"state":{"values":{"a":{"b":{"value":null}}}}}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		h := idle()
		h.Rows, h.Slack = empty{}, silentSlack{}
		out, err := h.Handle(context.Background(), signed(url.Values{"payload": {payload}}.Encode(), h.Now()))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 403 || len(payload) >= 1<<18),
			"%d %v for %q", out.StatusCode, err, payload)
	})
}

// FuzzForm: any text in the place of a form is answered with 200 or 400.
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

// gate is a store with one task, whose policy waits. It records decisions.
type gate struct {
	empty
	a      *task.Aggregate
	change aggregate.Change
}

func (g *gate) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	if ref != g.a.Ref() {
		return nil, aggregate.ErrNotFound
	}
	return g.a, nil
}

func (g *gate) DecideFrom(
	_ context.Context, _ aggregate.Aggregate, decide aggregate.Decision[aggregate.Aggregate],
) (aggregate.Aggregate, error) {
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

// waiting returns a store with a waiting task of the person's own, which they may decide on without a call to Slack.
func waiting(t testing.TB) *gate {
	t.Helper()
	team, now := "T1", time.Unix(1776675600, 0)
	c, _, err := task.Receive(aggregate.TenantID(team), task.Request{TeamID: team, Text: "x", User: "U1", Channel: "D1",
		ChannelType: "im", MessageTS: "1776675600.000100", ThreadTS: "1776675600.000100",
		Source: task.SourceAgentContainer}, now)
	expect.NoError(t, err)
	a := (&task.Aggregate{}).Apply(c)
	for _, d := range []func() (aggregate.Change, error){
		func() (aggregate.Change, error) { return a.Extracted(1, task.Extract{Title: "x"}, now) },
		func() (aggregate.Change, error) { return a.BeginPrompt(1, now) },
		func() (aggregate.Change, error) {
			return a.FinishPrompt(1, task.Drafted{Content: "x"}, tenancy.DefaultSettings(), now)
		},
	} {
		c := expect.Value(d())(t)
		a = a.Apply(c)
	}
	return &gate{a: a}
}

// FuzzModal: for any state and private_metadata of a form, a rejection is committed only with a reason that a card can
// show, and only for the prompt that the form names.
func FuzzModal(f *testing.F) {
	g := waiting(f)
	meant := expect.Value(json.Marshal(card.Rejection{Type: task.CardPrompt, ID: g.a.Prompt().ID,
		TaskID: g.a.Head.TaskID, Hash: g.a.Asked(g.a.Prompt().ID).Hash}))(f)
	f.Add("もっと簡潔に", string(meant))
	f.Add(" \n\t ", string(meant))
	f.Add(strings.Repeat("長", aggregate.MaxReason+1), string(meant))
	f.Add("\x00\u202e<!channel>", string(meant))
	f.Add("x", `{"type":"prompt","task_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}`)
	f.Add("x", `{"type":1}`)
	f.Fuzz(func(t *testing.T, reason, private string) {
		g, h := waiting(t), idle()
		h.Rows, h.Slack = g, silentSlack{}
		payload := expect.Value(json.Marshal(map[string]any{
			"type": "view_submission", "team": map[string]any{"id": "T1"}, "user": map[string]any{"id": "U1"},
			"view": map[string]any{
				"callback_id": card.RejectionCallback, "private_metadata": private,
				"state": map[string]any{"values": map[string]any{
					card.ReasonBlock: map[string]any{card.ReasonInput: map[string]any{"value": reason}}}},
			},
		}))(t)
		out, err := h.Handle(context.Background(), signed(url.Values{"payload": {string(payload)}}.Encode(), h.Now()))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 400 || len(payload) >= 1<<18),
			"%d %v for %q, %q", out.StatusCode, err, reason, private)
		clean := utf8.ValidString(reason) && strings.TrimSpace(reason) != "" &&
			utf8.RuneCountInString(reason) <= aggregate.MaxReason && !strings.ContainsFunc(reason, unicode.IsControl)
		expect.That(t, !clean || private != string(meant) || !g.change.Empty(),
			"not rejected, with %q: %d %s", reason, out.StatusCode, out.Body)
		for _, r := range g.change.Rows {
			p, ok := r.(*task.Prompt)
			if !ok {
				continue
			}
			kept := p.RejectionReason
			expect.That(t, strings.TrimSpace(kept) != "" && utf8.RuneCountInString(kept) <= aggregate.MaxReason &&
				utf8.ValidString(kept), "kept %q of %q", kept, reason)
			var m card.Rejection
			expect.That(t, json.Unmarshal([]byte(private), &m) == nil && m.ID == p.ID && m.TaskID == p.TaskID,
				"rejected by %q", private)
		}
	})
}

// known makes another workspace a tenant.
func (w *world) known(team string) {
	w.T.Helper()
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenancy.Tenant{ID: aggregate.TenantID(team), Name: team,
		TeamID: team, Admins: []string{}}, w.Now()))(w.T)
}

// Interactions from a workspace that Ringi doesn't serve are accepted and counted, but get no note and no dialog. In
// another tenant the person is told that there is no such task.
func TestInteractionsOfAWorkspaceThatIsNoneOfOurs(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	id := w.prompted().ID
	of := func(team string, p map[string]any) map[string]any {
		p["team"] = map[string]any{"id": team, "domain": "x"}
		p["user"] = map[string]any{"id": webapi.Tanaka, "username": "x", "team_id": team}
		return p
	}
	before := w.Load().Head.Rev
	w.slack.Calls()
	for _, p := range []map[string]any{
		w.click(webapi.Tanaka, "approve_prompt", id), w.click(webapi.Alex, "reject_prompt", id), w.form(webapi.Alex,
			"prompt", id, "いいえ"),
	} {
		out := w.post(of("T0FOREIGN", p))
		expect.That(t, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
	}
	for _, c := range w.slack.Calls() {
		expect.That(t, c == "auth.test", "called %s", c)
	}
	org := w.click(webapi.Suzuki, "approve_prompt", id) // of an installation for a whole organization
	org["team"], org["enterprise"], org["is_enterprise_install"] = nil, map[string]any{"id": "E1", "name": "x"}, true
	w.quiet(w.post(org), webapi.Suzuki)
	w.known("T0KNOWN")
	expect.Is(t, w.hears(webapi.Tanaka, of("T0KNOWN", w.click(webapi.Tanaka, "approve_prompt", id))),
		card.Note("ja", aggregate.ErrNotFound), "one of ours is told")
	expect.Is(t, w.Load().Head.Rev, before, "the task moved from %d to", before)
	out := w.post(w.click(webapi.Suzuki, "approve_prompt", id))
	expect.That(t, out.StatusCode == 200 && w.Load().Prompt().Status == aggregate.Approved, "our own %s: answered %d",
		ringitest.Team, out.StatusCode)
}

// The workspace's own bot looks up the person who clicked, and opens the dialogs.
func TestClicksAreAnsweredByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, only := w.slack.ByTenant(t)
	w.h.Slack, w.h.People = client, &people.People{Slack: client, Now: w.Now}
	p := w.prompted()
	w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID))
	only(w.Ref.Tenant, "users.info")
}
