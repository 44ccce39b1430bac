package task_test

import (
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestWhatWaitsForStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"comes after their own, each once, and they may read it": testStandInReads,
	})
}

// Alex is not in the channel where it was asked for.
func testStandInReads(t *testing.T, w *consoletest.World) {
	owing(w, "代理の一件", consoletest.Desk("課長", 1, workspace.Suzuki))
	w.Owe(1, workspace.Suzuki)
	page := "/console/tasks/" + w.Ref.ID
	alex := w.As(workspace.Alex)
	alex.Get("/console/approvals").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
	d := tenancy.Delegation{TenantID: w.Tenant.ID, Hand: circulation.Person{User: workspace.Alex},
		Principal: circulation.Person{User: workspace.Suzuki}, From: organisation.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	d = expect.Value(w.Console.Store.SetDelegation(t.Context(), d, tenancy.Setter{Person: d.Principal,
		Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki}}, w.Now(), nil))(t)
	lists(t, alex.Get("/console/approvals"), "代理の一件")
	alex.Get("/console/approvals?for=me").Says(t, 200, "代理の一件", "鈴木 一郎 さんの代理")
	alex.Get(page).Says(t, 200, "代理の一件", "あなたの番です", "却下して終わる")
	w.Later(d.Ends.Sub(w.Now()))
	alex = w.As(workspace.Alex)
	alex.Get("/console/approvals").Lacks(t, "代理の一件")
	alex.Get(page).Lacks(t, "代理の一件")
}
