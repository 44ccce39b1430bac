package main

import (
	"context"
	"net/url"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
)

// nobody refuses to be asked anything: what is refused or ignored must not get this far.
type nobody struct {
	Store
	Slack
}

// Settings are the defaults: a form that can't be read is answered in the tenant's language.
func (nobody) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

// Team can't be asked where there is one workspace only.
func (nobody) Team(context.Context) (string, error) {
	return "", slackapi.Refused{Code: slackapi.CodeUnknownMethod}
}

func idle() *Handler {
	now := time.Unix(1776675600, 0)
	clock := func() time.Time { return now }
	return &Handler{Store: nobody{}, Slack: nobody{}, Edge: inbound.Edge{Keys: slacktest.Keys{Secret: signingSecret, App: "A0RINGI"}, Now: clock}, Now: clock}
}

// Slack shows a warning sign for every answer but 200, and the person can do nothing about it.
func TestNonsenseAndStrangeKinds(t *testing.T) {
	payload := func(s string) string { return url.Values{"payload": {s}}.Encode() }
	const who = `"team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"}`
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
		{"a number for a type", payload(`{"type":1}`), 200, ""},
		{"another kind", payload(`{"type":"view_closed","user":7}`), 200, ""},
		{"no team", payload(`{"type":"block_actions","user":{"id":"U1"}}`), 200, ""},
		{"a null team", payload(`{"type":"block_actions","team":null,"user":{"id":"U1"}}`), 200, ""},
		{"a user that forges a mention", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1><!here"}}`), 200, ""},
		{"actions that are no list", payload(`{"type":"block_actions",` + who + `,"actions":"x"}`), 200, ""},
		{"no actions", payload(`{"type":"block_actions",` + who + `}`), 200, ""},
		{"no channel", payload(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"actions":[{"action_id":"approve_prompt"}]}`), 200, ""},
		{"an unknown button", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"approve_everything"}]}`), 200, ""},
		{"a shortcut's name on a button", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"cancel_task"}]}`), 200, ""},
		{"an unknown rejection", payload(`{"type":"block_actions",` + who + `,"actions":[{"action_id":"reject_task"}]}`), 200, ""},
		{"an unknown shortcut", payload(`{"type":"message_action","callback_id":"x",` + who + `}`), 200, ""},
		{"an unknown form", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"x"}}`), 200, ""},
		{"a form without metadata", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"rejection_reason_modal"}}`), 200, `{"response_action":"errors","errors":{"rejection_reason_block":"このフォームは古くなっています。閉じて、最新のカードのボタンからもう一度お試しください。"}}`},
		{"a form of another kind", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"task\"}"}}`), 200, `{"response_action":"errors","errors":{"rejection_reason_block":"このフォームは古くなっています。閉じて、最新のカードのボタンからもう一度お試しください。"}}`},
		{"a form whose metadata is no JSON", payload(`{"type":"view_submission",` + who + `,"view":{"callback_id":"rejection_reason_modal","private_metadata":"{"}}`), 200, `{"response_action":"errors","errors":{"rejection_reason_block":"このフォームは古くなっています。閉じて、最新のカードのボタンからもう一度お試しください。"}}`},
		{"another app's", payload(`{"type":"block_actions","api_app_id":"A0OTHER",` + who + `}`), 403, `{"error":"api_app_id is another app's"}`},
		{"another app's unknown kind", payload(`{"type":"view_closed","api_app_id":"A0OTHER"}`), 403, `{"error":"api_app_id is another app's"}`},
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
	if out, err := h.Handle(t.Context(), unsigned); err != nil || out.StatusCode != 401 {
		t.Errorf("%d %v", out.StatusCode, err)
	}
}

// empty is a tenant with nothing to decide on.
type empty struct{ Rows }

func (empty) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}
func (empty) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrNotFound
}
func (empty) Decide(context.Context, aggregate.Ref, aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	return nil, aggregate.ErrNotFound
}

// silentSlack drops ephemeral messages.
type silentSlack struct{ nobody }

func (silentSlack) Ephemeral(context.Context, string, string, string, string) error { return nil }

// FuzzInteraction: whatever Slack signs, the answer is 200, and 403 for another app.
func FuzzInteraction(f *testing.F) {
	const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	f.Add(`{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"action_id":"approve_prompt","block_id":"` + id + `","value":"` + id + `"}]}`)
	f.Add(`{"type":"message_action","callback_id":"cancel_task","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},"message":{"ts":"1776675600.000100","metadata":{"event_type":"ringi_card","event_payload":{"task":"` + id + `"}}}}`)
	f.Add(`{"type":"view_submission","team":{"id":"T1"},"user":{"id":"U1"},"view":{"callback_id":"rejection_reason_modal","private_metadata":"{\"type\":\"prompt\"}","state":{"values":{"a":{"b":{"value":null}}}}}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		h := idle()
		h.Rows, h.Slack = empty{}, silentSlack{}
		out, err := h.Handle(context.Background(), signed(url.Values{"payload": {payload}}.Encode(), h.Now()))
		expect.Must(t, err == nil && (out.StatusCode == 200 || out.StatusCode == 403 || len(payload) >= 1<<18),
			"%d %v for %q", out.StatusCode, err, payload)
	})
}
