package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func TestHomeTabsAlongARoute(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"show what a person owes, wherever it stands":                testHomeOwes,
		"show what those owe for whom a person stands in":            testHomeStandsIn,
		"show a channel's stage to the channel":                      testHomeOfAChannel,
		"show what is owed without messages, and not what has ended": testHomeUnsent,
		"miss nobody when two drawings list the same people":         testOwedBeside,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.withHomes()
			run(t, w)
		})
	}
}

// onTab checks whether a person's tab says that a stage of the steps is their turn, 0: none.
func (w *world) onTab(what, user string, stage int) {
	w.T.Helper()
	tab := w.tab(user)
	turn := strings.Contains(tab, "あなたの番 (1 件)") || strings.Contains(tab, "Your turn (1)")
	expect.That(w.T, turn == (stage > 0), "%s: turn of %s: %s", what, user, tab)
	expect.That(w.T, !strings.Contains(tab, "approve_process"), "%s: buttons of %s: %s", what, user, tab)
}

// Alex is not in the channel where it was asked for.
func testHomeOwes(t *testing.T, w *world) {
	w.onRoute(pipelinetest.Desk("課長", 1, webapi.Suzuki), pipelinetest.Desk("部長", 1, webapi.Alex))
	w.done()
	w.opens(webapi.Suzuki)
	w.onTab("first", webapi.Suzuki, 1)
	for _, text := range []string{"あなたの番 (1 件)", "課長", webapi.DirectMessage(webapi.Suzuki)} {
		expect.Has(t, w.tab(webapi.Suzuki), text, "first")
	}
	for _, user := range []string{webapi.Alex, webapi.Tanaka, webapi.Sato} {
		w.opens(user)
		w.onTab("not theirs", user, 0)
	}
	w.acts(circulation.Stamp, 1, webapi.Suzuki)
	w.Later(time.Minute)
	w.opens(webapi.Suzuki)
	w.onTab("stamped, and its entry is late", webapi.Suzuki, 0)
	w.done()
	w.Later(time.Minute)
	w.opens(webapi.Alex)
	w.onTab("second", webapi.Alex, 2)
	expect.Has(t, w.tab(webapi.Alex), "Your turn (1)", "second")
}

func testHomeStandsIn(t *testing.T, w *world) {
	x := &rules.Rules{Rules: []rules.Rule{{ID: aggregate.NewID(), Name: "none", Outcome: rules.Outcome{Refuse: "No."}}}}
	_, _, err := w.Store.KindStore.SaveRules(t.Context(), w.Ref.Tenant, x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	w.onRoute(pipelinetest.Desk("課長", 1, webapi.Suzuki), pipelinetest.Desk("部長", 1, webapi.Tanaka))
	w.done()
	d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: webapi.Alex,
		Principal: webapi.Suzuki, From: tenancy.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	d = expect.Value(w.Store.KindStore.SetDelegation(t.Context(), d, tenancy.Setter{Actor: aggregate.Actor{
		Type: aggregate.ActorUser, ID: webapi.Suzuki}}, w.Now(), nil))(t)
	w.opens(webapi.Alex)
	w.onTab("first", webapi.Alex, 1)
	expect.Has(t, w.tab(webapi.Alex), "https://ringi.example/console/tasks/"+w.Ref.ID, "who isn't in the channel")
	expect.Has(t, w.tab(webapi.Alex), " · for \\u003c@"+webapi.Suzuki, "first")
	w.Later(d.StandIn().Ends.Sub(w.Now()))
	w.opens(webapi.Alex)
	w.onTab("over", webapi.Alex, 0)
}

func testHomeOfAChannel(t *testing.T, w *world) {
	w.onRoute(pipelinetest.Desk("課長", 1, webapi.Suzuki), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel,
		Need: 1})
	w.changed(func(g *aggregate.Gate) { g.Askers = []circulation.Person{{User: webapi.Sato}} })
	w.acts(circulation.Stamp, 1, webapi.Suzuki)
	w.done()
	for user, stage := range map[string]int{webapi.Tanaka: 2, webapi.Suzuki: 0, webapi.Sato: 0, webapi.Alex: 0,
		webapi.Guest: 0} {
		w.opens(user)
		w.onTab("a channel's stage", user, stage)
	}
}

func testHomeUnsent(t *testing.T, w *world) {
	w.onRoute(everybody())
	w.done()
	w.opens(webapi.Alex)
	w.onTab("listed", webapi.Alex, 1)
	expect.Is(t, len(w.direct(webapi.Alex)), 0, "copies")
	w.Cancel()
	w.Later(time.Minute)
	w.opens(webapi.Alex)
	w.onTab("cancelled, and its entry is late", webapi.Alex, 0)
}

func testOwedBeside(t *testing.T, w *world) {
	w.onRoute(pipelinetest.Desk("経理", 1, webapi.Tanaka, webapi.Alex))
	p := w.Load().Process()
	other := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: webapi.Tanaka, Stage: 1,
		State: aggregate.CardNone}
	w.h.Store = beside{w.h.Store, func() {
		expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{other}))
	}}
	expect.That(t, !w.deliver(), "nobody finds out who else is asked")
	w.h = w.handler()
	w.done()
	expect.That(t, len(w.direct(webapi.Alex)) == 1 && len(w.direct(webapi.Tanaka)) == 1, "messages")
}

// beside is a store after whose first load another drawing does something.
type beside struct {
	Store
	then func()
}

func (b beside) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a, err := b.Store.Load(ctx, ref)
	b.then()
	return a, err
}
