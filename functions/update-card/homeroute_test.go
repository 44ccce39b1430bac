package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

func TestHomeTabsAlongARoute(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"show what a person owes, wherever it stands":                  testHomeOwes,
		"show what those owe for whom a person stands in":              testHomeStandsIn,
		"follow at once when their person begins or ceases to owe":     testHomeFollowsRoute,
		"follow however long the cards wait for Slack":                 testHomeFollowsUndrawn,
		"of a stage's many people are asked for only if they are open": testHomeOfALargeStage,
		"show a channel's stage to the channel":                        testHomeOfAChannel,
		"show what is owed without messages, and not what has ended":   testHomeUnsent,
		"are asked for once in an interval however much a person owes": testHomeOnce,
		"miss nobody when two drawings list the same people":           testOwedBeside,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.withHomes()
			run(t, w)
		})
	}
}

// follows draws the cards, and publishes the tabs that are asked for at once. It returns whose those are.
func (w *world) follows() (users []string) {
	w.T.Helper()
	w.queue.sent = nil
	w.deliver()
	for _, m := range w.queue.sent {
		asked := saying(*m.MessageBody)
		if !asked.Tab() || asked.Ref.Kind != effect.Home {
			continue
		}
		expect.That(w.T, *m.MessageGroupId == w.Ref.Tenant+"-opened" && asked.After.IsZero(), "waits: %s", *m.MessageBody)
		users = append(users, asked.Ref.ID)
		w.publish(*m.MessageBody, asked.Ref.ID)
	}
	slices.Sort(users)
	return users
}

// onTab checks whether a person's tab has the buttons of a stage of the steps, 0: none.
func (w *world) onTab(what, user string, stage int) {
	w.T.Helper()
	tab := w.tab(user)
	expect.That(w.T, strings.Contains(tab, "approve_process") == (stage > 0), "%s: buttons of %s: %s", what, user, tab)
	block := fmt.Sprintf(`"%s/%d"`, w.Ref.ID, stage)
	expect.That(w.T, stage == 0 || strings.Contains(tab, block), "%s: no %s in %s", what, block, tab)
}

// Alex is not in the channel where it was asked for.
func testHomeOwes(t *testing.T, w *world) {
	w.onRoute(desk("課長", 1, workspace.Suzuki), desk("部長", 1, workspace.Alex))
	w.drawn()
	w.opens(workspace.Suzuki)
	w.onTab("first", workspace.Suzuki, 1)
	for _, text := range []string{"あなたの承認待ち (1 件)", "課長", "ルール「10万円以上」", workspace.DirectMessage(workspace.Suzuki)} {
		expect.Has(t, w.tab(workspace.Suzuki), text, "first")
	}
	for _, user := range []string{workspace.Alex, workspace.Tanaka, workspace.Sato} {
		w.opens(user)
		w.onTab("not theirs", user, 0)
	}
	w.acts(circulation.Stamp, 1, workspace.Suzuki)
	w.Later(time.Minute)
	w.opens(workspace.Suzuki)
	w.onTab("stamped, and its entry is late", workspace.Suzuki, 0)
	w.drawn()
	w.Later(time.Minute)
	w.opens(workspace.Alex)
	w.onTab("second", workspace.Alex, 2)
	expect.Has(t, w.tab(workspace.Alex), "Waiting for your approval (1)", "second")
}

func testHomeStandsIn(t *testing.T, w *world) {
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}}
	_, _, err := w.Store.Of.SaveRules(t.Context(), w.Ref.Tenant, x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	w.onRoute(desk("課長", 1, workspace.Suzuki), desk("部長", 1, workspace.Tanaka))
	w.drawn()
	d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: circulation.Person{User: workspace.Alex},
		Principal: circulation.Person{User: workspace.Suzuki}, From: organisation.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	d = expect.Value(w.Store.Of.SetDelegation(t.Context(), d, tenancy.Setter{Actor: aggregate.Actor{
		Type: aggregate.ActorUser, ID: workspace.Suzuki}, Person: d.Principal}, w.Now(), nil))(t)
	w.h.Homes.Console = "https://ringi.example/console"
	w.opens(workspace.Alex)
	w.onTab("first", workspace.Alex, 1)
	expect.Has(t, w.tab(workspace.Alex), "https://ringi.example/console/tasks/"+w.Ref.ID, "who isn't in the channel")
	expect.Has(t, w.tab(workspace.Alex), " · for \\u003c@"+workspace.Suzuki, "first")
	w.Later(d.Ends.Sub(w.Now()))
	w.opens(workspace.Alex)
	w.onTab("over", workspace.Alex, 0)
}

