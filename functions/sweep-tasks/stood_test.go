package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// noDelegations has none.
type noDelegations struct{}

func (noDelegations) DueDelegations(context.Context, time.Time) iter.Seq2[tenancy.Delegation, error] {
	return func(func(tenancy.Delegation, error) bool) {}
}
func (noDelegations) BeginDelegation(context.Context, tenancy.Delegation) error { return nil }
func (noDelegations) Stood(context.Context, tenancy.Delegation) ([]tenancy.Stood, error) {
	return nil, nil
}
func (noDelegations) ListDelegation(context.Context, tenancy.Delegation, time.Time, *store.Notice) error {
	return nil
}

// standIn sets that U2 stands in for U1 today.
func standIn(w *pipelinetest.World) tenancy.Delegation { return standInAfter(w, 0) }

// standInAfter is standIn for the day so many days from now.
func standInAfter(w *pipelinetest.World, days organisation.Date) tenancy.Delegation {
	w.T.Helper()
	today := organisation.DateOf(w.Now().In(tenancy.Zone())) + days
	d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: circulation.Person{User: "U2"},
		Principal: circulation.Person{User: "U1"}, From: today, Until: today, Team: "T1", Channel: "D0U1"}
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, Person: d.Principal}
	return expect.Value(w.Store.KindStore.SetDelegation(w.T.Context(), d, by, w.Now(), nil))(w.T)
}

// stamps notes that U2 stamped something for U1 by a delegation.
func stamps(w *pipelinetest.World, key string) {
	w.T.Helper()
	stampsAs(w, circulation.Person{User: "U1"}, key, w.Now())
	w.Later(time.Second)
}

func stampsAs(w *pipelinetest.World, principal circulation.Person, key string, at time.Time) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		head, gate := a.Head, "01GATE"
		if p := a.Prompt(); p != nil {
			gate = p.ID
		}
		act := &circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: "U2"}, Principal: principal, Stage: 1}
		return aggregate.Change{Head: &head, Now: w.Now(),
			Beside: []aggregate.Listed{tenancy.StoodOf(a.Ref(), gate, act, key, at)}}, nil
	})
}

// listed returns what the principal was told when a delegation was over.
func listed(w *pipelinetest.World, d tenancy.Delegation) (told task.StoodTold, ok bool) {
	w.T.Helper()
	_, ref := task.TellStood(d, task.StoodTold{}, w.Now())
	a, err := w.Store.Load(w.T.Context(), ref)
	if errors.Is(err, aggregate.ErrNotFound) {
		return told, false
	}
	expect.NoError(w.T, err)
	of := a
	expect.That(w.T, of.Request.Channel == "D0U1" && of.Request.User == "U1", "told in %s", of.Request.Channel)
	return task.ReadStood(of.Head.Ended.Reason, of.Head.Ended.Detail)
}

func TestPrincipalsAreToldWhatWasDoneForThem(t *testing.T) {
	pipelinetest.Each(t, map[string]func(*testing.T, *pipelinetest.World){
		"when the days are over":                       testListedAtTheEnd,
		"when it is ended early":                       testListedEarly,
		"but not that nothing was done":                testListedNothing,
		"though it was set anew before they were":      testListedSetAnew,
		"of at most so many things, but how many more": testListedMany,
		"by the key that their delegation has":         testListedByDelegation,
		"also what was decided just before the end":    testListedLate,
		"though what was done can't be read":           testListedUntitled,
		"whatever is wrong with others":                testListedBesideOthers,
		"though it began later than it was set":        testBegins,
	})
}

func testListedAtTheEnd(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("DM は不要です")(a, a.Prompt().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
	})
	w.Draft(tenancy.DefaultSettings())
	d := standIn(w)
	stamps(w, d.Key())
	stamps(w, "U2#U1#1999-01-01")
	sweep(t, w, d.Ends.Sub(w.Now())-time.Second)
	_, ok := listed(w, d)
	expect.That(t, !ok, "told before the end")
	for range 2 { // and once
		sweep(t, w, time.Minute)
		told, ok := listed(w, d)
		expect.Must(t, ok && told.N == 1 && len(told.Items) == 1, "%+v", told)
		expect.That(t, told.Hand == "U2" && told.Items[0].Title == w.Load().Task.Title && told.Items[0].Title != "" &&
			told.Items[0].Later == 2 && told.Items[0].Did == circulation.Stamp && told.Items[0].ID == w.Ref.ID, "%+v", told)
	}
}

