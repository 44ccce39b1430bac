package main

import (
	"encoding/json"
	"fmt"
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

func (k *inConversation) value() string { return k.x.ActionID + "/" + k.x.Payload.Hash() }

func TestPeopleDecideOnActions(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"approved, rejected or cancelled by one dialog, and told to whoever comes too late": testActionDecided,
		"the conversation is ended from the menu of any of its messages":                    testEndedFromTheMenu,
		"a long one is read in a dialog and approved at its end":                            testActionReadToItsEnd,
		"a person proposes one from a message's menu":                                       testActionProposed,
	} {
		t.Run(name, func(t *testing.T) { run(t, db) })
	}
}

func testActionDecided(t *testing.T, db *storetest.Server) {
	for action, tt := range map[string]struct {
		user   string
		values map[string]any // of the dialog; nil: none
		says   string         // to whoever comes too late
		want   string
	}{
		card.ApproveAction: {webapi.Suzuki, nil, "<@" + webapi.Suzuki + ">",
			fmt.Sprintf("%s %s  ", conversation.ActionApproved, conversation.ApprovedByUser)},
		card.RejectAction: {webapi.Suzuki, reason("本番はだめ"), "<@" + webapi.Suzuki + ">",
			fmt.Sprintf("%s  %s 本番はだめ", conversation.ActionCancelled, conversation.ReasonRejected)},
		"more_action": {webapi.Sato, map[string]any{}, "取り消しました",
			fmt.Sprintf("%s  %s ", conversation.ActionCancelled, conversation.ReasonWithdrawn)},
	} {
		k := newConversation(t, db, "make")
		k.quiet(k.press(tt.user, action, k.value()), tt.user)
		if tt.values != nil {
			k.quiet(k.send(tt.user, tt.values), tt.user)
		}
		x := k.action()
		expect.Is(t, fmt.Sprint(x.Status, " ", x.ApprovedBy, " ", x.CancelReason, " ", x.ErrorDetail), tt.want, action)
		k.told(k.press(webapi.Tanaka, card.ApproveAction, k.value()), webapi.Tanaka, tt.says)
	}
}

// A conversation that was ended is begun anew by its button.
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
	k.quiet(k.send(webapi.Sato, nil), webapi.Sato)
	a := k.Load()
	expect.That(t, a.Conversation.Status == conversation.Closed && a.Conversation.ClosedBy == webapi.Sato, "%+v",
		a.Conversation)
	k.quiet(k.press(webapi.Sato, card.ReopenConversation, k.Ref.ID), webapi.Sato)
	expect.Same(t, conversation.Open, k.Load().Conversation.Status)
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

// The form of a deleted conversation is answered.
func TestAFormOfAConversationThatIsGoneIsAnswered(t *testing.T) {
	for _, locale := range language.All {
		v := verdict{decide.Verdict{Err: aggregate.ErrNotFound, Settings: tenancy.Settings{Locale: locale}}}
		text, stays := v.inForm()
		expect.That(t, text != "" && stays, "%s: %q, stays %t", locale, text, stays)
	}
}

// proposeFromMenu chooses 「操作を提案」 in the menu of a message in the conversation's thread.
func (k *inConversation) proposeFromMenu(user string, message map[string]any) inbound.Response {
	k.T.Helper()
	p := k.shortcut(user, message)
	p["callback_id"] = shortcutPropose
	return k.post(p)
}

// proposal returns the dialog's values.
func proposal(command any) map[string]any {
	return typed(conversation.OwnCommand, conversation.OwnCommand, command)
}

// Who proposes an action counts as who asked for it. Nobody proposes while another one waits, elsewhere than in a
// conversation's thread, or without a command, nor does a guest.
func testActionProposed(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	const busy = "ほかの操作が承認待ちか実行中です"
	inThread := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "user": webapi.Tanaka,
		"text": "make test を流したい"}
	k.told(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka, busy)
	k.Cancel()
	k.proposeFromMenu(webapi.Guest, inThread)
	k.proposeFromMenu(webapi.Suzuki, map[string]any{"ts": "1776679999.000100", "text": "x"})
	told := k.slack.Ephemerals(webapi.Suzuki)
	expect.That(t, len(told) == 1 && strings.Contains(told[0].Text, "会話のスレッドでだけ提案できます"), "told %+v", told)
	k.heard[webapi.Suzuki]++
	expect.Is(t, len(k.slack.Views(webapi.Guest))+len(k.slack.Views(webapi.Suzuki)), 0, "forms")
	k.quiet(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka)
	form := k.taken(webapi.Tanaka)
	expect.Is(t, form.CallbackID, card.ProposalCallback)
	expect.Has(t, k.sendView(webapi.Tanaka, form, proposal(nil)).Body, `"`+conversation.OwnCommand+`":`)
	expect.That(t, k.sendView(webapi.Guest, form, proposal("ls")).Body != "", "a guest proposes")
	nowhere := form
	nowhere.PrivateMetadata = `{"session":"../x"}`
	expect.That(t, k.sendView(webapi.Tanaka, nowhere, proposal("ls")).Body != "", "a form of nowhere closes")
	expect.That(t, k.Load().Current() == nil, "proposed all the same: %+v", k.Load().Current())

	for range 2 { // sent twice, it is proposed once
		k.quiet(k.sendView(webapi.Tanaka, form, proposal("make test\n")), webapi.Tanaka)
	}
	x := k.Load().Current()
	expect.Must(t, x != nil && x.Number == 2 && x.RequestedBy == conversation.RequestedByUser &&
		x.Askers[0] == webapi.Tanaka &&
		string(x.Payload.JSON) == `{"script":"make test\n","timeout_seconds":60,"base":""}` &&
		x.Gate.Terms.DecideBy != nil, "%+v", x)
	expect.Has(t, k.sendView(webapi.Suzuki, form, proposal("ls")).Body, busy)

	k.changeSettings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k.press(webapi.Tanaka, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash())
	expect.Is(t, k.Load().Current().Status, conversation.ActionPending, "their own is approved")
	k.quiet(k.press(webapi.Suzuki, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash()), webapi.Suzuki)
	expect.Is(t, k.Load().Current().Status, conversation.ActionApproved)
}
