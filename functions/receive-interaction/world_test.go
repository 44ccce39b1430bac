package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/expect"
	"ringi/shared/people"
	"ringi/shared/slackapi/inbound"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store/storetest"
	"ringi/shared/task"
	"ringi/shared/tasks"
	"ringi/shared/tenancy"
)

const signingSecret = "s3cret"

// world is one workspace and one table with one task in it, asked for by Sato.
type world struct {
	t       *testing.T
	store   *tasks.Store
	slack   *slacktest.Slack
	results storetest.Bucket
	h       *Handler
	ref     aggregate.Ref
	root    string // of the thread
	clock   time.Time
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	s, _ := db.Store(t)
	w := &world{t: t, store: s, slack: slacktest.Start(t), results: storetest.Bucket{}, clock: time.Now()}
	now := func() time.Time { return w.clock }
	w.h = &Handler{
		Store: s, Slack: w.slack.Client, People: &people.People{Slack: w.slack.Client, Now: now}, Results: w.results,
		Edge: inbound.Edge{Keys: inbound.Fixed{Secret: signingSecret}, Now: now}, Now: now,
	}
	w.root = w.slack.Say(t, workspace.Sato, workspace.HR, "今月の勤怠をまとめて")
	w.ref = w.receive(workspace.HR, "channel", w.root)
	return w
}

func (w *world) receive(channel, kind, ts string) aggregate.Ref {
	w.t.Helper()
	return w.receiveFrom(workspace.Sato, channel, kind, ts)
}

func (w *world) receiveFrom(user, channel, kind, ts string) aggregate.Ref {
	w.t.Helper()
	c, ref, err := task.Receive(aggregate.TenantID(slacktest.Team), task.Request{
		TeamID: slacktest.Team, Text: "今月の勤怠をまとめて", User: user, Channel: channel, ChannelType: kind,
		MessageTS: ts, ThreadTS: ts, Source: task.SourceChannel, EventID: "Ev1",
	}, w.clock)
	expect.NoError(w.t, err)
	expect.NoError(w.t, w.store.Create(w.t.Context(), c))
	return ref
}

// move commits what a function of the pipeline would.
func (w *world) move(f task.Decision) *task.Aggregate {
	w.t.Helper()
	a := expect.Value(w.store.Decide(w.t.Context(), w.ref, f))(w.t)
	return a
}

func (w *world) load() *task.Aggregate {
	w.t.Helper()
	a := expect.Value(w.store.Load(w.t.Context(), w.ref))(w.t)
	return a
}

func approver() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki, Team: slacktest.Team, Member: true}
}

// prompted brings the task to its prompt's approval.
func (w *world) prompted() *task.Prompt {
	w.t.Helper()
	w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠", Description: "今月", Priority: task.High, TaskType: task.TypeStandard}, w.clock)
	})
	return w.draft()
}

// draft generates the next prompt.
func (w *world) draft() *task.Prompt {
	w.t.Helper()
	w.move(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.clock) })
	return w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, "方針", tenancy.DefaultSettings(), w.clock)
	}).Prompt()
}

// planned brings it to its process's approval.
func (w *world) planned() *task.Process {
	w.t.Helper()
	p := w.prompted()
	w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Approve(p.ID, approver(), aggregate.Policy{Team: slacktest.Team}, w.clock)
	})
	w.move(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.clock) })
	steps := []task.Step{{StepID: "step-1", Order: 1, Title: "通知", Tool: "send_slack_dm", ToolInput: `{"text":"x"}`, Access: aggregate.Write, ToolVersion: "1"}}
	return w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, steps, "", tenancy.DefaultSettings(), w.clock)
	}).Process()
}

// running brings it to a running execution.
func (w *world) running() *task.Execution {
	w.t.Helper()
	p := w.planned()
	w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Approve(p.ID, approver(), aggregate.Policy{Team: slacktest.Team}, w.clock)
	})
	return w.move(func(a *task.Aggregate) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, w.clock) }).Execution()
}

// gated brings it to a step's approval.
func (w *world) gated() *task.StepGate {
	w.t.Helper()
	w.running()
	return w.move(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: `{"text":"x"}`, Bytes: 12}, "hash", w.clock)
	}).Gates[0]
}

// changeSettings saves the tenant's settings.
func (w *world) changeSettings(change func(s *tenancy.Settings)) {
	w.t.Helper()
	ctx := w.t.Context()
	expect.Value(w.store.Bootstrap(ctx, tenancy.Tenant{ID: w.ref.Tenant, Name: "x", Slug: "default", TeamID: slacktest.Team, Admins: []string{}}, w.clock))(w.t)
	s := expect.Value(w.store.Settings(ctx, w.ref.Tenant))(w.t)
	change(&s)
	expect.Value(w.store.SaveSettings(ctx, w.ref.Tenant, s, aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}, w.clock))(w.t)
}

// shown notes that the cards show everything, so that a redraw can be seen.
func (w *world) shown() {
	w.t.Helper()
	expect.NoError(w.t, w.store.Shown(w.t.Context(), w.ref, w.load().Head.Head))
}

