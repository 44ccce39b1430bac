package card

import (
	"fmt"
	"slices"

	"ringi/shared/domain/task"
)

// processBody is what people stamp of steps: what became of the reasons for which earlier
// ones were rejected, their list, and below it what they would do, each over at most most sections.
func (d drawing) processBody(steps []task.Step, remarks string, most int) body {
	var said body
	if remarks = prepared(remarks); remarks != "" {
		said = d.sections(pages(fill(d.w.Remarks, "text", remarks), maxSection), most)
	}
	return said.with(d.stepList(steps, most, wholeName, func(s task.Step, name string) string {
		if s.RequiresHumanCheck {
			return stepLine(s, name) + " 🔍"
		}
		return stepLine(s, name)
	})).with(d.effects(steps, most))
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
