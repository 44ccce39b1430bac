package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// changed commits another gate of the process.
func (w *world) changed(change func(g *aggregate.Gate)) {
	w.T.Helper()
	w.Later(time.Minute)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p, h := *a.Process(), a.Head
		change(&p.Gate)
		return aggregate.Change{Head: &h, Rows: []aggregate.Row{&p}, Now: w.Now()}, nil
	})
}

// onRoute brings the task to steps that wait under a rule.
func (w *world) onRoute(stages ...circulation.Stage) {
	w.T.Helper()
	w.Planned(tenancy.DefaultSettings(), ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.changed(func(g *aggregate.Gate) {
		at := w.Now()
		g.Terms.Rule, g.AskedSum, g.AskedAt = &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 1}, "hash", &at
		g.Route = &circulation.Route{Form: circulation.Form, Stages: stages}
	})
}

// acts commits an act of each of these people.
func (w *world) acts(kind circulation.Kind, stage int, hands ...string) {
	w.T.Helper()
	for _, hand := range hands {
		w.changed(func(g *aggregate.Gate) { *g = ringitest.Acted(w.T, *g, w.Now(), kind, stage, hand) })
	}
}

// owing checks who has a copy with buttons of this stage.
func (w *world) owing(what string, stage int, users ...string) {
	w.T.Helper()
	w.done()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex, webapi.Sato} {
		open := 0
		for _, m := range w.direct(user) {
			if strings.Contains(m, "approve_process") {
				open++
				block := fmt.Sprintf(`"%s/%d/`, w.Ref.ID, stage)
				expect.That(w.T, strings.Contains(m, block), "%s: %s has no button of stage %d: %s", what, user, stage, m)
			}
		}
		want := 0
		for _, one := range users {
			if one == user {
				want = 1
			}
		}
		expect.Is(w.T, open, want, "%s: copies of %s with buttons", what, user)
	}
}

func TestCopiesAlongARoute(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"go to who owes the stage, and close with it": testCopiesOfStages,
		"are twenty of a stage at most":               testCopiesOfALargeStage,
		"tell the card who has left":                  testCopiesLeft,
		"tell who asked of who left later, once":      testLeftLater,
		"aren't asked for while people are looked up": testCopiesLater,
	})
}

func testCopiesOfStages(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("課長", 1, webapi.Suzuki), ringitest.Desk("経理", 2, webapi.Tanaka, webapi.Alex,
		webapi.Suzuki))
	w.owing("opened", 1, webapi.Suzuki)
	w.acts(circulation.Stamp, 1, webapi.Suzuki)
	w.owing("stamped", 2, webapi.Tanaka, webapi.Alex) // who stamped already isn't asked again
	w.acts(circulation.Stamp, 2, webapi.Tanaka)
	w.owing("one of two", 2, webapi.Alex)
	before := w.direct(webapi.Alex)
	expect.That(t, len(before) == 1 && strings.Contains(before[0], "/console/tasks/"+w.Ref.ID), "%v", before)
	w.acts(circulation.Stamp, 2, webapi.Alex)
	w.owing("settled", 2)
	expect.Has(t, strings.Join(w.direct(webapi.Alex), ""), "承認済み", "the end")
	keys := map[string]bool{}
	for _, c := range w.Load().Copies {
		keys[c.Key()] = true
	}
	for _, key := range []string{"@" + webapi.Suzuki + "/1", "@" + webapi.Tanaka + "/2", "@" + webapi.Alex + "/2"} {
		expect.That(t, keys["CARD#process#0001"+key], "no copy %s among %v", key, keys)
	}
}

// everybody is a stage of 50 people, of whom Slack knows only the last, Alex.
func everybody() circulation.Stage {
	var users []string
	for i := range 49 {
		users = append(users, fmt.Sprintf("U0NOBODY%02d", i))
	}
	return ringitest.Desk("全員", 2, append(users, webapi.Alex)...)
}

func testCopiesOfALargeStage(t *testing.T, w *world) {
	w.onRoute(everybody())
	w.done()
	w.done()
	expect.Is(t, len(w.Load().Copies), mostAsked, "messages")
	expect.Is(t, len(w.direct(webapi.Alex)), 0, "to the fiftieth")
}

func testCopiesLeft(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("部長", 1, "U0LEFT"))
	w.done()
	head := w.Load().Head
	expect.That(t, head.ShownRev == 0 && head.Redraws > 0, "the card isn't drawn again")
	w.done()
	w.shows("", "", "退職されています")
}

func testLeftLater(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("部長", 1, webapi.Suzuki))
	w.done()
	expect.Is(t, len(w.direct(webapi.Sato)), 0, "messages to who asked")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		h := a.Head
		h.Left, h.ChangedAt = []string{webapi.Suzuki}, w.Now()
		return aggregate.Change{Head: &h, Now: w.Now()}, nil
	})
	for range 2 {
		w.done()
	}
	w.shows("", "", "退職されています")
	told := w.newest(webapi.Sato, 1)
	expect.That(t, strings.Contains(told, "代理待ち: 「勤怠集計」") && strings.Contains(told, "退職されています"), "%s", told)
	today, by := tenancy.DateOf(w.Now().In(tenancy.Zone())), w.By
	by.ID = webapi.Suzuki
	expect.Value(w.Store.SetDelegation(t.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: webapi.Alex,
		Principal: webapi.Suzuki, From: today, Until: today + 9}, tenancy.Setter{Actor: by}, w.Now(), nil))(t)
	w.done()
	now := fmt.Sprint(w.shows("", "", "代わりに承認します"))
	expect.That(t, strings.Contains(now, "approve_process") && !strings.Contains(now, "退職されています"), "%s", now)
	w.newest(webapi.Sato, 1)
}