func testHomeFollowsRoute(t *testing.T, w *world) {
	all := []string{workspace.Suzuki, workspace.Tanaka, workspace.Alex, workspace.Sato}
	for _, user := range all {
		w.opens(user)
	}
	follow := func(what string, stage int, owing string, users ...string) {
		t.Helper()
		slices.Sort(users)
		expect.Same(t, users, w.follows())
		for _, user := range all {
			at := 0
			if user == owing {
				at = stage
			}
			w.onTab(what, user, at)
		}
		w.Later(time.Minute)
		expect.Same(t, 0, len(w.follows()))
	}
	w.onRoute(desk("課長", 1, workspace.Suzuki), desk("部長", 1, workspace.Alex))
	follow("opened", 1, workspace.Suzuki, workspace.Suzuki)
	w.acts(circulation.Stamp, 1, workspace.Suzuki)
	follow("stamped", 2, workspace.Alex, workspace.Suzuki, workspace.Alex)
	backs := func(user string) bool { return strings.Contains(w.tab(user), "takeback_process") }
	expect.That(t, backs(workspace.Suzuki) && !backs(workspace.Alex), "who stamped has a button that takes it back")
	w.acts(circulation.TakeBack, 1, workspace.Suzuki)
	follow("taken back", 1, workspace.Suzuki, workspace.Suzuki, workspace.Alex)
	expect.That(t, !backs(workspace.Suzuki), "what was taken back has a button")
	w.acts(circulation.Stamp, 1, workspace.Suzuki)
	follow("stamped again", 2, workspace.Alex, workspace.Suzuki, workspace.Alex)
	w.changed(func(g *aggregate.Gate) {
		by := circulation.Person{User: workspace.Suzuki}
		*g = expect.Value(g.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stand, Hand: by, Principal: by,
			For: &circulation.Person{User: workspace.Alex}, At: w.Now(),
			To:    &circulation.Person{User: workspace.Tanaka, Via: "group @keiri"},
			Found: circulation.Found{Admin: &circulation.Admin{Key: "TENANT", Rev: 1}, Resolved: "group @keiri"},
			Stage: 2, Text: "出張中", Hash: g.Asked, Surface: "console"}))(t)
	})
	follow("a successor", 2, workspace.Tanaka, workspace.Tanaka, workspace.Alex)
	w.acts(circulation.Stamp, 2, workspace.Tanaka)
	follow("settled", 0, "", workspace.Tanaka)
}

func testHomeFollowsUndrawn(t *testing.T, w *world) {
	w.done()
	w.opens(workspace.Alex)
	w.onRoute(desk("部長", 1, workspace.Alex))
	w.paced(0)
	w.useUp()
	expect.Same(t, []string{workspace.Alex}, w.follows())
	w.onTab("while its card waits", workspace.Alex, 1)
	expect.Is(t, len(w.direct(workspace.Alex)), 0, "copies")
}

func testHomeOfALargeStage(t *testing.T, w *world) {
	w.opens(workspace.Alex)
	var users []string
	for i := range 49 {
		users = append(users, fmt.Sprintf("U0NOBODY%02d", i))
	}
	w.onRoute(desk("全員", 2, append(users, workspace.Alex)...))
	expect.Same(t, []string{workspace.Alex}, w.follows())
	w.onTab("the fiftieth", workspace.Alex, 1)
	w.Later(records.HomeFor)
	w.acts(circulation.Stamp, 1, workspace.Alex)
	expect.Same(t, 0, len(w.follows()))
}

func testHomeOfAChannel(t *testing.T, w *world) {
	w.onRoute(desk("課長", 1, workspace.Suzuki), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})
	w.changed(func(g *aggregate.Gate) { g.Askers = []circulation.Person{{User: workspace.Sato}} })
	w.acts(circulation.Stamp, 1, workspace.Suzuki)
	w.drawn()
	for user, stage := range map[string]int{workspace.Tanaka: 2, workspace.Suzuki: 2, workspace.Sato: 0, workspace.Alex: 0,
		workspace.Guest: 0} {
		w.opens(user)
		w.onTab("a channel's stage", user, stage)
	}
}

func testHomeUnsent(t *testing.T, w *world) {
	w.Settings(func(s *tenancy.Settings) { s.ApprovalCopies = tenancy.CopiesNone })
	w.onRoute(desk("部長", 1, workspace.Alex))
	w.drawn()
	w.opens(workspace.Alex)
	w.onTab("listed", workspace.Alex, 1)
	expect.Is(t, len(w.direct(workspace.Alex)), 0, "copies")
	w.Cancel()
	w.Later(time.Minute)
	w.opens(workspace.Alex)
	w.onTab("cancelled, and its entry is late", workspace.Alex, 0)
	w.drawn()
	expect.Is(t, w.owed(workspace.Alex), 0, "entries")
}

func testHomeOnce(t *testing.T, w *world) {
	w.opens(workspace.Alex)
	w.Later(time.Minute)
	ids, at := map[string]bool{}, w.Now().Truncate(10*time.Minute)
	for i := range 5 {
		ts := fmt.Sprintf("1776675700.%06d", i+1)
		w.Receive(task.Request{User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel", MessageTS: ts,
			ThreadTS: ts})
		w.onRoute(desk("部長", 1, workspace.Alex))
		w.h.Now = func() time.Time { return at }
		w.queue.sent = nil
		w.deliver()
		for _, m := range w.queue.sent {
			if saying(*m.MessageBody).Tab() {
				ids[*m.MessageDeduplicationId] = true
			}
		}
	}
	expect.That(t, len(ids) == 1, "%v", ids)
}

// Two drawings list the same people: the one that loses has the rest found out by another.
func testOwedBeside(t *testing.T, w *world) {
	w.onRoute(desk("経理", 1, workspace.Tanaka, workspace.Alex))
	p := w.Load().Process()
	other := &aggregate.Card{CardType: task.CardProcess, Subject: p.Key(), User: workspace.Tanaka, Stage: 1,
		OwedSince: p.AskedAt, State: aggregate.CardNone}
	w.h.Store = beside{w.h.Store, func() {
		expect.NoError(t, w.Store.AddCopies(t.Context(), w.Ref, []*aggregate.Card{other}))
	}}
	w.deliver()
	expect.Is(t, w.owed(workspace.Alex), 0, "entries before the redraw")
	expect.That(t, w.Load().Head.Redraws > 0, "nobody finds out who else owes")
	w.h = w.handler()
	w.drawn()
	expect.That(t, w.owed(workspace.Alex) == 1 && w.owed(workspace.Tanaka) == 1, "entries")
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
