package main

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// editing returns a task whose steps were given back, and what makes its asker's edit of the first step's arguments.
func editing(t *testing.T, server *pipelinetest.Server) (w *pipelinetest.World, edit func(input string)) {
	t.Helper()
	w = server.World(t)
	w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read,
		`{"department":null,"status":"active"}`), pipelinetest.Step(2, "send_slack_dm", aggregate.Write,
		`{"recipient":"`+pipelinetest.Requester+`","text":"x","details":[]}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.GiveBack("直してください")(a, a.Process().ID, pipelinetest.Approver(), pipelinetest.Policy(), w.Now())
	})
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: pipelinetest.Requester, Team: pipelinetest.Approver().Team}
	return w, func(input string) {
		t.Helper()
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			row := a.Returned()
			steps := slices.Clone(a.StepsWith(row.Asks().ID))
			steps[0].ToolInput, steps[0].ToolVersion = aggregate.JSON(input), "old"
			return a.Edit(row.Asks().ID, task.Edit{Steps: steps}, by, pipelinetest.Policy(), w.Now())
		})
	}
}

// What an asker wrote is compared with its tools and asked about, without a model. What doesn't fit comes back to them
// with the field and its limit, and what they wrote; so it does if the run comes twice.
func TestAnAskersEditIsComparedWithItsTools(t *testing.T) {
	server, g := pipelinetest.Start(t), &modeltest.Demo{}
	w, edit := editing(t, server)
	edit(`{"department":null,"status":"retired"}`)
	for range 2 {
		next := handle(t, w, g)
		expect.That(t, next.State == task.StateFinish && next.Outcome == "returned", "%+v", next)
	}
	p := w.Load().Process()
	expect.Same(t, []task.Misfit{{Order: 1, Field: 1, Why: task.MisfitChoice, Limit: "active, all"}}, p.Misfits)
	expect.That(t, p.Version == 2 && strings.Contains(string(p.Steps[0].ToolInput), "retired"), "%+v", p)

	edit(`{"department":null,"status":"all"}`)
	for range 2 {
		next := handle(t, w, g)
		expect.That(t, next.State == task.StateAwaitProcessApproval && next.Gate == task.ProcessKey(2), "%+v", next)
	}
	p = w.Load().Process()
	spec, _ := expect.Value(tool.Builtin())(t).Lookup("list_employees")
	expect.That(t, g.Calls == 0 && p.Misfits == nil && p.Steps[0].ToolVersion == spec.Version() && p.EditedBy != "" &&
		p.Status == aggregate.PendingApproval && p.Steps[0].ToolInput == `{"department":null,"status":"all"}`, "%+v", p)
}

// What an administrator forbade since, or bound, is not asked about.
func TestAnAskersEditIsBoundByPermissions(t *testing.T) {
	server, g := pipelinetest.Start(t), &modeltest.Demo{}
	for name, c := range map[string]struct {
		allowed     bool
		constraints aggregate.JSON
		why         task.MisfitWhy
	}{
		"forbidden": {false, "{}", task.MisfitTool},
		"bound":     {true, `{"departments":["人事部"]}`, task.MisfitLimit},
	} {
		w, edit := editing(t, server)
		p := tenancy.ToolPermission{TenantID: w.Ref.Tenant, ToolName: "list_employees", Allowed: c.allowed,
			Constraints: aggregate.JSON(c.constraints)}
		expect.Value(w.Store.SaveToolPermission(t.Context(), p, aggregate.System(), w.Now(), tenancy.OnlyDepartments))(t)
		edit(`{"department":"営業部","status":"active"}`)
		handle(t, w, g)
		is := w.Load().Process()
		expect.That(t, len(is.Misfits) == 1 && is.Misfits[0].Why == c.why && is.Misfits[0].Order == 1, "%s: %+v", name,
			is.Misfits)
	}
}
