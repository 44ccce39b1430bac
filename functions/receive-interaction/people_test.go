package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// Whom settings let decide is proved in package people: here one is refused and told who may, and one is not.
func TestWhoMayDecide(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	w.changeSettings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Usergroups: []string{webapi.Approvers}}
	})
	w.shown()
	w.told(w.post(w.click(webapi.Sato, "approve_prompt", p.ID)), webapi.Sato,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed})+
			"\n👥 承認・却下できる人: <!subteam^"+webapi.Approvers+">")
	w.healed()
	expect.Must(t, w.Load().Prompt().Status == aggregate.PendingApproval, "who isn't listed approved")
	expect.NoError(t, w.slack.SetMember(webapi.HR, webapi.Tanaka, false))
	w.post(w.click(webapi.Tanaka, "approve_prompt", p.ID))
	expect.Same(t, webapi.Tanaka, w.Load().Prompt().ApprovedBy)
}

// Ids of another tenant, or of nothing, lead nowhere.
func TestForeignIDs(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	w.known("T0OTHER")
	from := func(team string, payload map[string]any) map[string]any {
		payload["team"] = map[string]any{"id": team}
		payload["user"].(map[string]any)["team_id"] = team
		return payload
	}
	action := func(p map[string]any, block, value string) map[string]any {
		a := p["actions"].([]any)[0].(map[string]any)
		a["block_id"], a["value"] = block, value
		return p
	}
	other := w.otherTask("T0OTHER")
	menu := func(key string, value any) map[string]any {
		return from("T0OTHER", w.shortcut(webapi.Suzuki, map[string]any{"ts": w.root, "thread_ts": w.root, key: value}))
	}
	for name, payload := range map[string]map[string]any{
		"their own task, our gate": from("T0OTHER", action(w.click(webapi.Suzuki, "approve_prompt", p.ID), other, p.ID)),
		"our task to try again":    from("T0OTHER", w.click(webapi.Suzuki, "retry_generation", w.Ref.ID)),
		"an execution to retry":    from("T0OTHER", w.click(webapi.Suzuki, "retry_execution", aggregate.NewID())),
		"a step":                   from("T0OTHER", w.click(webapi.Suzuki, "approve_step", p.ID)),
		"the request's menu":       menu("text", "x"),
		"a card's menu": menu("attachments", []any{map[string]any{"blocks": []any{
			map[string]any{"block_id": w.Ref.ID}}}}),
		"a message's menu": menu("metadata", map[string]any{"event_type": "ringi_card",
			"event_payload": map[string]any{"task": w.Ref.ID, "card": "CARD#task"}}),
		"another tenant's person":      from("T0OTHER", w.click(webapi.Suzuki, "approve_prompt", p.ID)),
		"another tenant's execution":   from("T0OTHER", w.click(webapi.Suzuki, "cancel_execution", aggregate.NewID())),
		"another tenant's form asked":  from("T0OTHER", w.click(webapi.Suzuki, "reject_prompt", p.ID)),
		"no such prompt":               w.click(webapi.Suzuki, "approve_prompt", aggregate.NewID()),
		"no such task":                 action(w.click(webapi.Suzuki, "approve_prompt", p.ID), aggregate.NewID(), p.ID),
		"a task id that is none":       action(w.click(webapi.Suzuki, "approve_prompt", p.ID), "x#HEAD", p.ID),
		"an id that is none":           action(w.click(webapi.Suzuki, "approve_prompt", p.ID), w.Ref.ID, ""),
		"a process's button, a prompt": w.click(webapi.Suzuki, "approve_process", p.ID),
	} {
		before := len(w.slack.Ephemerals(webapi.Suzuki))
		out := w.post(payload)
		told := w.slack.Ephemerals(webapi.Suzuki)
		if out.StatusCode != 200 || len(told) != before+1 || told[before].Text != card.Note("ja", aggregate.ErrNotFound) {
			t.Errorf("%s: %d, told %+v", name, out.StatusCode, told[before:])
		}
	}
	form := from("T0OTHER", w.form(webapi.Suzuki, "prompt", p.ID, "x"))
	inForm(t, w.post(form), card.Note("ja", aggregate.ErrNotFound))
	view, before := form["view"].(map[string]any), len(w.slack.Ephemerals(webapi.Suzuki)) // their own task, our gate
	view["private_metadata"] = strings.ReplaceAll(view["private_metadata"].(string), w.Ref.ID, other)
	w.post(form)
	told := w.slack.Ephemerals(webapi.Suzuki)
	expect.That(t, len(told) == before+1 && told[before].Text == card.Note("ja", aggregate.ErrNotFound), "%+v", told)
	private := string(expect.Value(json.Marshal(card.Cancellation{TaskID: w.Ref.ID, Channel: webapi.HR}))(t))
	w.post(from("T0OTHER", submits(webapi.Suzuki, card.CancelCallback, private, nil)))
	expect.That(t, w.Load().Head.Ended == nil, "it was cancelled")
	got := w.Load().Prompt()
	expect.That(t, got.Status == aggregate.PendingApproval && len(w.slack.Views(webapi.Suzuki)) == 0, "%+v", got)
}

