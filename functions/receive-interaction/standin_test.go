package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestStandIns(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"stamp for whom they stand in, once":                     testStandInStamps,
		"are told when their days are over":                      testStandInPeriod,
		"don't stamp by what ended beside their click":           testStandInEnded,
		"and their principals stamp once together":               testStandInBeside,
		"read and reject what their principals owe":              testStandInRejects,
		"who owe a stamp themselves act for nobody but that one": testStandInOwes,
	})
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

// stamp clicks on approving at the first stage.
func (w *world) stamp(user string, p *task.Process) map[string]any {
	return at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1")
}

func (w *world) acts() []circulation.Act { return w.Load().Process().Acts }

func testStandInStamps(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Alex)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka) // a double click
	acts := w.acts()
	if len(acts) != 1 {
		t.Fatalf("%d acts", len(acts))
	}
	act := acts[0]
	expect.That(t, act.Hand.User == webapi.Tanaka && act.Principal.User == webapi.Suzuki &&
		act.Found.Delegation.Key == d.Key() && act.Found.Delegation.Rev == 1, "%+v", act)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "番です")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	expect.Is(t, w.Load().Process().Status, aggregate.PendingApproval, "a second stage is another's")
}

func testStandInPeriod(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "お願いしている承認はありません")
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 2)
	w.Later(d.StandIn().Ends.Sub(w.Now())) // midnight in Japan
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka,
		"お願いしている承認はありません")
	w.Later(-time.Millisecond)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	expect.Is(t, w.Load().Process().Status, aggregate.Approved, "in the last moment")
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
	p := w.onRoute(webapi.Suzuki)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows, do: func(reads int) {
		if reads == 1 {
			_, err := w.Store.KindStore.EndDelegation(t.Context(), d, setter(webapi.Alex), w.Now(), nil)
			expect.NoError(t, err)
		}
	}}
	w.h.Rows = rows
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "お願いしている承認はありません")
	expect.That(t, len(w.acts()) == 0 && rows.reads == 2, "%d acts after %d reads", len(w.acts()), rows.reads)
}

func testStandInBeside(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows}
	var once sync.Once
	rows.do = func(int) {
		once.Do(func() {
			w.h.Rows = rows.Rows
			w.quiet(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki)
		})
	}
	w.h.Rows = rows
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, webapi.Suzuki)
	acts := w.acts()
	expect.That(t, len(acts) == 1 && acts[0].Hand.User == webapi.Suzuki, "%+v", acts)
}

func testStandInRejects(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	review := func() { w.post(at(w.click(webapi.Tanaka, "review_process", p.ID), w.Ref.ID+"/1")) }
	review()
	expect.That(t, w.view(webapi.Tanaka).Submit == nil, "who doesn't stand in can approve what they read")
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	w.Later(2 * time.Minute)
	review()
	expect.That(t, w.view(webapi.Tanaka).Submit != nil, "who stands in can't approve what they read")
	w.quiet(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka)
	expect.Is(t, w.view(webapi.Tanaka).CallbackID, "rejection_reason_modal", "the form")
}

func testStandInOwes(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.standIn(webapi.Suzuki, webapi.Alex, webapi.Alex, 1)
	rows := &between{Rows: w.h.Rows, do: func(int) {}}
	w.h.Rows = rows
	w.quiet(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki)
	expect.That(t, rows.reads == 0 && w.acts()[0].Principal.User == webapi.Suzuki, "%d reads, %+v", rows.reads, w.acts())
}
