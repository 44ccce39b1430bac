package main

import (
	"context"
	"strings"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
)

// onRoute has the steps wait along a route that asks these people, one after the other.
func (w *world) onRoute(users ...string) *task.Process {
	w.T.Helper()
	var stages []circulation.Stage
	for _, user := range users {
		stages = append(stages, ringitest.Desk(user, 1, user))
	}
	o := ringitest.Along([]string{webapi.Sato}, stages...)
	return w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
}

// at makes a click's button one of this task or conversation and stage, of the same content.
func at(p map[string]any, block string) map[string]any {
	action := p["actions"].([]any)[0].(map[string]any)
	if _, _, hash, _ := card.Subject(action["block_id"].(string)); hash != "" {
		if !strings.Contains(block, "/") {
			block += "/0"
		}
		block += "/" + hash
	}
	action["block_id"] = block
	return p
}

func TestButtonsOfAStage(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"stamp the stage that was seen, when it is asked":      testStageStamped,
		"count only with their stage":                          testStageUnseen,
		"of no stage that a card can name are refused":         testStageMalformed,
		"of people who may do nothing any more":                testStageOfOthers,
		"lead to the end of what is read, where it is stamped": testStageReadToItsEnd,
		"of a gate without a rule may name none":               testStageOfNoRoute,
	})
}

func testStageStamped(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	stamp := func(user, stage string) {
		w.quiet(w.post(at(w.click(user, "approve_process", p.ID), w.Ref.ID+stage)), user)
	}
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	w.told(w.post(at(w.click(webapi.Sato, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Sato, "自分の依頼")
	stamp(webapi.Suzuki, "/1")
	got := w.Load().Process()
	expect.That(t, got.Status == aggregate.PendingApproval && len(got.Acts) == 1, "after one stamp: %+v", got.Gate)
	stamp(webapi.Suzuki, "/1") // a double click
	stamp(webapi.Tanaka, "/2")
	got = w.Load().Process()
	expect.That(t, got.Status == aggregate.Approved && len(got.Acts) == 2 && got.ApprovedBy == webapi.Tanaka, "%+v",
		got.Gate)
}

func testStageUnseen(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.told(w.post(at(w.click(webapi.Suzuki, "approve_process", p.ID), w.Ref.ID)), webapi.Suzuki, webapi.Suzuki)
	expect.That(t, w.Load().Process().Status == aggregate.PendingApproval, "stamped at a stage that was not seen")
}

func testStageMalformed(t *testing.T, w *world) {
	p := w.planned()
	for _, stage := range []string{"/", "/01", "/x", "/-1"} {
		w.quiet(w.post(at(w.click(webapi.Suzuki, "approve_process", p.ID), w.Ref.ID+stage)), webapi.Suzuki)
	}
	expect.That(t, w.Load().Process().Status == aggregate.PendingApproval, "approved by a button of no card")
}

func testStageOfOthers(t *testing.T, w *world) {
	p := w.along(ringitest.Desk("部長", 1, webapi.Guest, webapi.Suzuki, webapi.Tanaka))
	all := w.h.People
	w.h.People = &people.People{Slack: departed{w.slack.Client, webapi.Tanaka}, Now: w.Now}
	for user, want := range map[string]string{webapi.Guest: "ゲスト", webapi.Tanaka: "別のワークスペース"} {
		for _, verb := range []string{"approve", "reject"} {
			w.told(w.post(at(w.click(user, verb+"_process", p.ID), w.Ref.ID+"/1")), user, want)
		}
		expect.Is(t, len(w.slack.Views(user)), 0, "dialogs of %s", user)
	}
	w.h.People = all
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.shown()
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka,
		"<@"+webapi.Suzuki+"> が ")
	w.healed()
	expect.Is(t, len(w.Load().Process().Acts), 1, "acts")
}

// Alex is asked, and is not in the request's channel.
func testStageReadToItsEnd(t *testing.T, w *world) {
	var steps []task.Step
	for i := range 20 {
		steps = append(steps, ringitest.Step(i+1, "send_slack_dm", aggregate.Write,
			`{"text":"`+strings.Repeat("長", 900)+`"}`))
	}
	o := ringitest.Along([]string{webapi.Sato}, ringitest.Desk("部長", 1, webapi.Alex))
	p := w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...).Process()
	w.quiet(w.post(at(w.click(webapi.Alex, "review_process", p.ID), w.Ref.ID+"/1")), webapi.Alex)
	expect.Must(t, w.view(webapi.Alex).Submit != nil, "the dialog has no button")
	w.quiet(w.send(webapi.Alex, map[string]any{}), webapi.Alex)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

func testStageOfNoRoute(t *testing.T, w *world) {
	p := w.planned()
	w.quiet(w.post(at(w.click(webapi.Suzuki, "approve_process", p.ID), w.Ref.ID)), webapi.Suzuki)
	expect.That(t, w.Load().Process().Status == aggregate.Approved, "not approved")
	// The shortcut on a card of a stage finds its task.
	shortcut := w.shortcut(webapi.Sato, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root,
		"attachments": []any{map[string]any{"blocks": []any{map[string]any{"block_id": w.Ref.ID + "/2"}}}}})
	w.post(shortcut)
	expect.That(t, strings.Contains(w.view(webapi.Sato).CallbackID, card.CancelCallback), "another dialog")
}

// then returns the values of a rejection's form with a choice of what comes after.
func then(text any, kind circulation.Kind) map[string]any {
	values := reason(text)
	values[card.ThenBlock] = map[string]any{card.ThenInput: map[string]any{"type": "radio_buttons",
		"selected_option": map[string]any{"value": kind}}}
	return values
}

// asksWhy opens a person's form for a rejection, at a stage.
func (w *world) asksWhy(user, action, id, stage string) webapi.View {
	w.T.Helper()
	w.quiet(w.post(at(w.click(user, action, id), w.Ref.ID+stage)), user)
	v := w.view(user)
	w.slack.CloseView(user)
	return v
}

func TestRejectionsOnARoute(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"sent back, and another version is made": testSentBack,
		"denied, and the task is over":           testDenied,
		"cancelled, by who may":                  testCancelledFromTheCard,
		"told in direct messages outside":        testRejectedLateOutside,
	})
}

