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

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const signingSecret = "s3cret"

// world is one workspace and one table, with one task that Sato requested.
type world struct {
	ringitest.Story
	slack   *ringitest.Slack
	results storetest.Bucket
	h       *Handler
	root    string         // of the thread
	heard   map[string]int // the number of notes to each person that were checked
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	_, table := db.Store(t)
	all := store.New(db.DB, table, store.Kinds()...)
	s := store.TasksOf(all)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: ringitest.Team, Member: true}
	w := &world{Story: ringitest.Story{T: t, Store: s, By: by}, slack: ringitest.StartSlack(t),
		results: storetest.Bucket{}, heard: map[string]int{}}
	w.StartClock()
	w.h = &Handler{Rows: all, Store: s, Slack: w.slack.Client,
		People: &people.People{Slack: w.slack.Client, Now: w.Now}, Results: w.results,
		Edge: slackapi.Edge{Keys: ringitest.Keys{Secret: signingSecret}, Now: w.Now, Within: time.Minute}, Now: w.Now}
	w.root = w.slack.Say(t, webapi.Sato, webapi.HR, "今月の勤怠をまとめて")
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: w.root,
		ThreadTS: w.root})
	return w
}

func (w *world) prompted() *task.Prompt {
	w.T.Helper()
	return w.Prompted(tenancy.DefaultSettings()).Prompt()
}

// running brings the task to a running execution.
func (w *world) running() *task.Execution {
	w.T.Helper()
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	return w.Begin().Execution()
}

// gated brings the task to a step's approval.
func (w *world) gated() *task.StepGate {
	w.T.Helper()
	w.running()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: `{"text":"x"}`, Bytes: 12}, "hash", nil, w.Now())
	}).Gates[0]
}

// shown records that the cards show everything, so that a redraw can be seen.
func (w *world) shown() {
	w.T.Helper()
	expect.NoError(w.T, w.Store.Shown(w.T.Context(), w.Ref, w.Load().Head.Head))
}

// post sends a payload as API Gateway passes it on.
func (w *world) post(payload map[string]any) slackapi.Response {
	w.T.Helper()
	b := expect.Value(json.Marshal(payload))(w.T)
	return expect.Value(w.h.Handle(w.T.Context(), signed(url.Values{"payload": {string(b)}}.Encode(), w.Now())))(w.T)
}

func signed(body string, now time.Time) slackapi.Request {
	stamp := strconv.FormatInt(now.Unix(), 10)
	return slackapi.Request{
		RequestContext: events.APIGatewayV2HTTPRequestContext{DomainName: "ringi.example"},
		Body:           base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
		Headers: map[string]string{
			"content-type": "application/x-www-form-urlencoded", "x-slack-request-timestamp": stamp,
			"x-slack-signature": slackapi.Sign(stamp, []byte(body), signingSecret),
		},
	}
}

func person(kind, user, team string) map[string]any {
	return map[string]any{
		"type": kind, "team": map[string]any{"id": ringitest.Team,
			"domain": "x"}, "enterprise": nil, "is_enterprise_install": false,
		"user": map[string]any{"id": user, "username": "x", "team_id": team}, "trigger_id": "1.2.3", "api_app_id": "A1",
	}
}

// click returns the payload of a card's button.
func (w *world) click(user, action, value string) map[string]any {
	p := person("block_actions", user, ringitest.Team)
	p["trigger_id"] = w.slack.NewTrigger(user)
	p["channel"] = map[string]any{"id": webapi.HR, "name": "人事"}
	p["container"] = map[string]any{"type": "message_attachment", "message_ts": "1776675600.000100", "attachment_id": 1,
		"channel_id": webapi.HR}
	p["message"] = map[string]any{"ts": "1776675600.000100", "thread_ts": w.root, "attachments": []any{}}
	p["state"] = map[string]any{"values": map[string]any{}}
	p["actions"] = []any{map[string]any{
		"action_id": action, "block_id": w.block(value), "value": value, "type": "button", "action_ts": "1.2",
		"text": map[string]any{"type": "plain_text", "text": "x"},
	}}
	return p
}

// block is the block_id of the buttons of a gate without a rule, or of whatever else has this id.
func (w *world) block(id string) string {
	if hash := w.Load().Asked(id).Hash; hash != "" {
		return w.Ref.ID + "/0/" + hash
	}
	return w.Ref.ID
}

// submits is a dialog that somebody submits with these values.
func submits(user, callback, private string, values map[string]any) map[string]any {
	p := person("view_submission", user, ringitest.Team)
	p["view"] = map[string]any{"id": "V1", "type": "modal", "callback_id": callback, "private_metadata": private,
		"previous_view_id": nil, "state": map[string]any{"values": values}}
	return p
}

// typed is what somebody typed in a field; nil: nothing, as Slack says it.
func typed(block, input string, text any) map[string]any {
	return map[string]any{block: map[string]any{input: map[string]any{"type": "plain_text_input", "value": text}}}
}

