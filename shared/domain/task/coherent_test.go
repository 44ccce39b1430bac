package task

import (
	"reflect"

	"ringi/shared/domain/aggregate"
)

// coherent checks that the rows are consistent with each other after every commit.
func (w *world) coherent(a *Aggregate) {
	h := a.Head
	pending, generating := 0, 0
	gate := func(s aggregate.GateStatus) {
		if s == aggregate.PendingApproval {
			pending++
		}
		if s == aggregate.Generating {
			generating++
		}
	}
	for i, p := range a.Prompts {
		w.require(p.Version == i+1, "%s is version %d of %d", p.Key(), p.Version, len(a.Prompts))
		w.require(i == len(a.Prompts)-1 || p.Status == aggregate.Rejected, "%s has a successor, and is %s", p.Key(), p.Status)
		w.require(a.Card("CARD#prompt#"+p.Key()[len("PROMPT#"):]) != nil, "%s has no card", p.Key())
		gate(p.Status)
	}
	for i, p := range a.Processes {
		w.require(p.Version == i+1, "%s is version %d of %d", p.Key(), p.Version, len(a.Processes))
		w.require(i == len(a.Processes)-1 || p.Status == aggregate.Rejected, "%s has a successor, and is %s", p.Key(), p.Status)
		w.require(p.PromptID == a.Prompt().ID && a.Prompt().Status == aggregate.Approved, "%s is not of the approved prompt", p.Key())
		w.require(a.Card("CARD#process#"+p.Key()[len("PROCESS#"):]) != nil, "%s has no card", p.Key())
		gate(p.Status)
	}
	for _, g := range a.Gates {
		w.require(a.Card("CARD#step#"+g.Key()[len("GATE#"):]) != nil, "%s has no card", g.Key())
		if g.Status == aggregate.PendingApproval {
			e := a.Execution()
			next := a.NextStep(e)
			w.require(e.Status == ExecutionRunning && next != nil && next.Order == g.Order && a.StepOf(e, g.Order) == nil,
				"%s waits; %s is %s, next is %+v, its row %+v", g.Key(), e.Key(), e.Status, next, a.StepOf(e, g.Order))
		}
		gate(g.Status)
	}
	w.executions(a)
	working := h.Ended == nil
	w.require(pending+generating <= 1, "%d gates wait, %d are made", pending, generating)
	w.require(working || pending == 0, "a gate waits in a task that ended")
	open, waits := a.OpenGate()
	asks := waits && open.Terms.ApprovalRequired
	w.require(h.Parked == nil || working && !asks && a.Execution() == nil, "parked, with %d gates and execution %v", pending, a.Execution())
	w.require(a.Card("CARD#task") != nil, "the task has no card")
	if a.Task == nil {
		w.require(len(a.Prompts) == 0 && (working || h.Ended.As == TaskCancelled), "no task, but %d prompts, ended %v", len(a.Prompts), h.Ended)
		return
	}
	want := TaskExtracted
	switch {
	case !working:
		want = h.Ended.As
	case a.Execution() != nil:
		want = TaskRunning
	}
	w.require(a.Task.Status == want, "the task is %s, want %s", a.Task.Status, want)
}

func (w *world) executions(a *Aggregate) {
	open := 0
	for i, e := range a.Executions {
		w.require(e.Attempt == i+1, "%s is attempt %d of %d", e.Key(), e.Attempt, len(a.Executions))
		w.require(i == len(a.Executions)-1 || e.Status == ExecutionFailed, "%s was tried again, and is %s", e.Key(), e.Status)
		running := 0
		for _, s := range a.StepsOf(e) {
			if s.Status == StepRunning {
				running++
			}
		}
		w.require(running <= 1, "%s has %d calls out", e.Key(), running)
		if !e.over() {
			open++
			continue
		}
		w.require(running == 0 || e.Status == ExecutionCancelled, "%s is %s over a call", e.Key(), e.Status)
		if rows := a.results(e, &change{}); len(rows) > 0 || len(e.Results) > 0 {
			w.require(reflect.DeepEqual(e.Results, rows), "%s keeps %+v, its rows say %+v", e.Key(), e.Results, rows)
		}
		done := a.NextStep(e) == nil
		w.require(e.Status != ExecutionCompleted || done, "%s is completed, its steps are not", e.Key())
	}
	w.require(open <= 1, "%d executions are open", open)
	w.require((open == 1) == (a.Head.Ended == nil && len(a.Executions) > 0), "%d executions are open, ended %v", open, a.Head.Ended)
	w.require(len(a.Executions) == 0 || a.Card("CARD#execution") != nil, "the execution has no card")
}