// otherTask makes a task of another workspace.
func (w *world) otherTask(team string) string {
	w.T.Helper()
	c, ref, err := task.Receive(aggregate.TenantID(team), task.Request{TeamID: team, Text: "x", User: webapi.Tanaka,
		Channel: webapi.HR, MessageTS: "2.000001", ThreadTS: "2.000001", Source: task.SourceChannel}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	return ref.ID
}

// A card is in the workspace's language, and whatever one person reads is in that person's, of which Slack is asked
// once for a click.
func TestNotesAndDialogsAreInThePersonsLanguage(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.asked()
	expect.NoError(t, w.slack.Speak(webapi.Suzuki, "en-GB"))
	_, wrong := aggregate.CheckReason(" ")
	titled := func(user string, want slack.ModalViewRequest) {
		title := string(expect.Value(json.Marshal(w.taken(user).Title))(t))
		expect.Has(t, title, strconv.Quote(want.Title.Text))
	}
	for user, locale := range map[string]string{webapi.Suzuki: "en", webapi.Tanaka: "ja"} {
		w.told(w.post(w.click(user, "approve_process", p.ID)), user, card.Note(locale, aggregate.ErrNotFound))
		inForm(t, w.post(w.form(user, "prompt", p.ID, " ")), card.Note(locale, wrong))
		inForm(t, w.post(w.form(user, "task", p.ID, "x")), card.Note(locale, explain.ErrMalformedForm))
		w.slack.Calls()
		w.quiet(w.post(w.click(user, "reject_prompt", p.ID)), user)
		expect.That(t, len(w.slack.Calls("users.info")) <= 1, "users.info is called more than once")
		titled(user, card.DialogsOf(nil).Rejection(card.Review{Type: task.CardPrompt}, locale))
		w.quiet(w.post(w.click(user, "review_prompt", p.ID)), user)
		titled(user, *card.Told("x", locale))
		w.quiet(w.post(w.shortcut(user, map[string]any{"ts": w.root})), user)
		titled(user, card.DialogsOf(nil).Ending(card.Cancellation{}, "", tenancy.Settings{Locale: locale}))
	}
	expect.NoError(t, w.slack.Speak(webapi.Guest, "fr-FR")) // Ringi doesn't speak it
	w.changeSettings(func(s *tenancy.Settings) { s.Locale = "en" })
	guest := aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}
	w.told(w.post(w.click(webapi.Guest, "approve_prompt", p.ID)), webapi.Guest, card.Note("en", guest))
}

// onTab returns the payload of a button on the Home tab: as Slack sends it, with a view but no channel or message.
func (w *world) onTab(user, action, value string) map[string]any {
	p := person("block_actions", user, ringitest.Team)
	p["trigger_id"] = w.slack.NewTrigger(user)
	p["container"] = map[string]any{"type": "view", "view_id": "V1"}
	p["view"] = map[string]any{"id": "V1", "type": "home", "callback_id": card.HomeCallback, "private_metadata": "",
		"state": map[string]any{"values": map[string]any{}}}
	p["actions"] = []any{map[string]any{"action_id": action, "block_id": w.block(value), "value": value, "type": "button",
		"action_ts": "1.2"}}
	return p
}

func TestTheHomeTabOpensTheDialogForANewRequest(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.quiet(w.post(w.onTab(webapi.Sato, card.NewRequest, "")), webapi.Sato)
	expect.Is(t, w.taken(webapi.Sato).CallbackID, card.RequestCallback)
	w.quiet(w.post(w.onTab(webapi.Sato, "open_console", "")), webapi.Sato) // a link
	expect.Is(t, len(w.slack.Views(webapi.Sato)), 0, "dialogs")
}

// Of concurrent clicks in the thread and in direct messages, one decides.
func TestClicksInTwoPlacesMakeOneDecision(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	var payloads []map[string]any
	for i := range 8 {
		user := []string{webapi.Suzuki, webapi.Tanaka}[i%2]
		click := w.click(user, "approve_prompt", p.ID)
		if i%4 > 1 { // the copy in direct messages
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
