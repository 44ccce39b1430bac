package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
)

// beside brings the task to the approval of its policy, and opens a choice for a reply in its thread.
func (w *world) beside(text string) (waits *task.Prompt, reply aggregate.Ref) {
	w.T.Helper()
	waits = w.prompted()
	b, _ := w.Load().OpenGateBeside()
	return waits, w.reply(webapi.Sato, text, b)
}

// reply returns the task of a message in the thread, with an open choice of what the message is meant to be.
func (w *world) reply(user, text string, beside task.ThreadGate) aggregate.Ref {
	w.T.Helper()
	ts := w.slack.Say(w.T, user, webapi.HR, text)
	c, ref, err := task.Receive(w.Ref.Tenant, task.Request{
		TeamID: slacktest.Team, Text: text, User: user, Channel: webapi.HR, ChannelType: "channel",
		MessageTS: ts, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev2",
	}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	expect.Value(w.Store.Decide(w.T.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(1, beside, tenancy.DefaultSettings(), w.Now())
	}))(w.T)
	return ref
}

func (w *world) of(ref aggregate.Ref) *task.Aggregate {
	w.T.Helper()
	return expect.Value(w.Store.Load(w.T.Context(), ref))(w.T)
}

// chooses presses a button of the choice's card.
func (w *world) chooses(user, action string, reply aggregate.Ref) {
	w.T.Helper()
	a := w.of(reply)
	value := a.Choice.ID
	if action != card.TakeAsRequest {
		value += "/" + a.Request.Saying()
	}
	p := w.click(user, action, value)
	p["actions"].([]any)[0].(map[string]any)["block_id"] = reply.ID
	out := w.post(p)
	expect.That(w.T, out.StatusCode == 200 && out.Body == "", "answered %d %s", out.StatusCode, out.Body)
}

// crashing is a store that crashes during a decision on two tasks, before the commit or after it.
type crashing struct {
	Rows
	after bool
}

func (d crashing) DecideBoth(ctx context.Context, first, second aggregate.Ref, decide decide.Both) error {
	if d.after {
		if err := d.Rows.DecideBoth(ctx, first, second, decide); err != nil {
			return err
		}
	}
	return errors.New("the function is gone")
}

// The rejection and the end of the message are one commit: after a crash both are saved or neither, and the same
// person's next click leaves both.
func testChoiceSurvivesACrash(t *testing.T, w *world) {
	waits, reply := w.beside("DM での連絡は不要です")
	whole := w.h.Rows
	w.h.Rows = crashing{whole, false}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if a, p := w.of(reply), w.Load().Prompt(); a.Choosing() == nil || p.Status != aggregate.PendingApproval {
		t.Fatalf("before the commit: %+v, the policy is %s", a.Choice, p.Status)
	}
	became := func(when string) {
		t.Helper()
		a, p := w.of(reply), w.Load().Prompts[0]
		e := a.Head.Ended
		expect.That(t, e != nil && e.As == task.TaskAnswered && e.Reason == task.ReasonBecameReason &&
			a.Choice.DecidedBy == webapi.Suzuki && a.Head.Run == 1, "%s: %+v, ended %+v", when, a.Choice, e)
		expect.That(t, p.ID == waits.ID && p.Status == aggregate.Rejected && p.RejectedBy == webapi.Suzuki &&
			p.RejectionReason == "DM での連絡は不要です", "%s: %+v", when, p)
	}
	w.h.Rows = crashing{whole, true}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	became("after the commit")
	rev := w.Load().Head.Rev
	w.h.Rows = whole
	before := len(w.slack.Ephemerals(webapi.Suzuki))
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if told := w.slack.Ephemerals(webapi.Suzuki); len(told) != before {
		t.Errorf("the click after it is answered: %q", told[len(told)-1].Text)
	}
	w.chooses(webapi.Sato, card.TakeAsRequest, reply)
	became("after other clicks")
	now := w.Load().Head.Rev
	expect.That(t, now == rev, "the gate's task moved from %d to %d", rev, now)
}

// meanwhile is a store in which something else happens between a decision on two tasks and its commit.
type meanwhile struct {
	Rows
	do func()
}