// reason returns a rejection form's values, then those with a choice of what comes after.
func reason(text any) map[string]any { return typed(card.ReasonBlock, card.ReasonInput, text) }

func then(text any, kind circulation.Kind) map[string]any {
	values := reason(text)
	values[card.ThenBlock] = map[string]any{card.ThenInput: map[string]any{"type": "radio_buttons",
		"selected_option": map[string]any{"value": kind}}}
	return values
}

// form returns the payload of a submitted rejection.
func (w *world) form(user, kind, id string, text any) map[string]any {
	about := card.Rejection{Type: aggregate.CardType(kind), ID: id, TaskID: w.Ref.ID, Hash: w.Load().Asked(id).Hash}
	return submits(user, card.RejectionCallback, expect.JSON(about), reason(text))
}

// view is the dialog that somebody has open.
func (w *world) view(user string) webapi.View {
	w.T.Helper()
	open := w.slack.Views(user)
	expect.Must(w.T, len(open) == 1, "%d dialogs are open; told %+v", len(open), w.slack.Ephemerals(user))
	return open[0]
}

// send submits a person's open dialog, sendView one that they had open.
func (w *world) send(user string, values map[string]any) slackapi.Response {
	w.T.Helper()
	return w.sendView(user, w.taken(user), values)
}

func (w *world) sendView(user string, v webapi.View, values map[string]any) slackapi.Response {
	w.T.Helper()
	return w.post(submits(user, v.CallbackID, v.PrivateMetadata, values))
}

// taken closes a person's dialog, and returns it.
func (w *world) taken(user string) webapi.View {
	w.T.Helper()
	v := w.view(user)
	w.slack.CloseView(user)
	return v
}

// shortcut returns the payload of the menu of a message.
func (w *world) shortcut(user string, message map[string]any) map[string]any {
	p := person("message_action", user, ringitest.Team)
	p["callback_id"] = "cancel_task"
	p["channel"] = map[string]any{"id": webapi.HR, "name": "人事"}
	p["message_ts"] = message["ts"]
	p["message"] = message
	p["trigger_id"] = w.slack.NewTrigger(user)
	return p
}

// quiet checks for an empty 200, and that nobody got another note.
func (w *world) quiet(out slackapi.Response, user string) {
	w.T.Helper()
	expect.That(w.T, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
	if told := w.slack.Ephemerals(user)[w.heard[user]:]; len(told) != 0 {
		w.T.Errorf("told: %s", told[0].Text)
	}
}

// told checks for an empty 200, and that the person got only this note, in the card's thread.
func (w *world) told(out slackapi.Response, user, want string) {
	w.T.Helper()
	expect.That(w.T, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
	told := w.slack.Ephemerals(user)[w.heard[user]:]
	expect.Must(w.T, len(told) == 1 && strings.Contains(told[0].Text, want) && told[0].ThreadTS == w.root,
		"told %+v, want %q", told, want)
	w.heard[user]++
}

// hears checks that a person gets one more note by a payload, wherever, and returns it.
func (w *world) hears(user string, payload map[string]any) string {
	w.T.Helper()
	before := len(w.slack.Ephemerals(user))
	out := w.post(payload)
	told := w.slack.Ephemerals(user)
	expect.Must(w.T, out.StatusCode == 200 && len(told) == before+1, "answered %d: %+v", out.StatusCode, told[before:])
	w.heard[user]++
	return told[before].Text
}

// healed checks that the cards are to be redrawn.
func (w *world) healed() {
	w.T.Helper()
	expect.That(w.T, w.Load().Head.ShownRev == 0, "the card keeps its buttons")
}

type failing struct {
	Rows
	err   error
	hang  bool // writes are not answered
	unset bool // the settings, and with them the language, can't be read
}

func (f failing) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	if f.unset {
		return tenancy.Settings{}, f.err
	}
	return f.Rows.Settings(ctx, tenant)
}

func (f failing) DecideFrom(
	ctx context.Context, a aggregate.Aggregate, decide aggregate.Decision[aggregate.Aggregate],
) (aggregate.Aggregate, error) {
	if !f.hang {
		return nil, f.err
	}
	_, _ = decide(a) // the decision is made but not saved
	<-ctx.Done()
	return nil, ctx.Err()
}

func (f failing) Redraw(ctx context.Context, ref aggregate.Ref) error {
	if !f.hang {
		return f.Rows.Redraw(ctx, ref)
	}
	<-ctx.Done()
	return ctx.Err()
}

// inWorlds runs parts against one database, each with its own table and workspace.
func inWorlds(t *testing.T, parts map[string]func(*testing.T, *world)) {
	t.Helper()
	db := storetest.Start(t)
	for name, run := range parts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newWorld(t, db))
		})
	}
}
