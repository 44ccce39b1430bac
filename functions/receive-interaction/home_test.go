package main

import (
	"sync"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/records"
)

// onTab returns the payload of a button on the Home tab: as Slack sends it, with a view but no channel or message.
func (w *world) onTab(user, action, value string) map[string]any {
	p := person("block_actions", user, slacktest.Team)
	p["trigger_id"] = w.slack.NewTrigger(webapi.Hand{User: user})
	p["container"] = map[string]any{"type": "view", "view_id": "V1"}
	p["view"] = map[string]any{"id": "V1", "type": "home", "callback_id": card.HomeCallback, "private_metadata": "",
		"state": map[string]any{"values": map[string]any{}}}
	p["actions"] = []any{map[string]any{"action_id": action, "block_id": w.Ref.ID, "value": value, "type": "button",
		"action_ts": "1.2"}}
	return p
}

func TestDecisionsOnTheHomeTab(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"approve, and the tab is published again": func(t *testing.T, w *world) {
			p := w.prompted()
			w.quiet(w.post(w.onTab(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
			got := w.Load().Prompt()
			expect.That(t, got.Status == aggregate.Approved && got.ApprovedBy == webapi.Suzuki, "%+v", got.Gate)
			expect.Same(t, slacktest.Team, expect.Value(records.NotesOf(w.Store.Table()).OpenHome(t.Context(), w.Ref.Tenant,
				webapi.Suzuki))(t).Team)
		},
		"what is refused is said in a dialog": func(t *testing.T, w *world) {
			p := w.prompted()
			w.quiet(w.post(w.onTab(webapi.Guest, "approve_prompt", p.ID)), webapi.Guest)
			if views := w.slack.Views(webapi.Guest); len(views) != 1 ||
				w.Load().Prompt().Status != aggregate.PendingApproval {
				t.Errorf("%d dialogs, %s", len(views), w.Load().Prompt().Status)
			}
		},
		"reject opens the form": func(t *testing.T, w *world) {
			p := w.prompted()
			w.quiet(w.post(w.onTab(webapi.Suzuki, "reject_prompt", p.ID)), webapi.Suzuki)
			if views := w.slack.Views(webapi.Suzuki); len(views) != 1 || views[0].CallbackID != card.RejectionCallback {
				t.Errorf("%+v", views)
			}
		},
		"eight clicks in three places make one decision": testClicksInThreePlaces,
	})
}

// testClicksInThreePlaces: of concurrent clicks in the thread, in direct messages and on the Home tab, one decides.
func testClicksInThreePlaces(t *testing.T, w *world) {
	p := w.prompted()
	var payloads []map[string]any
	for i := range 8 {
		user := []string{webapi.Suzuki, webapi.Tanaka}[i%2]
		click := w.click(user, "approve_prompt", p.ID)
		switch i % 3 {
		case 1:
			click = w.onTab(user, "approve_prompt", p.ID)
		case 2: // the copy in direct messages
			own := webapi.DirectMessage(user)
			click["channel"] = map[string]any{"id": own, "name": "directmessage"}
			click["container"] = map[string]any{"type": "message_attachment", "message_ts": "1776675600.000200",
				"attachment_id": 1, "channel_id": own}
			click["message"] = map[string]any{"ts": "1776675600.000200"}
		}
		payloads = append(payloads, click)
	}
	var all sync.WaitGroup
	for _, x := range payloads {
		all.Go(func() { w.post(x) })
	}
	all.Wait()
	a := w.Load()
	got := a.Prompt()
	expect.That(t, got.Status == aggregate.Approved && len(got.Acts) == 1, "%+v", got.Gate)
	n := 0
	for _, e := range expect.Value(w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{}, "", 100))(t).Items {
		if e.Action == task.AuditPromptApproved {
			n++
		}
	}
	expect.That(t, n == 1, "%d entries of one approval", n)
}