func (m *meanwhile) DecideBoth(ctx context.Context, first, second aggregate.Ref, decide decide.Both) error {
	return m.Rows.DecideBoth(ctx, first, second, func(a, b aggregate.Aggregate) (aggregate.Change, aggregate.Change,
		error) {
		x, y, err := decide(a, b)
		if do := m.do; do != nil {
			m.do = nil
			do()
		}
		return x, y, err
	})
}

func testReasonOrRequest(t *testing.T, w *world) {
	_, reply := w.beside("先月の残業時間を確認して")
	whole := w.h.Rows
	w.h.Rows = &meanwhile{whole, func() { w.chooses(webapi.Sato, card.TakeAsRequest, reply) }}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	a, p := w.of(reply), w.Load().Prompt()
	expect.That(t, a.Choice.As == task.AsRequest && a.Head.Run == 2 && p.Status == aggregate.PendingApproval,
		"run %d makes a request of it: %+v; and the policy is %s, for %q", a.Head.Run, a.Choice, p.Status, p.RejectionReason)
	expect.Same(t, 1, len(w.slack.Ephemerals(webapi.Suzuki)))
}

// If the same words were already given as the reason, by the form, the same person can end the message with a click,
// and nobody else can.
func testReasonMadeUp(t *testing.T, w *world) {
	waits, reply := w.beside("DM での連絡は不要です")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("DM での連絡は不要です")(a, waits.ID, approver(), aggregate.Policy{Team: slacktest.Team}, w.Now())
	})
	second := w.draft()
	w.chooses(webapi.Tanaka, card.TakeAsReason, reply)
	if a := w.of(reply); a.Choosing() == nil || !a.Choice.GateOver {
		t.Errorf("it was taken by another, or goes on asking about v1: %+v", a.Choice)
	}
	w.chooses(webapi.Suzuki, card.TakeAsReason, reply)
	if a := w.of(reply); a.Head.Ended == nil || a.Head.Ended.As != task.TaskAnswered ||
		a.Choice.DecidedBy != webapi.Suzuki {
		t.Errorf("%+v, ended %+v", a.Choice, a.Head.Ended)
	}
	if a := w.Load(); a.Prompt().ID != second.ID || a.Prompt().Status != aggregate.PendingApproval {
		t.Errorf("the next version is touched: %+v", a.Prompt())
	}
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

// back is the click by which somebody takes their stamp of a stage back.
func (w *world) back(user, id, stage string) map[string]any {
	return at(w.click(user, "takeback_process", id), w.Ref.ID+stage)
}

// along has the steps wait along a route of these stages.
func (w *world) along(hands int, stages ...circulation.Stage) *task.Process {
	w.T.Helper()
	return w.PlannedOnRoute(tenancy.DefaultSettings(), pipelinetest.Along([]string{webapi.Sato}, hands, stages...),
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
}

func TestTakingAStampBack(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"until the next stage has stamped":       testTakenBack,
		"by the hand that stood in":              testTakenBackByAStandIn,
		"of a channel's stage":                   testTakenBackInAChannel,
		"in the dialog, which shows what stands": testTakenBackInADialog,
		"in the dialog, too late":                testTakenBackLateInADialog,
	})
}

func testTakenBack(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	w.stamps(webapi.Suzuki, p.ID, "/1")
	for range 2 { // a double click, or Slack repeats it
		w.quiet(w.post(w.back(webapi.Suzuki, p.ID, "/1")), webapi.Suzuki)
		expect.Is(t, w.standing(), 0, "stamps")
	}
	expect.Is(t, len(w.Load().Process().Acts), 2, "acts")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.told(w.post(w.back(webapi.Suzuki, p.ID, "")), webapi.Suzuki, "番です")
	w.stamps(webapi.Tanaka, p.ID, "/2")
	w.shown()
	w.told(w.post(w.back(webapi.Suzuki, p.ID, "/1")), webapi.Suzuki, "承認が済んでいます")
	w.healed()
	expect.Is(t, w.standing(), 2, "stamps")
}

