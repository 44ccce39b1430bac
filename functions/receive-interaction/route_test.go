package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store/storetest"
)

// onRoute puts the waiting process under a rule that asks these people, one after the other.
func (w *world) onRoute(users ...string) *task.Process {
	w.T.Helper()
	w.planned()
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, h, at := *a.Process(), a.Head, w.Now()
		p.Terms.Rule, p.Asked, p.AskedAt = &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}, "hash", &at
		p.Route = &circulation.Route{Form: circulation.Form, Hands: 1}
		for _, user := range users {
			p.Route.Stages = append(p.Route.Stages, circulation.Stage{Name: user, Mode: circulation.ModePeople, Need: 1,
				People: []circulation.Person{{User: user}}})
		}
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&p}, Now: at}, nil
	}).Process()
}

// at makes a click's button one of this block.
func at(p map[string]any, block string) map[string]any {
	p["actions"].([]any)[0].(map[string]any)["block_id"] = block
	return p
}

func TestButtonsOfAStage(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"decide nothing in this release, and say so":                testStageRefused,
		"of no stage that a card can name are refused":              testStageMalformed,
		"keep their stage on every page that people read":           testStageInReview,
		"open pages for people on the route outside of the channel": testStageReadElsewhere,
		"of a gate without a rule may name none":                    testStageOfNoRoute,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func testStageRefused(t *testing.T, w *world) {
	p := w.onRoute(workspace.Suzuki, workspace.Tanaka)
	for _, action := range []string{"approve_process", "reject_process"} {
		w.told(w.post(at(w.click(workspace.Suzuki, action, p.ID), w.Ref.ID+"/1")), workspace.Suzuki, "この版の Ringi ではまだ押せません")
	}
	form := w.form(workspace.Suzuki, "process", p.ID, "宛先が違う")
	about := expect.Value(json.Marshal(card.Rejection{Type: task.CardProcess, ID: p.ID, TaskID: w.Ref.ID, Stage: 1}))(t)
	form["view"].(map[string]any)["private_metadata"] = string(about)
	expect.That(t, w.post(form).StatusCode == 200, "the form")
	expect.Has(t, w.slack.Ephemerals(workspace.Suzuki)[2].Text, "この版の Ringi ではまだ押せません", "after the form")
	got := w.Load().Process()
	expect.That(t, got.Status == aggregate.PendingApproval && len(got.Acts) == 0, "%+v", got.Gate)
	w.quiet(w.post(at(w.click(workspace.Sato, "x", p.ID), w.Ref.ID+"/1")), workspace.Sato)
}

func testStageMalformed(t *testing.T, w *world) {
	p := w.planned()
	for _, block := range []string{"/", "/0", "/01", "/x", "/1/1", "/-1"} {
		w.quiet(w.post(at(w.click(workspace.Suzuki, "approve_process", p.ID), w.Ref.ID+block)), workspace.Suzuki)
	}
	expect.That(t, w.Load().Process().Status == aggregate.PendingApproval, "approved by a button of no card")
}

func testStageInReview(t *testing.T, w *world) {
	p := w.onRoute(workspace.Suzuki)
	w.quiet(w.post(at(w.click(workspace.Suzuki, "review_process", p.ID), w.Ref.ID+"/1")), workspace.Suzuki)
	v := w.view(workspace.Suzuki)
	var r card.Review
	expect.NoError(t, json.Unmarshal([]byte(v.PrivateMetadata), &r))
	expect.That(t, r.Stage == 1 && r.ReadOnly, "%+v", r)
	w.post(page(workspace.Suzuki, v, 0))
	var turned card.Review
	expect.NoError(t, json.Unmarshal([]byte(w.view(workspace.Suzuki).PrivateMetadata), &turned))
	expect.That(t, turned.Stage == 1 && turned.ReadOnly, "after a turn: %+v", turned)
}

func testStageReadElsewhere(t *testing.T, w *world) {
	// Alex is a member of the workspace, and not of the request's channel.
	outside := workspace.Alex
	p := w.onRoute(workspace.Suzuki, outside)
	w.quiet(w.post(at(w.click(outside, "review_process", p.ID), w.Ref.ID+"/1")), outside)
	v := w.view(outside)
	was := v.Hash
	w.Later(2 * time.Minute)
	w.post(page(outside, v, 0))
	expect.That(t, w.view(outside).Hash != was, "who is on the route can't turn a page")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, h := *a.Process(), a.Head
		route := *p.Route
		route.Stages = route.Stages[:1]
		p.Route = &route
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&p}, Now: w.Now()}, nil
	})
	v = w.view(outside)
	w.post(page(outside, v, 0))
	expect.That(t, w.view(outside).Hash == v.Hash, "who is on no route turned a page")
}

func testStageOfNoRoute(t *testing.T, w *world) {
	p := w.planned()
	w.quiet(w.post(at(w.click(workspace.Suzuki, "approve_process", p.ID), w.Ref.ID)), workspace.Suzuki)
	expect.That(t, w.Load().Process().Status == aggregate.Approved, "not approved")
	// The shortcut on a card of a stage finds its task.
	shortcut := w.shortcut(workspace.Sato, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root,
		"attachments": []any{map[string]any{"blocks": []any{map[string]any{"block_id": w.Ref.ID + "/2"}}}}})
	w.post(shortcut)
	expect.That(t, strings.Contains(w.view(workspace.Sato).CallbackID, card.CancelCallback), "another dialog")
}
