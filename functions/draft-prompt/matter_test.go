package main

import (
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/modeltest"
	"ringi/shared/runtime/expect"
)

// A form's policy is its text: neither a model nor a contest drafts one, and nobody is asked about it.
func TestAFormIsItsPolicy(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.ReceiveForm()
	w.Settings(func(s *tenancy.Settings) { s.DraftContest.Enabled = true })
	w.Extracted()
	next := handle(t, w, g)
	p := w.Load().Prompt()
	expect.That(t, next.State == task.StateAwaitPromptApproval && p.Content == "決裁を求めます" && g.Calls == 0 &&
		!p.Terms.ApprovalRequired && p.Contest == nil, "%+v %+v", next, p)
}

// What was typed again is its policy, about which nobody is asked either.
func TestAFormThatIsFilledInAgainIsItsPolicy(t *testing.T) {
	w, g := pipelinetest.Start(t).World(t), &modeltest.Demo{}
	w.FormReturned()
	m := pipelinetest.Form
	m.Title = "複合機の賃借"
	w.FormRefilled(m)
	next := handle(t, w, g)
	p := w.Load().Prompt()
	expect.That(t, next.State == task.StateAwaitPromptApproval && p.Version == 2 && p.Content == "決裁: 複合機の賃借" &&
		g.Calls == 0 && !p.Terms.ApprovalRequired, "%+v %+v", next, p)
}