func testSentBack(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	w.told(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "番です")
	form := w.asksWhy(webapi.Suzuki, "reject_process", p.ID, "/1")
	others := w.asksWhy(webapi.Suzuki, "more_process", p.ID, "/1")
	for range 2 { // Slack repeats it
		w.quiet(w.sendView(webapi.Suzuki, form, reason("宛先を直して")), webapi.Suzuki)
	}
	a := w.Load()
	got := a.Processes[0]
	expect.That(t, got.Status == aggregate.Rejected && got.RejectionReason == "宛先を直して" && len(got.Acts) == 1 &&
		a.Head.Ended == nil, "%+v, ended %+v", got.Gate, a.Head.Ended)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.told(w.post(at(w.click(webapi.Suzuki, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Suzuki, "に却下しました")
	w.told(w.sendView(webapi.Suzuki, others, then("やめて", circulation.Deny)), webapi.Suzuki, "反映されていません")
	expect.That(t, w.Load().Head.Ended == nil, "a version that was sent back is denied")
}

func testDenied(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	form := w.asksWhy(webapi.Suzuki, "more_process", p.ID, "/1")
	out := w.sendView(webapi.Suzuki, form, then("", circulation.Deny))
	expect.That(t, out.Body != "", "it is denied without a reason")
	w.quiet(w.sendView(webapi.Suzuki, form, then("予算がない", circulation.Deny)), webapi.Suzuki)
	a := w.Load()
	expect.Must(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDenied, "%+v", a.Head.Ended)
	expect.That(t, a.Process().RejectionReason == "予算がない" && len(a.Processes) == 1, "%+v", a.Process().Gate)
}

// Whoever is asked may also cancel the request, and whoever asked may only do that.
func testCancelledFromTheCard(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.post(at(w.click(webapi.Alex, "more_process", p.ID), w.Ref.ID+"/1"))
	expect.Is(t, len(w.slack.Views(webapi.Alex)), 0, "dialogs of who may do nothing")
	form := w.asksWhy(webapi.Suzuki, "more_process", p.ID, "/1")
	expect.Has(t, form.PrivateMetadata, `"asked"`)
	own := w.asksWhy(webapi.Sato, "more_process", p.ID, "/1")
	expect.Has(t, own.PrivateMetadata, `"then": "cancel"`)
	w.quiet(w.sendView(webapi.Suzuki, form, then("", card.Cancels)), webapi.Suzuki)
	a := w.Load()
	expect.Must(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonByPerson && a.Head.Ended.By == webapi.Suzuki,
		"%+v", a.Head.Ended)
}

// A dialog belongs to no channel, and Alex can't see the one where the request was made.
func testRejectedLateOutside(t *testing.T, w *world) {
	p := w.onRoute(webapi.Alex, webapi.Suzuki)
	own := webapi.DirectMessage(webapi.Alex)
	click := at(w.click(webapi.Alex, "more_process", p.ID), w.Ref.ID+"/1")
	click["container"].(map[string]any)["channel_id"] = own
	w.quiet(w.post(click), webapi.Alex)
	form := w.view(webapi.Alex)
	click = at(w.click(webapi.Alex, "approve_process", p.ID), w.Ref.ID+"/1")
	click["container"].(map[string]any)["channel_id"] = own
	w.quiet(w.post(click), webapi.Alex)
	expect.Same(t, 1, len(w.Load().Process().Acts))
	w.sendView(webapi.Alex, form, then("やはりやめる", circulation.Deny))
	said := expect.Value(w.slack.History(own, webapi.Range{}))(t)
	expect.Must(t, len(said) == 1, "%d messages; %+v", len(said), w.slack.Ephemerals(webapi.Alex))
	expect.Has(t, said[0].Text, "turn", "told outside of the channel")
	expect.Same(t, aggregate.PendingApproval, w.Load().Process().Status)
}

// stamps presses a copy's button at a stage, which must count.
func (w *world) stamps(user, id, stage string) {
	w.T.Helper()
	was := w.standing()
	w.quiet(w.post(at(w.click(user, "approve_process", id), w.Ref.ID+stage)), user)
	expect.Is(w.T, w.standing(), was+1, "stamps after %s's", user)
}

// standing returns how many stamps stand on the steps.
func (w *world) standing() int {
	w.T.Helper()
	st := circulation.Walk(w.Load().Process().Circulating())
	return len(st.Stamps())
}

// along has the steps wait along a route of these stages.
func (w *world) along(stages ...circulation.Stage) *task.Process {
	w.T.Helper()
	return w.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{webapi.Sato}, stages...),
		ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
}

func TestStandIns(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"stamp for whom they stand in, once":           testStandInStamps,
		"don't stamp by what ended beside their click": testStandInEnded,
	})
}

