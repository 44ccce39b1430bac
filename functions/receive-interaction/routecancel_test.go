package main

import (
	"testing"

	"ringi/infra/local/sandbox/workspace"
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
			w.onRoute(workspace.Suzuki, workspace.Alex)
			w.told(w.post(w.shortcut(workspace.Tanaka, map[string]any{"ts": w.root, "thread_ts": w.root})),
				workspace.Tanaka, offRoute)
			expect.Is(t, len(w.slack.Views(workspace.Tanaka)), 0, "dialogs")
		},
		"whoever is asked, also outside of the channel": func(t *testing.T, w *world) {
			w.onRoute(workspace.Suzuki, workspace.Alex)
			w.cancels(workspace.Alex)
			w.quiet(w.confirm(workspace.Alex), "")
			expect.That(t, w.Load().Head.Ended.By == workspace.Alex, "%+v", w.Load().Head.Ended)
		},
		"the requester": func(t *testing.T, w *world) {
			w.onRoute(workspace.Suzuki)
			w.cancels(workspace.Sato)
			w.confirm(workspace.Sato)
			expect.That(t, w.Load().Head.Ended.By == workspace.Sato, "%+v", w.Load().Head.Ended)
		},
		"an administrator": func(t *testing.T, w *world) {
			w.administered(workspace.Tanaka)
			w.onRoute(workspace.Suzuki)
			w.cancels(workspace.Tanaka)
			w.confirm(workspace.Tanaka)
			expect.That(t, w.Load().Head.Ended.By == workspace.Tanaka, "%+v", w.Load().Head.Ended)
		},
		"once it is settled whoever was asked, and the approvers": func(t *testing.T, w *world) {
			p := w.onRoute(workspace.Alex)
			w.stamps(workspace.Alex, p.ID, "/1")
			e := w.Begin().Execution()
			w.told(w.post(at(w.click(workspace.Guest, "cancel_execution", e.ID), w.Ref.ID)), workspace.Guest, "承認者")
			w.quiet(w.post(at(w.click(workspace.Alex, "cancel_execution", e.ID), w.Ref.ID)), workspace.Alex)
			expect.Same(t, task.ExecutionCancelled, w.Load().Execution().Status)
		},
	})
}

func TestCancellingAnActionThatGoesRound(t *testing.T) {
	db := storetest.Start(t)
	along := func() *inConversation { return newOnRoute(t, db, "make", workspace.Alex, workspace.Suzuki) }
	k := along()
	k.told(k.press(workspace.Tanaka, card.CancelAction, k.x.ActionID), workspace.Tanaka, offRoute)
	// Ending the conversation would cancel it, too.
	_, err := k.rows.Decide(t.Context(), k.of, func(a *conversation.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Tanaka, Team: slacktest.Team, Member: true}
		return a.End(by, aggregate.Policy{Team: slacktest.Team, Mode: aggregate.ApproversChannel}, k.Now())
	})
	expect.Fails(t, err, aggregate.ErrNotAllowed{Rule: aggregate.RuleOffRoute})
	expect.Same(t, conversation.ActionPending, k.action().Status)
	for _, user := range []string{workspace.Alex, workspace.Suzuki, workspace.Sato} {
		k = along()
		k.quiet(k.press(user, card.CancelAction, k.x.ActionID), user)
		expect.Same(t, conversation.ReasonWithdrawn, k.action().CancelReason)
	}
}
