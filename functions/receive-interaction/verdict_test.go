package main

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/slacktest"
)

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
