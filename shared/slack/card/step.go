package card

import (
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// step draws the gate before one step: its line, and the arguments that it would run with.
func (d drawing) step(key string) face {
	v := version{kind: task.CardStep, key: key, words: d.w.Step}
	for _, g := range d.a.Gates {
		if g.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = g.ID, g.ProcessVersion, g.Status, g.Verdict, g.Terms
		v.body = d.gateBody(g, maxPages)
	}
	if v.status == aggregate.Cancelled && d.doneBefore(key) {
		return d.titled(v, grey, d.w.IsCancelled).with(v.body.blocks...).with(divider(), contextLine(d.w.StepDoneBefore))
	}
	return d.gate(v)
}

// doneBefore reports whether an earlier attempt's call turned out to have done what people were being asked about.
func (d drawing) doneBefore(key string) bool {
	return slices.ContainsFunc(d.a.Steps, func(s *task.StepResult) bool {
		return s.Reused && task.GateKey(s.ProcessVersion, s.Attempt, s.Order) == key
	})
}

// gateBody is what people stamp before a step runs: its line, and what it would be called with.
func (d drawing) gateBody(g *task.StepGate, most int) body {
	call, line := d.gated(g)
	return d.sections(pages(line, maxSection), most).with(d.arguments(call, g.Arguments, most))
}

// gated is the step that a gate stands before, and its line.
func (d drawing) gated(g *task.StepGate) (call task.Step, line string) {
	for _, p := range d.a.Processes {
		if p.Version != g.ProcessVersion {
			continue
		}
		for _, s := range p.Steps {
			if s.StepID == g.StepID && s.Order == g.Order {
				return s, stepLine(s, bounded(stepName(d.w, s), wholeName))
			}
		}
	}
	return task.Step{}, fmt.Sprintf("%d. `%s`", g.Order, or(code(g.StepID, maxTool), "?"))
}