func testCopiesLater(t *testing.T, w *world) {
	w.listing([]string{webapi.Suzuki}, nil)
	w.Prompted(tenancy.DefaultSettings())
	w.Approve()
	s := expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	steps := []task.Step{ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		s.RulesRev = 1
		return a.FinishProcess(a.Head.Run, steps, "", s, w.Now())
	})
	w.done()
	now := fmt.Sprint(w.shows("", "", "回覧先を確認しています"))
	expect.That(t, !strings.Contains(now, "Slack の応答"), "%s", now)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.PutOff(a.Head.Run, a.Process().Key(), w.Now().Add(time.Minute), w.Now())
	})
	w.done()
	w.shows("", "", "Slack の応答を待っています")
	a := w.Load()
	waiting := expect.Value(w.Store.Waiting(t.Context(), w.Ref.Tenant, "", 10))(t)
	expect.That(t, len(a.Copies) == 0 && len(waiting.Items) == 0 && a.Process().Terms.DecideBy == nil,
		"%d copies, %d wait until %v", len(a.Copies), len(waiting.Items), a.Process().Terms.DecideBy)
	expect.That(t, len(w.direct(webapi.Suzuki)) == 0, "somebody is asked already")
	w.Cancel()
	w.done()
	now = fmt.Sprint(w.shows("", "", ""))
	expect.That(t, !strings.Contains(now, "回覧先を確認しています"), "%s", now)
}

// newest returns the last of the bot's direct messages to somebody, of so many.
func (w *world) newest(user string, n int) string {
	w.T.Helper()
	all := w.direct(user)
	expect.Must(w.T, len(all) == n, "%s has %d messages: %v", user, len(all), all)
	return all[n-1]
}

// The card says who stands in for the person whose turn it is, and is drawn again when that is set or ended. Who is not
// asked now changes nothing.
func TestTheCardSaysWhoStandsIn(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){"of a route": testStandInOnCard, "and tells them": testStandInTold})
}

// Whoever stands in gets each item that they may stamp as the principal does, once, until their time is over.
func testStandInTold(t *testing.T, w *world) {
	w.onRoute(ringitest.Desk("経理", 2, webapi.Tanaka, webapi.Alex))
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
	w.onRoute(ringitest.Desk("経理", 1, webapi.Tanaka))
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
		return strings.Contains(expect.JSON(w.slack.Thread(t, webapi.HR, w.root)), "代わりに承認します")
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

// Each asker is told once that a version was given back to them, also where only they read: Slack tells nobody that a
// card says so. What they were told is drawn anew once it waits no more.
func TestAskersAreToldWhatWasGivenBackToThem(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	form := &task.Prompt{ID: "01F", Version: 1, Matter: &task.Matter{}, Gate: aggregate.Gate{Status: aggregate.Approved}}
	p := &task.Process{ID: "01P", PromptID: "01F", Version: 1, Gate: aggregate.Gate{Status: aggregate.Rejected,
		Askers: []circulation.Person{{User: "U1"}, {User: "U2"}},
		Terms:  aggregate.Terms{MaxVersions: 2}, Acts: []circulation.Act{{Kind: circulation.SendBack}},
		Verdict: aggregate.Verdict{RejectedBy: "U9", RejectedAt: &now, RejectionReason: "宛先を直して"}}}
	a := &task.Aggregate{Task: &task.Task{Title: "勤怠"}, Prompts: []*task.Prompt{form},
		Processes: []*task.Process{p}, Request: &task.Request{ChannelType: "channel", User: "U1"}}
	var told []string
	for _, c := range endings(a, now) {
		expect.Must(t, c.Subject == card.ReturnedCopy+p.Key(), "%s is told something else: %+v", c.User, c)
		told = append(told, c.User)
		a.Add(c)
	}
	expect.Is(t, len(endings(a, now)), 0, "messages to those who were told")
	expect.Same(t, []string{"U1", "U2"}, told)
	m, drawn := card.Copy(a, a.Copies[0], tenancy.DefaultSettings(), card.Around{}, "", now)
	expect.That(t, drawn && len(m.Attachments) == 1 && m.Text == "↩️ 差し戻し: 「勤怠」を書き直してください", "%+v", m)
	n := *form
	n.ID, n.Version, n.EditedBy = "01G", 2, "U1"
	a.Add(&n)
	a.Add(&task.Process{ID: "01R", PromptID: "01G", Version: 2, Gate: aggregate.Gate{Status: aggregate.Generating}})
	over, drawn := card.Copy(a, a.Copies[0], tenancy.DefaultSettings(), card.Around{}, "", now)
	expect.That(t, drawn && over.Text != m.Text && endings(a, now) == nil, "%+v", over)

	a = &task.Aggregate{Task: a.Task, Prompts: []*task.Prompt{form}, Processes: []*task.Process{p},
		Request: &task.Request{ChannelType: "im", User: "U1"}}
	expect.Is(t, len(endings(a, now)), 2, "messages in the direct messages of one")
}
