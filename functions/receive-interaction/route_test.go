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
	"ringi/shared/slack/slackapi"
)

// onRoute has steps wait along a route that asks these people, one after the other; without steps, one of its own.
func (w *world) onRoute(users []string, steps ...task.Step) *task.Process {
	w.T.Helper()
	var stages []circulation.Stage
	for _, user := range users {
		stages = append(stages, ringitest.Desk(user, 1, user))
	}
	if len(steps) == 0 {
		steps = []task.Step{ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)}
	}
	return w.PlannedOnRoute(tenancy.DefaultSettings(), ringitest.Along([]string{webapi.Sato}, stages...),
		steps...).Process()
}

// stamps has somebody press the button of a stage that approves the steps.
func (w *world) stamps(user, stage string) slackapi.Response {
	w.T.Helper()
	return w.post(at(w.click(user, "approve_process", w.Load().Process().ID), w.Ref.ID+stage))
}

// turn is what somebody is told whose turn it isn't.
const turn = "番です"

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
		"of people who may do nothing any more":                testStageOfOthers,
		"lead to the end of what is read, where it is stamped": testStageReadToItsEnd,
		"sent back, and another version is made":               testSentBack,
		"denied, and the task is over":                         testDenied,
		"cancelled, by who may":                                testCancelledFromTheCard,
		"told in direct messages outside":                      testRejectedLateOutside,
		"stamp for whom somebody stands in, once":              testStandInStamps,
		"don't stamp by what ended beside their click":         testStandInEnded,
	})
}

func testStageStamped(t *testing.T, w *world) {
	w.onRoute([]string{webapi.Suzuki, webapi.Tanaka})
	w.told(w.stamps(webapi.Tanaka, "/2"), webapi.Tanaka, turn)
	w.told(w.stamps(webapi.Suzuki, ""), webapi.Suzuki, webapi.Suzuki) // of no stage, as on a card without a rule
	for _, stage := range []string{"/", "/01", "/x", "/-1"} {         // which no card has
		w.quiet(w.stamps(webapi.Suzuki, stage), webapi.Suzuki)
	}
	expect.Is(t, len(w.acts()), 0, "acts")
	for range 2 { // a double click
		w.quiet(w.stamps(webapi.Suzuki, "/1"), webapi.Suzuki)
	}
	expect.That(t, w.Load().Process().Status == aggregate.PendingApproval && len(w.acts()) == 1, "%+v", w.acts())
	w.quiet(w.stamps(webapi.Tanaka, "/2"), webapi.Tanaka)
	got := w.Load().Process()
	expect.That(t, got.Status == aggregate.Approved && len(got.Acts) == 2 && got.ApprovedBy == webapi.Tanaka, "%+v",
		got.Gate)
}

// departed is a Slack whose people include one who has left.
type departed struct {
	people.Directory
	who string
}

func (d departed) User(ctx context.Context, id string) (slackapi.User, error) {
	u, err := d.Directory.User(ctx, id)
	u.Gone = u.Gone || id == d.who
	return u, err
}

func testStageOfOthers(t *testing.T, w *world) {
	p := w.onRoute([]string{webapi.Tanaka})
	w.h.People = &people.People{Slack: departed{w.slack.Client, webapi.Tanaka}, Now: w.Now}
	for _, verb := range []string{"approve", "reject"} {
		w.told(w.post(at(w.click(webapi.Tanaka, verb+"_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka,
			card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleForeign}))
	}
	expect.Is(t, len(w.slack.Views(webapi.Tanaka))+len(w.acts()), 0, "dialogs and acts")
}

// Alex is asked, and is not in the request's channel.
func testStageReadToItsEnd(t *testing.T, w *world) {
	var steps []task.Step
	for i := range 20 {
		steps = append(steps, ringitest.Step(i+1, "send_slack_dm", aggregate.Write,
			`{"text":"`+strings.Repeat("長", 900)+`"}`))
	}
	p := w.onRoute([]string{webapi.Alex}, steps...)
	w.quiet(w.post(at(w.click(webapi.Alex, "review_process", p.ID), w.Ref.ID+"/1")), webapi.Alex)
	expect.Must(t, w.view(webapi.Alex).Submit != nil, "the dialog has no button")
	w.quiet(w.send(webapi.Alex, nil), webapi.Alex)
	expect.Same(t, aggregate.Approved, w.Load().Process().Status)
}

// asksWhy opens a person's form for a rejection, at a stage.
func (w *world) asksWhy(user, action, id, stage string) webapi.View {
	w.T.Helper()
	w.quiet(w.post(at(w.click(user, action, id), w.Ref.ID+stage)), user)
	return w.taken(user)
}

func testSentBack(t *testing.T, w *world) {
	p := w.onRoute([]string{webapi.Suzuki, webapi.Tanaka})
	w.told(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, turn)
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
	w.told(w.sendView(webapi.Suzuki, others, then("やめて", circulation.Deny)), webapi.Suzuki,
		card.Surface("ja").ReasonNotTaken())
	expect.That(t, w.Load().Head.Ended == nil, "a version that was sent back is denied")
}

func testDenied(t *testing.T, w *world) {
	p := w.onRoute([]string{webapi.Suzuki})
	form := w.asksWhy(webapi.Suzuki, "more_process", p.ID, "/1")
	expect.That(t, w.sendView(webapi.Suzuki, form, then("", circulation.Deny)).Body != "", "denied without a reason")
	w.quiet(w.sendView(webapi.Suzuki, form, then("予算がない", circulation.Deny)), webapi.Suzuki)
	a := w.Load()
	expect.Must(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDenied, "%+v", a.Head.Ended)
	expect.That(t, a.Process().RejectionReason == "予算がない" && len(a.Processes) == 1, "%+v", a.Process().Gate)
}

// Whoever is asked may also cancel the request, and whoever asked may only do that.
func testCancelledFromTheCard(t *testing.T, w *world) {
	p := w.onRoute([]string{webapi.Suzuki})
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
	p := w.onRoute([]string{webapi.Alex, webapi.Suzuki})
	own := webapi.DirectMessage(webapi.Alex)
	click := at(w.click(webapi.Alex, "more_process", p.ID), w.Ref.ID+"/1")
	click["container"].(map[string]any)["channel_id"] = own
	w.quiet(w.post(click), webapi.Alex)
	form := w.taken(webapi.Alex)
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

func (w *world) acts() []circulation.Act { return w.Load().Process().Acts }

func testStandInStamps(t *testing.T, w *world) {
	w.onRoute([]string{webapi.Suzuki, webapi.Alex})
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	for range 2 { // a double click
		w.quiet(w.stamps(webapi.Tanaka, "/1"), webapi.Tanaka)
	}
	acts := w.acts()
	expect.Must(t, len(acts) == 1, "%d acts", len(acts))
	act := acts[0]
	expect.That(t, act.Hand.User == webapi.Tanaka && act.Principal.User == webapi.Suzuki &&
		act.Found.Delegation.Key == d.Key() && act.Found.Delegation.Rev == 1, "%+v", act)
	w.told(w.stamps(webapi.Suzuki, "/1"), webapi.Suzuki, turn)
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
	w.onRoute([]string{webapi.Suzuki})
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows, do: func(reads int) {
		if reads == 1 {
			expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, setter(webapi.Alex), w.Now(), nil))(t)
		}
	}}
	w.h.Rows = rows
	w.told(w.stamps(webapi.Tanaka, "/1"), webapi.Tanaka, "お願いしている承認はありません")
	expect.That(t, len(w.acts()) == 0 && rows.reads == 2, "%d acts after %d reads", len(w.acts()), rows.reads)
}
