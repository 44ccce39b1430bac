package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// Whom settings let decide is proved in package people: here one is refused and told who may, and one is not.
func TestWhoMayDecide(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	w.Settings(func(s *tenancy.Settings) {
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
		"the request's menu":       menu("text", "x"),
		"a card's menu": menu("attachments", []any{map[string]any{"blocks": []any{
			map[string]any{"block_id": w.Ref.ID}}}}),
		"a message's menu": menu("metadata", map[string]any{"event_type": "ringi_card",
			"event_payload": map[string]any{"task": w.Ref.ID, "card": "CARD#task"}}),
		"another tenant's form asked":  from("T0OTHER", w.click(webapi.Suzuki, "reject_prompt", p.ID)),
		"no such prompt":               w.click(webapi.Suzuki, "approve_prompt", aggregate.NewID()),
		"no such task":                 action(w.click(webapi.Suzuki, "approve_prompt", p.ID), aggregate.NewID(), p.ID),
		"a task id that is none":       action(w.click(webapi.Suzuki, "approve_prompt", p.ID), "x#HEAD", p.ID),
		"an id that is none":           action(w.click(webapi.Suzuki, "approve_prompt", p.ID), w.Ref.ID, ""),
		"a process's button, a prompt": w.click(webapi.Suzuki, "approve_process", p.ID),
	} {
		expect.Is(t, w.hears(webapi.Suzuki, payload), card.Note("ja", aggregate.ErrNotFound), name)
	}
	form := from("T0OTHER", w.form(webapi.Suzuki, "prompt", p.ID, "x"))
	inForm(t, w.post(form), card.Note("ja", aggregate.ErrNotFound))
	view := form["view"].(map[string]any) // their own task, our gate
	view["private_metadata"] = strings.ReplaceAll(view["private_metadata"].(string), w.Ref.ID, other)
	expect.Is(t, w.hears(webapi.Suzuki, form), card.Note("ja", aggregate.ErrNotFound))
	private := expect.JSON(card.Cancellation{TaskID: w.Ref.ID, Channel: webapi.HR})
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
		title := expect.JSON(w.taken(user).Title)
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
	w.Settings(func(s *tenancy.Settings) { s.Locale = "en" })
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
	expect.AtOnce(len(payloads), func(i int) { w.post(payloads[i]) })
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
	k.Under = ringitest.Policy()
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

func (k *inConversation) press(user, action, value string) slackapi.Response {
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
		"rejected, not approved, once whoever asked has left":                               testActionOfALeaver,
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

func testActionOfALeaver(t *testing.T, db *storetest.Server) {
	k := newConversation(t, db, "make")
	k.h.People = &people.People{Slack: departed{k.slack.Client, webapi.Sato}, Now: k.Now}
	k.told(k.press(webapi.Suzuki, card.ApproveAction, k.value()), webapi.Suzuki,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleLeft}))
	k.quiet(k.press(webapi.Suzuki, card.RejectAction, k.value()), webapi.Suzuki)
	k.quiet(k.send(webapi.Suzuki, reason("退職した")), webapi.Suzuki)
	expect.Same(t, conversation.ActionCancelled, k.action().Status)
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

// proposing is the choice of 「操作を提案」 in the menu of a message in the conversation's thread.
func (k *inConversation) proposing(user string, message map[string]any) map[string]any {
	p := k.shortcut(user, message)
	p["callback_id"] = shortcutPropose
	return p
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
	k.told(k.post(k.proposing(webapi.Tanaka, inThread)), webapi.Tanaka, busy)
	k.Cancel()
	k.post(k.proposing(webapi.Guest, inThread))
	expect.Has(t, k.hears(webapi.Suzuki, k.proposing(webapi.Suzuki, map[string]any{"ts": "1776679999.000100",
		"text": "x"})), "会話のスレッドでだけ提案できます")
	expect.Is(t, len(k.slack.Views(webapi.Guest))+len(k.slack.Views(webapi.Suzuki)), 0, "forms")
	k.quiet(k.post(k.proposing(webapi.Tanaka, inThread)), webapi.Tanaka)
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

	k.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k.press(webapi.Tanaka, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash())
	expect.Is(t, k.Load().Current().Status, conversation.ActionPending, "their own is approved")
	k.quiet(k.press(webapi.Suzuki, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash()), webapi.Suzuki)
	expect.Is(t, k.Load().Current().Status, conversation.ActionApproved)
}
