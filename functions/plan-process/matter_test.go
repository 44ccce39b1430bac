package main

import (
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// A form's plan is one step, for which no model is asked. People are asked, whatever the settings say.
func TestAFormHasItsPlan(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	s := w.Settings(func(s *tenancy.Settings) { s.ProcessApprovalRequired = false })
	w.Prompted(s)
	w.Approve()
	next := handle(t, w, g)
	p := w.Load().Process()
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(catalog.Decide)
	expect.That(t, next.State == task.StateAwaitProcessApproval && p.Terms.ApprovalRequired && g.Calls == 0, "%+v", next)
	expect.Same(t, pipelinetest.Form.Steps("ja", spec.Version()), p.Steps)
}

// The form that was filled in again has its own plan.
func TestAFormThatIsFilledInAgainHasItsPlan(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.FormReturned()
	m := pipelinetest.Form
	m.Title, m.Amount = "複合機の賃借", "900000"
	w.FormRefilled(m)
	w.FormGoesOn()
	next := handle(t, w, g)
	p := w.Load().Process()
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(catalog.Decide)
	expect.That(t, next.State == task.StateAwaitProcessApproval && p.Version == 2 && p.Terms.ApprovalRequired &&
		g.Calls == 0, "%+v", next)
	expect.Same(t, m.Steps("ja", spec.Version()), p.Steps)
}
