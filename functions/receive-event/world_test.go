package main

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
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
	looks    []string // the tenants for which people are looked up again
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

func (k *kept) LookAgain(_ context.Context, tenant string, _ time.Time) error {
	k.looks = append(k.looks, tenant)
	return k.err
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
		return aggregate.ErrExists
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
		Edge: slackapi.Edge{Keys: ringitest.Keys{Secret: signingSecret}, Now: clock, Within: time.Minute}, Now: clock}
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
func signed(body string) slackapi.Request {
	stamp := "1776675600" // now
	return slackapi.Request{Body: body, Headers: map[string]string{
		"x-slack-request-timestamp": stamp, "x-slack-signature": slackapi.Sign(stamp, []byte(body),
			signingSecret), "content-type": "application/json",
	}}
}

func post(t *testing.T, h *Handler, body string) slackapi.Response {
	t.Helper()
	return expect.Value(h.Handle(t.Context(), signed(body)))(t)
}

// callback wraps an event in Slack's envelope. fields replace those of a mention.
func callback(t *testing.T, fields map[string]any, outer ...map[string]any) string {
	t.Helper()
	event := with(map[string]any{"type": "app_mention", "text": "<@U0BOT> 今月の勤怠をまとめて", "user": "U0ALICE",
		"ts": "1776675599.000100", "channel": "C0HR", "team": "T0TEAM"}, fields)
	e := map[string]any{"type": "event_callback", "team_id": "T0TEAM", "event_id": "Ev1", "event": event,
		"authorizations": []any{map[string]any{"team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": true}}}
	return expect.JSON(with(e, outer...))
}

// with returns fields of which more replace or, as nil, remove some.
func with(fields map[string]any, more ...map[string]any) map[string]any {
	out := maps.Clone(fields)
	for _, changes := range more {
		for k, v := range changes {
			if out[k] = v; v == nil {
				delete(out, k)
			}
		}
	}
	return out
}

// send sends an event: a mention with these fields otherwise, in an envelope with these otherwise.
func send(t *testing.T, h *Handler, fields map[string]any, outer ...map[string]any) slackapi.Response {
	t.Helper()
	return post(t, h, callback(t, fields, outer...))
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

func (n *noting) Label(_ context.Context, m *slackapi.Message) {
	m.Text = strings.ReplaceAll(m.Text, "<!subteam^S1>", "<!subteam^S1|@jinji>")
}

func (n *noting) Ephemeral(_ context.Context, channel, thread, user, text string, blocks ...slack.Block) error {
	n.notes = append(n.notes, strings.Join([]string{channel, thread, user, text}, " "))
	n.blocks = append(n.blocks, blocks)
	return nil
}

// Between a message of a channel and its answer there is one transaction, however often and concurrently the message is
// delivered, and however late.
func TestAMessageIsKeptByOneCall(t *testing.T) {
	w := ringitest.Start(t).World(t)
	s, h, body, before := w.Store, handler(w.StoreOverTransport()), callback(t, nil), w.Transport.Count("")
	out := post(t, h, body)
	expect.Must(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
	expect.Is(t, w.Transport.Count("")-before, 1, "calls")
	expect.Is(t, w.Transport.Count("TransactWriteItems"), 1, "transactions")

	expect.AtOnce(5, func(int) {
		out := post(t, h, body)
		expect.That(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
	})
	id := expect.Value(task.ID("T0TEAM", "C0HR", "1776675599.000100"))(t)
	a := expect.Value(s.Load(t.Context(), task.RefOf(aggregate.TenantID("T0TEAM"), id)))(t)
	expect.That(t, a.Head.Rev == 1 && a.Request.Text == "今月の勤怠をまとめて" && len(a.Cards) == 1 &&
		a.Cards[0].State == aggregate.CardNone, "%+v", a)

	policy := aggregate.Policy{Team: "T0TEAM", AllowSelf: true}
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: "T0TEAM", Member: true}
	expect.Value(s.Decide(t.Context(), a.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(by, policy, now)
	}))(t)
	ended := expect.Value(s.Load(t.Context(), a.Ref()))(t)
	expect.Is(t, post(t, h, body).StatusCode, 200, "a delivery after the end")
	expect.Same(t, ended, expect.Value(s.Load(t.Context(), a.Ref()))(t))
}

// A conversation's first message, and a reply, delivered several times at once, are told once.
func TestWhatAnAgentIsToldIsToldOnce(t *testing.T) {
	w := ringitest.Start(t).World(t)
	h, opened := handler(w.Store), store.NewConversations(dynamodb.NewFromConfig(w.Config), w.Table())
	h.Conversations, h.Now = opened, time.Now // with another clock, rows with a time to live would be gone
	for _, fields := range []map[string]any{direct("claude: hi", nil),
		direct("and?", map[string]any{"thread_ts": root, "ts": "1776675600.000200"})} {
		expect.AtOnce(4, func(int) {
			out := send(t, h, fields)
			expect.That(t, out.StatusCode == 200, "%v %v", out.StatusCode, out.Body)
		})
	}
	a := expect.Value(opened.Load(t.Context(),
		conversation.RefOf(aggregate.TenantID("T0TEAM"), conversation.ID("T0TEAM", "D0DM", root))))(t)
	expect.That(t, a.Head.Rev == 2 && len(a.Inbox) == 2 && a.Conversation.AgentID == "claude",
		"%+v with %d messages", a.Head, len(a.Inbox))
}
