package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// The card says who stands in for the person whose turn it is, and is drawn again when that is set or ended. Who is not
// asked now changes nothing.
func TestTheCardSaysWhoStandsIn(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){"of a route": testStandInOnCard, "and tells them": testStandInTold,
		"and tells them once it begins": testStandInBegins,
		"and nobody who may not":        testStandInUnfit,
		"and who was away reads it":     testReadInstead})
}

// Of two who stand in for somebody the card names the employee; the contractor gets no copy, and sees it on no tab.
func testStandInUnfit(t *testing.T, w *world) {
	s := w.Store.KindStore
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}}
	_, _, err := s.SaveRules(t.Context(), w.Ref.Tenant, x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	o := expect.Value(organisation.Read([]byte(`employee_number,name,email,department_code,parent_department,employment
1,Head,u1@example.com,HQ,,employee
2,Hand,u2@example.com,HQ,,contractor
4,Other,u4@example.com,HQ,,employee
`)))(t)
	m := &organisation.Matching{Accounts: map[string][]organisation.Matched{
		"1": {{ID: webapi.Tanaka}}, "2": {{ID: webapi.Alex}}, "4": {{ID: webapi.Suzuki}}}}
	expect.NoError(t, store.OrganisationsOf(s.Store).Save(t.Context(), w.Ref.Tenant, 0, o, m.Kept(), w.By, w.Now()))
	asks := desk("経理", 1, webapi.Tanaka)
	asks.People[0].Person = "1"
	w.onRoute(asks)
	w.changed(func(g *aggregate.Gate) { g.Route.Org, g.Askers[0].Person = "v1", "9" })
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	by := w.By
	by.ID = webapi.Tanaka
	for number, hand := range map[string]string{"2": webapi.Alex, "4": webapi.Suzuki} {
		d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: circulation.Person{User: hand, Person: number},
			Principal: asks.People[0], From: today, Until: today + 9}
		expect.Value(s.SetDelegation(t.Context(), d, tenancy.Setter{Actor: by, Person: d.Principal}, w.Now(), nil))(t)
	}
	w.withHomes()
	w.drawn()
	thread := string(expect.Value(json.Marshal(w.slack.Thread(t, webapi.HR, w.root)))(t))
	expect.That(t, strings.Contains(thread, "代わりに承認します") && strings.Contains(thread, webapi.Suzuki) &&
		!strings.Contains(thread, webapi.Alex), "%s", thread)
	for hand, fit := range map[string]bool{webapi.Suzuki: true, webapi.Alex: false} {
		expect.Is(t, len(w.direct(hand)) == 1, fit, "a copy of %s", hand)
		w.opens(hand)
		expect.Is(t, strings.Contains(w.tab(hand), "さんの代理"), fit, "the tab of %s: %s", hand, w.tab(hand))
	}
}

// Whoever stands in gets each item that they may stamp as the principal does, once, until their time is over.
func testStandInTold(t *testing.T, w *world) {
	w.onRoute(desk("経理", 2, webapi.Tanaka, webapi.Alex))
	store, today := w.Store.KindStore.Store, organisation.DateOf(w.Now().In(tenancy.Zone()))
	set := func(principal string, from organisation.Date) tenancy.Delegation {
		by := w.By
		by.ID = principal
		who := circulation.Person{User: principal}
		return expect.Value(store.SetDelegation(t.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant, From: from,
			Until: from + 9, Hand: circulation.Person{User: webapi.Suzuki}, Principal: who},
			tenancy.Setter{Actor: by, Person: who}, w.Now(), nil))(t)
	}
	set(webapi.Alex, today+20)
	w.drawn()
	expect.Is(t, len(w.direct(webapi.Suzuki)), 0, "messages before anybody is away")
	d := set(webapi.Tanaka, today)
	w.drawn()
	w.drawn()
	told := w.newest(webapi.Suzuki, 1)
	for _, want := range []string{webapi.Tanaka + `\u003e さんの代理として`, "approve_process", "経理"} {
		expect.Has(t, told, want)
	}
	expect.That(t, !strings.Contains(told, webapi.Alex+`\u003e さんの代理`), "%s", told)
	by := w.By
	by.ID = webapi.Tanaka
	ends := tenancy.Setter{Actor: by, Person: circulation.Person{User: webapi.Tanaka}}
	expect.Value(store.EndDelegation(t.Context(), d, ends, w.Now(), nil))(t)
	w.drawn()
	expect.That(t, !strings.Contains(w.newest(webapi.Suzuki, 1), "approve_process"), "they may not stamp any more")
}

