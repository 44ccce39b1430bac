package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// inConversation is a conversation that Sato began in a channel's thread, with a waiting action.
type inConversation struct {
	*world
	ringitest.Talk
	x *conversation.Action
}

func newConversation(t *testing.T, db *storetest.Server, script string) *inConversation {
	t.Helper()
	w := newWorld(t, db)
	rows := store.ConversationsOf(w.Store.KindStore.Store)
	rows.Now = w.Now
	in := conversation.Inbound{Team: ringitest.Team, Channel: webapi.HR, ChannelType: "channel", Thread: w.root,
		TS: w.root, User: webapi.Sato, Text: "hi"}
	k := &inConversation{world: w, Talk: ringitest.Begin(t, rows, w.Now, in,
		conversation.Opening{AgentID: "claude", IsCached: true, Locale: "ja"})}
	k.By, k.Tick = w.By, func() { w.Later(time.Second) }
	k.Under = aggregate.Policy{Team: ringitest.Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	p := conversation.Payload{Script: script, TimeoutSeconds: 60, Stamped: conversation.Stamped{Base: new("")}}.JSON()
	payload := ringitest.InRow(p)
	if len(p) > large.MaxInline {
		payload = expect.Value(w.results.KeepPayload(t.Context(), k.Ref, json.RawMessage(p)))(t)
	}
	k.x = k.Answer("ok", &conversation.Proposal{Type: conversation.ShellCommand, Payload: payload, Seconds: 60,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 72}}).Current()
	return k
}

func (k *inConversation) action() *conversation.Action {
	k.T.Helper()
	return k.Load().Action(k.x.ActionID)
}

func (k *inConversation) press(user, action, value string) inbound.Response {
	k.T.Helper()
	p := k.click(user, action, value)
	p["actions"].([]any)[0].(map[string]any)["block_id"] = k.Ref.ID
	return k.post(p)
}

// send submits a person's open dialog.
func (w *world) send(user string, values map[string]any) inbound.Response {
	w.T.Helper()
	v := w.view(user)
	w.slack.CloseView(user)
	return w.sendView(user, v, values)
}

func (w *world) sendView(user string, v webapi.View, values map[string]any) inbound.Response {
	w.T.Helper()
	p := person("view_submission", user, ringitest.Team)
	p["view"] = map[string]any{"id": v.ID, "type": "modal", "callback_id": v.CallbackID,
		"private_metadata": v.PrivateMetadata, "state": map[string]any{"values": values}}
	return w.post(p)
}

func (k *inConversation) value() string { return k.x.ActionID + "/" + k.x.Payload.Hash() }

func TestPeopleDecideOnActions(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"approved by one click, and whoever comes too late learns by whom": testActionApproved,
		"rejected with a reason": testActionRejected,
		"the conversation is ended from the menu of any of its messages": testEndedFromTheMenu,
		"cancelled by whoever asked":                                     testActionCancelled,
		"a long one is read in a dialog and approved at its end":         testActionReadToItsEnd,
		"a conversation that was closed begins anew":                     testConversationReopened,
	} {
		t.Run(name, func(t *testing.T) { run(t, db) })
	}
}

// reason returns a rejection form's values; nil means an empty form.
func reason(text any) map[string]any {
	return map[string]any{card.ReasonBlock: map[string]any{card.ReasonInput: map[string]any{"type": "plain_text_input",
		"value": text}}}
}

func testActionApproved(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	k.quiet(k.press(webapi.Suzuki, card.ApproveAction, k.value()), webapi.Suzuki)
	x := k.action()
	expect.Must(t, x.Status == conversation.ActionApproved && x.Gate.ApprovedBy == webapi.Suzuki &&
		x.ApprovedBy == conversation.ApprovedByUser, "%+v", x)
	k.told(k.press(webapi.Sato, card.RejectAction, k.value()), webapi.Sato, "<@"+webapi.Suzuki+">")
}

func testActionRejected(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	k.quiet(k.press(webapi.Suzuki, card.RejectAction, k.value()), webapi.Suzuki)
	expect.That(t, k.send(webapi.Suzuki, reason(nil)).Body != "", "a form without a reason closes")
	k.quiet(k.press(webapi.Suzuki, card.RejectAction, k.value()), webapi.Suzuki)
	k.quiet(k.send(webapi.Suzuki, reason("本番はだめ")), webapi.Suzuki)
	x := k.action()
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonRejected &&
		x.ErrorDetail == "本番はだめ", "%+v", x)
}

func testEndedFromTheMenu(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	root := k.slack.Say(t, webapi.Sato, webapi.HR, "codex: hello")
	in := conversation.Inbound{Team: ringitest.Team, Channel: webapi.HR, ChannelType: "channel", Thread: root, TS: root,
		User: webapi.Sato, Text: "hi"}
	k.Ref = in.Ref()
	expect.NoError(t, k.Rows.Begin(t.Context(), expect.Value(conversation.Begin(in,
		conversation.Opening{AgentID: "claude", Locale: "ja"}, k.Now()))(t)))
	message := map[string]any{"ts": k.slack.Say(t, webapi.Sato, webapi.HR, "x"), "thread_ts": root}
	if k.post(k.shortcut(webapi.Alex, message)); len(k.slack.Views(webapi.Alex)) != 0 ||
		len(k.slack.Ephemerals(webapi.Alex)) > 1 {
		t.Error("somebody else is asked")
	}
	k.quiet(k.post(k.shortcut(webapi.Sato, message)), webapi.Sato)
	k.quiet(k.confirm(webapi.Sato), webapi.Sato)
	a := k.Load()
	expect.That(t, a.Conversation.Status == conversation.Closed && a.Conversation.ClosedBy == webapi.Sato, "%+v",
		a.Conversation)
}

func testActionCancelled(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	k.quiet(k.press(webapi.Sato, "more_action", k.value()), webapi.Sato)
	k.quiet(k.send(webapi.Sato, map[string]any{}), webapi.Sato)
	k.told(k.press(webapi.Suzuki, card.ApproveAction, k.value()), webapi.Suzuki, "すでに取り消しました")
	x := k.action()
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonWithdrawn, "%+v", x)
}

func testActionReadToItsEnd(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, strings.Repeat("echo 漢字\n", 1500))
	k.quiet(k.press(webapi.Suzuki, "review_action", k.x.ActionID), webapi.Suzuki)
	expect.Must(t, k.slack.Views(webapi.Suzuki)[0].Submit != nil, "it can't be submitted")
	k.quiet(k.send(webapi.Suzuki, map[string]any{}), webapi.Suzuki)
	x := k.action()
	expect.Same(t, conversation.ActionApproved, x.Status)
	expect.That(t, strings.HasPrefix(x.Payload.S3Key, "arguments/") && k.results[x.Payload.S3Key] != "",
		"what was stamped is at %s", x.Payload.S3Key)
}

func testConversationReopened(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	k.End()
	k.quiet(k.press(webapi.Sato, card.ReopenConversation, k.Ref.ID), webapi.Sato)
	expect.Same(t, conversation.Open, k.Load().Conversation.Status)
}

// The form of a deleted conversation is answered.
func TestAFormOfAConversationThatIsGoneIsAnswered(t *testing.T) {
	for _, locale := range language.All {
		v := verdict{decide.Verdict{Err: aggregate.ErrNotFound, Settings: tenancy.Settings{Locale: locale}}}
		text, stays := v.inForm()
		expect.That(t, text != "" && stays, "%s: %q, stays %t", locale, text, stays)
	}
}