// standIn sets that hand stands in for principal for so many days from today.
func (w *world) standIn(hand, principal, by string, days int) tenancy.Delegation {
	w.T.Helper()
	today := tenancy.DateOf(w.Now().In(tenancy.Zone()))
	return expect.Value(w.Store.KindStore.SetDelegation(w.T.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant,
		Hand: hand, Principal: principal, From: today,
		Until: today + tenancy.Date(days) - 1}, setter(by), w.Now(), nil))(w.T)
}

func setter(user string) tenancy.Setter {
	return tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: user}, Admin: true}
}

// stamp clicks on approving at the first stage.
func (w *world) stamp(user string, p *task.Process) map[string]any {
	return at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1")
}

func (w *world) acts() []circulation.Act { return w.Load().Process().Acts }

func testStandInStamps(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Alex)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka) // a double click
	acts := w.acts()
	expect.Must(t, len(acts) == 1, "%d acts", len(acts))
	act := acts[0]
	expect.That(t, act.Hand.User == webapi.Tanaka && act.Principal.User == webapi.Suzuki &&
		act.Found.Delegation.Key == d.Key() && act.Found.Delegation.Rev == 1, "%+v", act)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "番です")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	expect.Is(t, w.Load().Process().Status, aggregate.PendingApproval, "a second stage is another's")
}

// between does something after delegations were read for a click and before it is committed.
type between struct {
	Rows
	reads int
	do    func(reads int)
}

func (b *between) StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error) {
	out, err := b.Rows.StandIns(ctx, tenant, hand)
	b.reads++
	b.do(b.reads)
	return out, err
}

func testStandInEnded(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows, do: func(reads int) {
		if reads == 1 {
			expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, setter(webapi.Alex), w.Now(), nil))(t)
		}
	}}
	w.h.Rows = rows
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "お願いしている承認はありません")
	expect.That(t, len(w.acts()) == 0 && rows.reads == 2, "%d acts after %d reads", len(w.acts()), rows.reads)
}
