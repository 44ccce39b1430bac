package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/storetest"
)

// newOnRoute is a conversation whose action asks these people, one after the other.
func newOnRoute(t *testing.T, db *storetest.Server, script string, users ...string) *inConversation {
	t.Helper()
	var stages []circulation.Stage
	for _, user := range users {
		stages = append(stages, pipelinetest.Desk(user, 1, user))
	}
	o := pipelinetest.Along([]string{webapi.Sato}, len(users), stages...)
	return newProposal(t, db, script, &o)
}

// pressAt clicks on a button of the action's card, at a stage. The button names what is asked.
func (k *inConversation) pressAt(user, action, stage string) inbound.Response {
	k.T.Helper()
	return k.post(at(k.click(user, action, k.x.ActionID+"/"+k.x.Gate.Asked), k.of.ID+stage))
}

func TestPeopleDecideOnActionsAlongARoute(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *storetest.Server){
		"stamped by one after the other":          testActionStamped,
		"sent back, and the agent has a turn":     testActionSentBack,
		"denied, and the agent has none":          testActionDenied,
		"a stamp is taken back":                   testActionTakenBack,
		"a long one is read and stamped":          testActionReadAlong,
		"of another content than was seen":        testActionAsksSomethingElse,
		"strangers decide nothing along a route":  testStrangersOfARoute,
		"a stamp is taken back in its dialog too": testActionTakenBackInADialog,
	} {
		t.Run(name, func(t *testing.T) { run(t, db) })
	}
}

func testActionStamped(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Alex)
	k.told(k.pressAt(webapi.Sato, card.ApproveAction, "/1"), webapi.Sato, "自分の依頼")
	k.told(k.pressAt(webapi.Tanaka, card.ApproveAction, "/1"), webapi.Tanaka, "お願いしている承認はありません")
	for range 2 {
		k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	}
	k.told(k.pressAt(webapi.Suzuki, card.ApproveAction, "/2"), webapi.Suzuki, "あなたの段階は終わっています")
	expect.Same(t, conversation.ActionPending, k.action().Status)
	for range 2 {
		k.quiet(k.pressAt(webapi.Alex, card.ApproveAction, "/2"), webapi.Alex)
	}
	x := k.action()
	expect.That(t, x.Status == conversation.ActionApproved && x.Gate.ApprovedBy == webapi.Alex && len(x.Gate.Acts) == 2,
		"%+v", x)
	k.told(k.pressAt(webapi.Tanaka, card.ApproveAction, "/2"), webapi.Tanaka, "<@"+webapi.Alex+">")
}

// rejects opens the form of the action's rejection, and submits it twice.
func (k *inConversation) rejects(user, stage string, kind circulation.Kind) *conversation.Aggregate {
	k.T.Helper()
	k.quiet(k.pressAt(user, card.RejectAction, stage), user)
	form := k.view(user)
	inForm(k.T.(*testing.T), k.sendView(user, form, reason("本番はだめ")), "このフォームは古くなっています")
	inForm(k.T.(*testing.T), k.sendView(user, form, then(strings.Repeat("あ", 1001), kind)), "1〜1000 文字")
	for range 2 {
		k.quiet(k.sendView(user, form, then("本番はだめ", kind)), user)
	}
	k.told(k.sendView(user, form, then("やはり短く", kind)), user, "反映されていません")
	return expect.Value(k.rows.Load(k.T.Context(), k.of))(k.T)
}

func testActionSentBack(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Tanaka)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	a := k.rejects(webapi.Tanaka, "/2", circulation.SendBack)
	x := a.Action(k.x.ActionID)
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonRejected &&
		x.ErrorDetail == "本番はだめ" && x.CancelledBy == webapi.Tanaka, "%+v", x)
	expect.That(t, a.Next(k.Now()).State == conversation.StateAnswer, "the agent has no turn for the reason")
}

func testActionDenied(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki)
	a := k.rejects(webapi.Suzuki, "/1", circulation.Deny)
	x := a.Action(k.x.ActionID)
	expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == conversation.ReasonDenied &&
		x.ErrorDetail == "本番はだめ", "%+v", x)
	expect.That(t, a.Next(k.Now()).State != conversation.StateAnswer, "the agent has a turn")
	k.told(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki, "却下しました")
}

func testActionTakenBack(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Alex)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	for range 2 {
		k.quiet(k.pressAt(webapi.Suzuki, "takeback_action", "/1"), webapi.Suzuki)
	}
	x := k.action()
	expect.Is(t, len(x.Gate.Acts), 2, "acts")
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	k.quiet(k.pressAt(webapi.Alex, card.ApproveAction, "/2"), webapi.Alex)
	k.told(k.pressAt(webapi.Suzuki, "takeback_action", "/1"), webapi.Suzuki, "承認が済んでいます")
	expect.Same(t, conversation.ActionApproved, k.action().Status)
}

func testActionTakenBackInADialog(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Alex)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	k.quiet(k.pressAt(webapi.Suzuki, card.OpenActionReview, "/2"), webapi.Suzuki)
	k.quiet(k.post(k.pressed(webapi.Suzuki)), webapi.Suzuki)
	expect.Is(t, len(k.action().Gate.Acts), 2, "acts")
	expect.That(t, k.view(webapi.Suzuki).Submit != nil, "it is drawn as before")
}

func testActionReadAlong(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, strings.Repeat("echo 漢字\n", 1500), webapi.Alex)
	k.quiet(k.pressAt(webapi.Alex, card.OpenActionReview, "/1"), webapi.Alex)
	for k.turn(webapi.Alex, card.ReviewTurn+"on") {
		expect.Same(t, conversation.ActionPending, k.action().Status)
	}
	k.quiet(k.send(webapi.Alex, map[string]any{}), webapi.Alex)
	expect.Same(t, conversation.ActionApproved, k.action().Status)
}

func testActionAsksSomethingElse(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki)
	for _, hash := range []string{k.x.Payload.Hash(), strings.Repeat("0", 64), ""} {
		for _, action := range []string{card.ApproveAction, card.RejectAction, "takeback_action"} {
			k.told(k.post(at(k.click(webapi.Suzuki, action, k.x.ActionID+"/"+hash), k.of.ID+"/1")), webapi.Suzuki,
				"最新のカードを確認して")
		}
	}
	expect.Is(t, len(k.action().Gate.Acts), 0, "acts")
}

func testStrangersOfARoute(t *testing.T, db *storetest.Server) {
	k := newOnRoute(t, db, "make", webapi.Suzuki, webapi.Guest)
	k.quiet(k.pressAt(webapi.Suzuki, card.ApproveAction, "/1"), webapi.Suzuki)
	for _, user := range []string{webapi.Guest, webapi.Stranger, "U0NOBODY"} {
		for _, action := range []string{card.ApproveAction, card.RejectAction, "takeback_action", card.CancelAction,
			card.OpenActionReview} {
			k.pressAt(user, action, "/2")
		}
		expect.That(t, len(k.slack.Views(user)) == 0, "%s has a dialog", user)
	}
	x := k.action()
	expect.That(t, x.Status == conversation.ActionPending && len(x.Gate.Acts) == 1, "%+v", x.Gate)
	expect.That(t, aggregate.PendingApproval == x.Gate.Status, "it is %s", x.Gate.Status)
}