// post sends a payload as API Gateway hands it over.
func (w *world) post(payload map[string]any) inbound.Response {
	w.t.Helper()
	b := expect.Value(json.Marshal(payload))(w.t)
	out := expect.Value(w.h.Handle(w.t.Context(), signed(url.Values{"payload": {string(b)}}.Encode(), w.clock)))(w.t)
	return out
}

func signed(body string, now time.Time) inbound.Request {
	stamp := strconv.FormatInt(now.Unix(), 10)
	return inbound.Request{
		Body: base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
		Headers: map[string]string{
			"content-type": "application/x-www-form-urlencoded", "x-slack-request-timestamp": stamp,
			"x-slack-signature": inbound.Sign(stamp, []byte(body), signingSecret),
		},
	}
}

func person(kind, user, team string) map[string]any {
	return map[string]any{
		"type": kind, "team": map[string]any{"id": slacktest.Team, "domain": "x"}, "enterprise": nil, "is_enterprise_install": false,
		"user": map[string]any{"id": user, "username": "x", "team_id": team}, "trigger_id": "1.2.3", "api_app_id": "A1",
	}
}

// click is a payload of a card's button.
func (w *world) click(user, action, value string) map[string]any {
	p := person("block_actions", user, slacktest.Team)
	p["trigger_id"] = w.slack.NewTrigger(user)
	p["channel"] = map[string]any{"id": workspace.HR, "name": "人事"}
	p["container"] = map[string]any{"type": "message_attachment", "message_ts": "1776675600.000100", "attachment_id": 1, "channel_id": workspace.HR}
	p["message"] = map[string]any{"ts": "1776675600.000100", "thread_ts": w.root, "attachments": []any{}}
	p["state"] = map[string]any{"values": map[string]any{}}
	p["actions"] = []any{map[string]any{
		"action_id": action, "block_id": w.ref.ID, "value": value, "type": "button", "action_ts": "1.2",
		"text": map[string]any{"type": "plain_text", "text": "x"},
	}}
	return p
}

// form is a payload of the submitted rejection.
func (w *world) form(user, kind, id string, reason any) map[string]any {
	p := person("view_submission", user, slacktest.Team)
	metadata := expect.Value(json.Marshal(card.Rejection{Type: aggregate.CardType(kind), ID: id, TaskID: w.ref.ID}))(w.t)
	p["view"] = map[string]any{
		"id": "V1", "type": "modal", "callback_id": card.RejectionCallback, "private_metadata": string(metadata), "previous_view_id": nil,
		"state": map[string]any{"values": map[string]any{card.ReasonBlock: map[string]any{card.ReasonInput: map[string]any{"type": "plain_text_input", "value": reason}}}},
	}
	return p
}

// shortcut is a payload of the menu of a message.
func (w *world) shortcut(user string, message map[string]any) map[string]any {
	p := person("message_action", user, slacktest.Team)
	p["callback_id"] = "cancel_task"
	p["channel"] = map[string]any{"id": workspace.HR, "name": "人事"}
	p["message_ts"] = message["ts"]
	p["message"] = message
	p["trigger_id"] = w.slack.NewTrigger(user)
	return p
}

// confirm says yes to the open dialog that asks whether a task shall be cancelled.
func (w *world) confirm(user string) inbound.Response {
	w.t.Helper()
	views := w.slack.Views(user)
	if len(views) != 1 {
		w.t.Fatalf("%d dialogs", len(views))
	}
	w.slack.CloseView(user, false)
	p := person("view_submission", user, slacktest.Team)
	p["view"] = map[string]any{"id": views[0].ID, "type": "modal", "callback_id": views[0].CallbackID, "private_metadata": views[0].PrivateMetadata, "state": map[string]any{"values": map[string]any{}}}
	return w.post(p)
}

// quiet wants an empty 200 and nobody told anything.
func (w *world) quiet(out inbound.Response, user string) {
	w.t.Helper()
	if out.StatusCode != 200 || out.Body != "" {
		w.t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
	if told := w.slack.Ephemerals(user); len(told) != 0 {
		w.t.Errorf("told: %s", told[0].Text)
	}
}

// told wants an empty 200, and the person told this in the card's thread.
func (w *world) told(out inbound.Response, user, want string) {
	w.t.Helper()
	if out.StatusCode != 200 || out.Body != "" {
		w.t.Errorf("answered %d %s", out.StatusCode, out.Body)
	}
	told := w.slack.Ephemerals(user)
	if len(told) != 1 || !strings.Contains(told[0].Text, want) || told[0].ThreadTS != w.root {
		w.t.Fatalf("told %+v, want %q", told, want)
	}
}

// healed wants the cards to be drawn anew.
func (w *world) healed() {
	w.t.Helper()
	if head := w.load().Head; head.ShownRev != 0 {
		w.t.Error("the card keeps its buttons")
	}
}

// failing is a store that is down.
type failing struct {
	Store
	err  error
	hang bool
}

func (f failing) Decide(ctx context.Context, _ aggregate.Ref, _ task.Decision) (*task.Aggregate, error) {
	if f.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, f.err
}
