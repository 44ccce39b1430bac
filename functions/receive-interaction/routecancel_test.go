package main

import (
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

const offRoute = "回覧で承認を担当する方"

// administered makes people the tenant's administrators.
func (w *world) administered(users ...string) {
	w.T.Helper()
	tenant := tenancy.Tenant{ID: w.Ref.Tenant, Name: "x", Slug: "default", TeamID: slacktest.Team, Admins: users}
	expect.Value(w.Store.Bootstrap(w.T.Context(), tenant, w.Now()))(w.T)
}

// cancels opens the dialog that confirms a cancellation from a card's menu.
func (w *world) cancels(user string) {
	w.T.Helper()
	w.post(w.shortcut(user, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root,
		"attachments": []any{map[string]any{"blocks": []any{map[string]any{"block_id": w.Ref.ID + "/1"}}}}}))
}

func TestCancellingWhatGoesRound(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"no approver who isn't asked": func(t *testing.T, w *world) {
			w.onRoute(webapi.Suzuki, webapi.Alex)
			w.told(w.post(w.shortcut(webapi.Tanaka, map[string]any{"ts": w.root, "thread_ts": w.root})),
				webapi.Tanaka, offRoute)
			expect.Is(t, len(w.slack.Views(webapi.Tanaka)), 0, "dialogs")
		},
		"whoever is asked, also outside of the channel": func(t *testing.T, w *world) {
			w.onRoute(webapi.Suzuki, webapi.Alex)
			w.cancels(webapi.Alex)
			w.quiet(w.confirm(webapi.Alex), "")
			expect.That(t, w.Load().Head.Ended.By == webapi.Alex, "%+v", w.Load().Head.Ended)
		},
		"the requester": func(t *testing.T, w *world) {
			w.onRoute(webapi.Suzuki)
			w.cancels(webapi.Sato)
			w.confirm(webapi.Sato)
			expect.That(t, w.Load().Head.Ended.By == webapi.Sato, "%+v", w.Load().Head.Ended)
		},
		"an administrator": func(t *testing.T, w *world) {
			w.administered(webapi.Tanaka)
			w.onRoute(webapi.Suzuki)
			w.cancels(webapi.Tanaka)
			w.confirm(webapi.Tanaka)
			expect.That(t, w.Load().Head.Ended.By == webapi.Tanaka, "%+v", w.Load().Head.Ended)
		},
		"once it is settled whoever was asked, and the approvers": func(t *testing.T, w *world) {
			p := w.onRoute(webapi.Alex)
			w.stamps(webapi.Alex, p.ID, "/1")
			e := w.Begin().Execution()
			w.told(w.post(at(w.click(webapi.Guest, "cancel_execution", e.ID), w.Ref.ID)), webapi.Guest, "承認者")
			w.quiet(w.post(at(w.click(webapi.Alex, "cancel_execution", e.ID), w.Ref.ID)), webapi.Alex)
			expect.Same(t, task.ExecutionCancelled, w.Load().Execution().Status)
		},
	})
}

func TestCancellingAnActionThatGoesRound(t *testing.T) {
	db := storetest.Start(t)
	along := func() *inConversation { return newOnRoute(t, db, "make", webapi.Alex, webapi.Suzuki) }
	k := along()
	k.told(k.press(webapi.Tanaka, card.CancelAction, k.x.ActionID), webapi.Tanaka, offRoute)
	// Ending the conversation would cancel it, too.
	_, err := k.rows.Decide(t.Context(), k.of, func(a *conversation.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka, Team: slacktest.Team, Member: true}
		return a.End(by, aggregate.Policy{Team: slacktest.Team, Mode: aggregate.ApproversChannel}, k.Now())
	})
	expect.Fails(t, err, aggregate.ErrNotAllowed{Rule: aggregate.RuleOffRoute})
	expect.Same(t, conversation.ActionPending, k.action().Status)
	for _, user := range []string{webapi.Alex, webapi.Suzuki, webapi.Sato} {
		k = along()
		k.quiet(k.press(user, card.CancelAction, k.x.ActionID), user)
		expect.Same(t, conversation.ReasonWithdrawn, k.action().CancelReason)
	}
}
