package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
)

const signingSecret = "s3cret"

var now = time.Date(2026, 4, 20, 9, 0, 0, 0, time.UTC)

// kept records the rows that would be written.
type kept struct {
	changes  []aggregate.Change
	settings tenancy.Settings // the zero value means the defaults
	opened   map[string]*conversation.Aggregate
	told     []aggregate.Change
	ended    []ending
	left     []string // whose keys were revoked
	bot      string   // the id that the tenant's row has
	err      error
}

// ending has the arguments of one call that ends integrations.
type ending struct {
	tenant string
	why    tenancy.IntegrationReason
	at     time.Time
}

func (k *kept) Create(_ context.Context, c aggregate.Change) error {
	k.changes = append(k.changes, c)
	return k.err
}

func (k *kept) EndIntegrations(
	_ context.Context, tenant string, why tenancy.IntegrationReason, at, _ time.Time,
) (int, error) {
	k.ended = append(k.ended, ending{tenant, why, at})
	return len(k.ended), k.err
}

func (k *kept) Tenant(context.Context, string) (tenancy.Tenant, error) {
	if k.bot == "" {
		return tenancy.Tenant{}, aggregate.ErrNotFound
	}
	return tenancy.Tenant{BotID: k.bot}, k.err
}

func (k *kept) RevokeKeysOf(_ context.Context, tenant, user string, _ time.Time) (int, error) {
	k.left = append(k.left, tenant+" "+user)
	return 1, k.err
}

func (k *kept) Settings(context.Context, string) (tenancy.Settings, error) {
	if k.settings.Locale == "" {
		return tenancy.DefaultSettings(), nil
	}
	return k.settings, nil
}

// Begin opens a conversation and records its rows in opened.
func (k *kept) Begin(_ context.Context, c aggregate.Change) error {
	a := (&conversation.Aggregate{}).After(c).(*conversation.Aggregate)
	if k.opened[a.Head.SessionID] != nil {
		return store.ErrExists
	}
	if k.opened == nil {
		k.opened = map[string]*conversation.Aggregate{}
	}
	k.opened[a.Head.SessionID] = a
	k.told = append(k.told, c)
	return k.err
}

func (k *kept) Tell(_ context.Context, ref aggregate.Ref, c aggregate.Change) error {
	if k.opened[ref.ID] == nil {
		return aggregate.ErrNotFound
	}
	k.told = append(k.told, c)
	return k.err
}

func (k *kept) Load(_ context.Context, ref aggregate.Ref) (*conversation.Aggregate, error) {
	if k.opened[ref.ID] == nil {
		return nil, aggregate.ErrNotFound
	}
	return k.opened[ref.ID], k.err
}

func (k *kept) Decide(
	_ context.Context, ref aggregate.Ref, decide conversation.Decision,
) (*conversation.Aggregate, error) {
	a := k.opened[ref.ID]
	if a == nil {
		return nil, aggregate.ErrNotFound
	}
	c, err := decide(a)
	if err != nil || k.err != nil {
		return nil, errors.Join(err, k.err)
	}
	if !c.Empty() {
		k.opened[ref.ID] = a.After(c).(*conversation.Aggregate)
	}
	return k.opened[ref.ID], nil
}

func (k *kept) request(t *testing.T) *task.Request {
	t.Helper()
	expect.Must(t, len(k.changes) == 1, "wrote %d times, want once", len(k.changes))
	for _, r := range k.changes[0].Rows {
		if r, ok := r.(*task.Request); ok {
			return r
		}
	}
	t.Fatal("no request row")
	return nil
}

func handler(s Store) *Handler {
	clock := func() time.Time { return now }
	opened, _ := s.(Conversations)
	return &Handler{Store: s, Tasks: requests{}, Conversations: opened, Slack: &noting{}, Queue: &queue{},
		Edge: inbound.Edge{Keys: slacktest.Keys{Secret: signingSecret}, Now: clock, Within: time.Minute}, Now: clock}
}

// requests are tasks by id.
type requests map[string]*task.Aggregate

func (r requests) Decide(_ context.Context, ref aggregate.Ref, decide task.Decision) (*task.Aggregate, error) {
	a := r[ref.ID]
	if a == nil {
		return nil, aggregate.ErrNotFound
	}
	c, err := decide(a)
	if err == nil && !c.Empty() {
		r[ref.ID] = a.Apply(c)
	}
	return r[ref.ID], err
}

// signed returns a signed body as API Gateway passes it on.
func signed(body string) inbound.Request {
	stamp := "1776675600" // now
	return inbound.Request{Body: body, Headers: map[string]string{
		"x-slack-request-timestamp": stamp, "x-slack-signature": inbound.Sign(stamp, []byte(body),
			signingSecret), "content-type": "application/json",
	}}
}

func post(t *testing.T, h *Handler, r inbound.Request) inbound.Response {
	t.Helper()
	return expect.Value(h.Handle(t.Context(), r))(t)
}

// callback wraps an event in Slack's envelope. fields replace those of a mention.
func callback(t *testing.T, fields map[string]any, outer map[string]any) string {
	t.Helper()
	event := map[string]any{
		"type": "app_mention", "text": "<@U0BOT> 今月の勤怠をまとめて", "user": "U0ALICE", "ts": "1776675599.000100",
		"channel": "C0HR", "team": "T0TEAM",
	}
	merge(event, fields)
	e := map[string]any{
		"type": "event_callback", "team_id": "T0TEAM", "event_id": "Ev1", "event": event,
		"authorizations": []any{map[string]any{"team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": true}},
	}
	merge(e, outer)
	b := expect.Value(json.Marshal(e))(t)
	return string(b)
}

func merge(into, from map[string]any) {
	for k, v := range from {
		if v == nil {
			delete(into, k)
			continue
		}
		into[k] = v
	}
}

func (r requests) Load(_ context.Context, ref aggregate.Ref) (*task.Aggregate, error) {
	if r[ref.ID] == nil {
		return nil, aggregate.ErrNotFound
	}
	return r[ref.ID], nil
}

// Thread lists none: the tests' requests begin their threads.
func (requests) Thread(context.Context, string, string, string, int) ([]aggregate.Ref, error) {
	return nil, nil
}

// noting is Slack that keeps the notes.
type noting struct {
	notes  []string
	blocks [][]slack.Block
}

func (n *noting) Ephemeral(_ context.Context, channel, thread, user, text string, blocks ...slack.Block) error {
	n.notes = append(n.notes, strings.Join([]string{channel, thread, user, text}, " "))
	n.blocks = append(n.blocks, blocks)
	return nil
}
