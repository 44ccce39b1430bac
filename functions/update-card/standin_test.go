package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// The card says who stands in for the person whose turn it is, and is drawn again when that is set or ended. Who is not
// asked now changes nothing.
func TestTheCardSaysWhoStandsIn(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){"of a route": testStandInOnCard, "and tells them": testStandInTold})
}

// Whoever stands in gets each item that they may stamp as the principal does, once, until their time is over.
func testStandInTold(t *testing.T, w *world) {
	w.onRoute(pipelinetest.Desk("経理", 2, webapi.Tanaka, webapi.Alex))
	store, today := w.Store.KindStore.Store, tenancy.DateOf(w.Now().In(tenancy.Zone()))
	set := func(principal string, from tenancy.Date) tenancy.Delegation {
		by := w.By
		by.ID = principal
		return expect.Value(store.SetDelegation(t.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant, From: from,
			Until: from + 9, Hand: webapi.Suzuki, Principal: principal},
			tenancy.Setter{Actor: by}, w.Now(), nil))(t)
	}
	set(webapi.Alex, today+20)
	w.done()
	expect.Is(t, len(w.direct(webapi.Suzuki)), 0, "messages before anybody is away")
	d := set(webapi.Tanaka, today)
	w.done()
	w.done()
	told := w.newest(webapi.Suzuki, 1)
	for _, want := range []string{webapi.Tanaka + `\u003e さんの代理として`, "approve_process", "経理"} {
		expect.Has(t, told, want)
	}
	expect.That(t, !strings.Contains(told, webapi.Alex+`\u003e さんの代理`), "%s", told)
	by := w.By
	by.ID = webapi.Tanaka
	ends := tenancy.Setter{Actor: by}
	expect.Value(store.EndDelegation(t.Context(), d, ends, w.Now(), nil))(t)
	w.done()
	expect.That(t, !strings.Contains(w.newest(webapi.Suzuki, 1), "approve_process"), "they may not stamp any more")
}

// Of what waits already, who stands in from a later day is told on that day, once.
func testStandInOnCard(t *testing.T, w *world) {
	w.onRoute(pipelinetest.Desk("経理", 1, webapi.Tanaka))
	w.done()
	today := tenancy.DateOf(w.Now().In(tenancy.Zone()))
	away := func(principal string) tenancy.Delegation {
		return tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: webapi.Suzuki,
			Principal: principal, From: today, Until: today + 9}
	}
	by := func(user string) tenancy.Setter {
		a := w.By
		a.ID = user
		return tenancy.Setter{Actor: a}
	}
	says := func() bool {
		return strings.Contains(string(expect.Value(json.Marshal(w.slack.Thread(t, webapi.HR, w.root)))(t)),
			"代わりに承認します")
	}
	store := w.Store.KindStore.Store
	rev := w.Load().Head.Redraws
	expect.Value(store.SetDelegation(t.Context(), away(webapi.Alex), by(webapi.Alex), w.Now(), nil))(t)
	expect.That(t, w.Load().Head.Redraws == rev && !says(), "somebody else is away")
	d := expect.Value(store.SetDelegation(t.Context(), away(webapi.Tanaka), by(webapi.Tanaka), w.Now(), nil))(t)
	expect.That(t, w.Load().Head.Redraws > rev, "the card isn't drawn again")
	w.done()
	expect.That(t, says(), "who stands in isn't said")
	expect.Value(store.EndDelegation(t.Context(), d, by(webapi.Tanaka), w.Now(), nil))(t)
	w.done()
	expect.That(t, !says(), "it is over")
}

// Each asker is told once that a version was given back to them; where only they read, the card itself says so. What
// they were told is drawn anew once it waits no more.
func TestAskersAreToldWhatWasGivenBackToThem(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	form := &task.Prompt{ID: "01F", Version: 1, Matter: &task.Matter{}, Gate: aggregate.Gate{Status: aggregate.Approved}}
	p := &task.Process{ID: "01P", PromptID: "01F", Version: 1, Gate: aggregate.Gate{Status: aggregate.Rejected,
		Askers: []circulation.Person{{User: "U1"}, {User: "U2"}},
		Terms:  aggregate.Terms{MaxVersions: 2}, Acts: []circulation.Act{{Kind: circulation.SendBack}},
		Verdict: aggregate.Verdict{RejectedBy: "U9", RejectedAt: &now, RejectionReason: "宛先を直して"}}}
	a := &task.Aggregate{Task: &task.Task{Title: "勤怠"}, Prompts: []*task.Prompt{form},
		Processes: []*task.Process{p}, Request: &task.Request{ChannelType: "channel", User: "U1"}}
	k := taskCards{}
	var told []string
	for c := k.Outcome(a, now); c != nil; c = k.Outcome(a, now) {
		expect.Must(t, len(told) < 2 && c.Subject == card.ReturnedCopy+p.Key(), "%s is told again: %+v", c.User, c)
		told = append(told, c.User)
		a.Add(c)
	}
	expect.Same(t, []string{"U1", "U2"}, told)
	m, drawn := k.Copy(a, a.Copies[0], tenancy.DefaultSettings(), "", now)
	expect.That(t, drawn && len(m.Attachments) == 1 && m.Text == "↩️ 差し戻し: 「勤怠」を書き直してください", "%+v", m)
	n := *form
	n.ID, n.Version, n.EditedBy = "01G", 2, "U1"
	a.Add(&n)
	a.Add(&task.Process{ID: "01R", PromptID: "01G", Version: 2, Gate: aggregate.Gate{Status: aggregate.Generating}})
	over, drawn := k.Copy(a, a.Copies[0], tenancy.DefaultSettings(), "", now)
	expect.That(t, drawn && over.Text != m.Text && k.Outcome(a, now) == nil, "%+v", over)

	a = &task.Aggregate{Task: a.Task, Prompts: []*task.Prompt{form}, Processes: []*task.Process{p},
		Request: &task.Request{ChannelType: "im", User: "U1"}}
	expect.That(t, k.Outcome(a, now) == nil, "told beside their own card")
}
