package task_test

import (
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestWhatWaitsForStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"comes after their own, each once, and they may read it":     testStandInReads,
		"is stamped for whom they say, if they stand in for several": testStandInAs,
	})
}

// Alex is not in the channel where it was asked for.
func testStandInReads(t *testing.T, w *consoletest.World) {
	owing(w, "代理の一件", consoletest.Desk("課長", 1, webapi.Suzuki))
	w.Owe(1, webapi.Suzuki)
	page := "/console/tasks/" + w.Ref.ID
	alex := w.As(webapi.Alex)
	alex.Get("/console/approvals").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
	d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: circulation.Person{User: webapi.Alex},
		Principal: circulation.Person{User: webapi.Suzuki}, From: organisation.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	d = expect.Value(w.Console.Store.SetDelegation(t.Context(), d, tenancy.Setter{Person: d.Principal,
		Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}}, w.Now(), nil))(t)
	lists(t, alex.Get("/console/approvals"), "代理の一件")
	alex.Get("/console/approvals?for=me").Says(t, 200, "代理の一件", "鈴木 一郎 さんの代理")
	alex.Get(page).Says(t, 200, "代理の一件", "あなたの番です", "却下して終わる")
	w.Later(d.Ends.Sub(w.Now()))
	alex = w.As(webapi.Alex)
	alex.Get("/console/approvals").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
}

func testStandInAs(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.Desk("課長", 2, webapi.Suzuki, webapi.Tanaka))
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	for _, principal := range []string{webapi.Suzuki, webapi.Tanaka} {
		d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: circulation.Person{User: webapi.Alex},
			Principal: circulation.Person{User: principal}, From: today, Until: today}
		expect.Value(w.Console.Store.SetDelegation(t.Context(), d, tenancy.Setter{Person: d.Principal,
			Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: principal}}, w.Now(), nil))(t)
	}
	page, alex := w.TaskPage(), w.As(webapi.Alex)
	shown := alex.Get(page)
	shown.Says(t, http.StatusOK, "誰として", "選んでください")
	form := shown.FormOf(t, aggregate.ActApprove, "")
	alex.Post(page+"/act", form).Says(t, http.StatusForbidden, "どなたの代理")
	form.Set("as", webapi.Tanaka)
	alex.Post(page+"/act", form)
	acts := w.Load().Process().Acts
	expect.That(t, len(acts) == 1 && acts[0].Principal.User == webapi.Tanaka && acts[0].Hand.User == webapi.Alex, "%+v",
		acts)
}