// Who was away gets a message and an entry of what they are to read, once somebody stamped in their place.
func testReadInstead(t *testing.T, w *world) {
	first := desk("経理", 1, webapi.Tanaka)
	first.ReadAfter, first.Filled = true, rules.FilledInstead
	first.People[0].Via = circulation.Absent{Away: []string{webapi.Alex}}.Via("named by the rule")
	w.onRoute(first, desk("部長", 1, webapi.Suzuki))
	w.drawn()
	expect.Is(t, len(w.direct(webapi.Alex)), 0, "messages before the stamp")
	w.acts(circulation.Stamp, 1, webapi.Tanaka)
	w.drawn()
	w.drawn()
	expect.Has(t, w.newest(webapi.Alex, 1), "read_after")
	c := aggregate.Find(w.Load().Copies, (&aggregate.Card{CardType: task.CardProcess, Subject: w.Load().Process().Key(),
		User: webapi.Alex, Stage: 1}).Key())
	expect.That(t, c != nil && c.OwedSince != nil, "not listed: %+v", c)
}

// Of what waits already, who stands in from a later day is told on that day, once.
func testStandInBegins(t *testing.T, w *world) {
	w.onRoute(desk("経理", 1, webapi.Tanaka))
	w.drawn()
	store, from := w.Store.KindStore.Store, organisation.DateOf(w.Now().In(tenancy.Zone()))+1
	by, who := w.By, circulation.Person{User: webapi.Tanaka}
	by.ID = webapi.Tanaka
	d := expect.Value(store.SetDelegation(t.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant, From: from, Until: from,
		Hand: circulation.Person{User: webapi.Suzuki}, Principal: who}, tenancy.Setter{Actor: by, Person: who}, w.Now(),
		nil))(t)
	w.drawn()
	w.Later(d.Begins.Sub(w.Now()))
	expect.Is(t, len(w.direct(webapi.Suzuki)), 0, "messages before the day")
	rev := w.Load().Head.Redraws
	expect.NoError(t, store.BeginDelegation(t.Context(), d))
	expect.That(t, w.Load().Head.Redraws > rev, "the card isn't drawn again")
	expect.Fails(t, store.BeginDelegation(t.Context(), d), aggregate.ErrConflict)
	w.drawn()
	w.drawn()
	expect.Has(t, w.newest(webapi.Suzuki, 1), "approve_process")
}

func testStandInOnCard(t *testing.T, w *world) {
	w.onRoute(desk("経理", 1, webapi.Tanaka))
	w.drawn()
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	away := func(principal string) tenancy.Delegation {
		return tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: circulation.Person{User: webapi.Suzuki},
			Principal: circulation.Person{User: principal}, From: today, Until: today + 9}
	}
	by := func(user string) tenancy.Setter {
		a := w.By
		a.ID = user
		return tenancy.Setter{Actor: a, Person: circulation.Person{User: user}}
	}
	says := func() bool {
		return strings.Contains(string(expect.Value(json.Marshal(w.slack.Thread(t, webapi.HR, w.root)))(t)),
			"代わりに承認します")
	}
	store := w.Store.KindStore.Store
	read := &absences{Store: w.h.Store}
	w.h.Store = read
	rev := w.Load().Head.Redraws
	expect.Value(store.SetDelegation(t.Context(), away(webapi.Alex), by(webapi.Alex), w.Now(), nil))(t)
	expect.That(t, w.Load().Head.Redraws == rev && !says(), "somebody else is away")
	d := expect.Value(store.SetDelegation(t.Context(), away(webapi.Tanaka), by(webapi.Tanaka), w.Now(), nil))(t)
	expect.That(t, w.Load().Head.Redraws > rev, "the card isn't drawn again")
	w.drawn()
	expect.That(t, says(), "who stands in isn't said")
	n := read.n
	w.drawn()
	expect.That(t, read.n == n, "who is away was read once more within a minute")
	w.Later(2 * standInsLast)
	w.drawn()
	expect.That(t, read.n == n+1, "who is away is not read any more")
	expect.Value(store.EndDelegation(t.Context(), d, by(webapi.Tanaka), w.Now(), nil))(t)
	w.drawn()
	expect.That(t, !says(), "it is over")
}

// absences counts how often it is asked who stands in for somebody.
type absences struct {
	Store
	n int
}

func (a *absences) DelegationsOf(ctx context.Context, tenant, principal string) ([]tenancy.Delegation, error) {
	a.n++
	return a.Store.DelegationsOf(ctx, tenant, principal)
}