func testTakenBackByAStandIn(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	hand := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Alex, Team: slacktest.Team}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Act(p.ID, circulation.Act{
			Kind: circulation.Stamp, Hand: circulation.Person{User: hand.ID}, Principal: circulation.Person{User: webapi.Suzuki},
			Stage: 1, Hash: p.AskedSum, Found: circulation.Found{Delegation: &circulation.Delegation{
				Key: hand.ID + "#" + webapi.Suzuki + "#2026-01-01", Rev: 1}},
		}, hand, aggregate.Policy{Team: slacktest.Team}, w.Now())
	})
	w.told(w.post(w.back(webapi.Suzuki, p.ID, "/1")), webapi.Suzuki, "引き戻せる承認がありません")
	for range 2 {
		w.quiet(w.post(w.back(webapi.Alex, p.ID, "/1")), webapi.Alex)
		expect.Is(t, w.standing(), 0, "stamps")
	}
	expect.Same(t, webapi.Suzuki, w.Load().Process().Acts[1].Principal.User)
}

func testTakenBackInAChannel(t *testing.T, w *world) {
	channel := circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}
	p := w.along(2, channel, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	w.told(w.post(at(w.click(webapi.Sato, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Sato, "自分の依頼")
	w.post(at(w.click(webapi.Alex, "approve_process", p.ID), w.Ref.ID+"/1"))
	expect.Is(t, w.standing(), 0, "stamps of somebody outside of the channel")
	w.stamps(webapi.Tanaka, p.ID, "/1")
	// They have no copy, and the card's dialog is of the stage after theirs.
	w.quiet(w.post(at(w.click(webapi.Tanaka, "route_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka)
	expect.NoError(t, w.slack.SetMember(webapi.HR, webapi.Tanaka, false))
	w.quiet(w.post(w.pressed(webapi.Tanaka)), webapi.Tanaka)
	expect.Is(t, w.standing(), 0, "stamps")
}

// pressed is the click on the button of the open dialog by which its reader takes a stamp back.
func (w *world) pressed(user string) map[string]any {
	w.T.Helper()
	v := w.view(user)
	block, action := w.offersBack(v)
	expect.Must(w.T, action != nil, "the dialog has no button")
	p := page(user, v, 0)
	p["actions"] = []any{map[string]any{"action_id": action["action_id"], "block_id": block, "value": action["value"],
		"type": "button"}}
	return p
}

// offersBack returns the button of a dialog by which its reader takes a stamp back, or nil.
func (w *world) offersBack(v webapi.View) (block string, button map[string]any) {
	w.T.Helper()
	for _, x := range v.Blocks {
		b, _ := x.(map[string]any)
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			b2, _ := e.(map[string]any)
			if id, _ := b2["action_id"].(string); strings.HasPrefix(id, card.TakeBack) {
				block, _ = b["block_id"].(string)
				return block, b2
			}
		}
	}
	return "", nil
}

func testTakenBackInADialog(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.quiet(w.post(at(w.click(webapi.Tanaka, "route_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka)
	_, other := w.offersBack(w.view(webapi.Tanaka))
	expect.That(t, other == nil, "somebody else has the button")
	w.quiet(w.post(at(w.click(webapi.Suzuki, "route_process", p.ID), w.Ref.ID+"/2")), webapi.Suzuki)
	back := w.pressed(webapi.Suzuki)
	w.quiet(w.post(back), webapi.Suzuki)
	expect.Is(t, w.standing(), 0, "stamps")
	v := w.view(webapi.Suzuki)
	_, again := w.offersBack(v)
	expect.That(t, again == nil && v.Submit == nil, "it is drawn as before, or approves")
	w.quiet(w.post(back), webapi.Suzuki) // a double click
	expect.Is(t, w.standing(), 0, "stamps")
}

func testTakenBackLateInADialog(t *testing.T, w *world) {
	p := w.along(3, pipelinetest.Desk("課長", 1, webapi.Suzuki), pipelinetest.Desk("部長", 2, webapi.Tanaka, webapi.Alex))
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.quiet(w.post(at(w.click(webapi.Suzuki, "route_process", p.ID), w.Ref.ID+"/2")), webapi.Suzuki)
	back := w.pressed(webapi.Suzuki)
	w.stamps(webapi.Tanaka, p.ID, "/2")
	w.quiet(w.post(back), webapi.Suzuki)
	said := string(expect.Value(json.Marshal(w.view(webapi.Suzuki).Blocks))(t))
	expect.Has(t, said, "引き戻せません", "the dialog says why")
	expect.Is(t, w.standing(), 2, "stamps")
}