// What begins later than it was set is noted on its first day, once, and is then due when it is over.
func testBegins(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	is := func(d tenancy.Delegation) tenancy.Delegation {
		return expect.Value(w.Store.KindStore.Delegation(t.Context(), d))(t)
	}
	today := standIn(w)
	d := standInAfter(w, 2)
	sweep(t, w, d.Begins.Sub(w.Now())-time.Second)
	expect.That(t, today.Begun && !is(d).Begun && is(d).Rev == 1, "%+v", is(d))
	for range 2 {
		sweep(t, w, time.Minute)
		expect.That(t, is(d).Begun && is(d).Rev == 2 && is(d).ListedAt == nil, "%+v", is(d))
	}
	stamps(w, d.Key())
	sweep(t, w, 24*time.Hour)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1, "%+v", told)
	gone := standInAfter(w, 2)
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, Person: d.Principal}
	expect.Value(w.Store.KindStore.EndDelegation(t.Context(), gone, by, w.Now(), nil))(t)
	sweep(t, w, 72*time.Hour)
	expect.That(t, !is(gone).Begun && is(gone).ListedAt != nil, "one that ended before it began: %+v", is(gone))
}

func testListedEarly(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	stamps(w, d.Key())
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, Person: d.Principal}
	expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, by, w.Now(), nil))(t)
	sweep(t, w, time.Minute)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1, "%+v", told)
}

func testListedNothing(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	sweep(t, w, 48*time.Hour)
	_, ok := listed(w, d)
	now := expect.Value(w.Store.KindStore.Delegation(t.Context(), d))(t)
	expect.That(t, !ok && now.ListedAt != nil, "%+v", now)
	for over, err := range w.Store.KindStore.DueDelegations(t.Context(), w.Now()) {
		expect.That(t, err == nil && over.TenantID != w.Ref.Tenant, "it stays due: %+v, %v", over, err)
	}
}

func testListedSetAnew(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	stamps(w, d.Key())
	by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, Person: d.Principal}
	expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, by, w.Now(), nil))(t)
	w.Later(time.Second)
	d = standIn(w)
	stamps(w, d.Key())
	sweep(t, w, 48*time.Hour)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 2, "%+v", told)
}

func testListedMany(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	for range mostItems + 2 {
		stamps(w, d.Key())
	}
	sweep(t, w, 48*time.Hour)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == mostItems+2 && len(told.Items) == mostItems &&
		told.Items[0].At.After(told.Items[1].At), "%+v", told)
}

// A route that was looked up before the organisation gave somebody another key knows them by the old one.
func testListedByDelegation(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	stampsAs(w, circulation.Person{User: "U1", Person: "E0001"}, d.Key(), w.Now())
	sweep(t, w, 48*time.Hour)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1, "%+v", told)
}

// What was decided within the days may be saved when they are over.
func testListedLate(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	sweep(t, w, d.Ends.Sub(w.Now())+time.Second)
	stampsAs(w, d.Principal, d.Key(), d.Ends.Add(-time.Millisecond))
	sweep(t, w, time.Minute)
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1, "%+v", told)
}

func testListedUntitled(t *testing.T, w *pipelinetest.World) {
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	stamps(w, d.Key())
	w.Later(48 * time.Hour)
	h := handler(w)
	h.Store = poisoned{Store: h.Store, ref: w.Ref}
	expect.NoError(t, h.standIns(t.Context(), &count{}))
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1 && told.Items[0].Title == "" && told.Items[0].ID == w.Ref.ID, "%+v", told)
}

// troubled can't read what was done by some delegations.
type troubled struct {
	Delegations
	of  string // tenant
	how func() error
}

func (x troubled) Stood(ctx context.Context, d tenancy.Delegation) ([]tenancy.Stood, error) {
	if d.TenantID == x.of {
		return nil, x.how()
	}
	return x.Delegations.Stood(ctx, d)
}

func testListedBesideOthers(t *testing.T, w *pipelinetest.World) {
	other := aggregate.TenantID("T0" + w.Ref.ID)
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	for i := range 60 { // over before
		d := tenancy.Delegation{TenantID: other, Hand: circulation.Person{User: "U2"},
			Principal: circulation.Person{User: fmt.Sprintf("U%02d", i)}, From: today, Until: today, Team: "T2", Channel: "D"}
		by := tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}, Admin: true}
		d = expect.Value(w.Store.KindStore.SetDelegation(t.Context(), d, by, w.Now(), nil))(t)
		expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, by, w.Now(), nil))(t)
	}
	w.Prompted(tenancy.DefaultSettings())
	d := standIn(w)
	stamps(w, d.Key())
	w.Later(48 * time.Hour)
	h := handler(w)
	var tries atomic.Int64
	h.Delegations = troubled{h.Delegations, other, func() error {
		if tries.Add(1) == 1 {
			panic("poison")
		}
		return errPoison
	}}
	var n count
	expect.NoError(t, h.standIns(t.Context(), &n))
	told, ok := listed(w, d)
	expect.That(t, ok && told.N == 1, "%+v", told)
	expect.Same(t, int64(60), n.failed.Load())
}
