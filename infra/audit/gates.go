package main

import (
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/task"
)

// stepGate is a gate under a rule of a step that made no write in the attempt: it was denied, say, or reads.
type stepGate struct {
	Step string  `json:"step"`
	Gate *walked `json:"gate"`
}

// uncalled returns the gates under a rule of those steps of an execution that are none of the writes.
func uncalled(a *task.Aggregate, e *task.Execution, steps []task.Step, writes []writeCall) (out []stepGate) {
	for _, s := range steps {
		called := slices.ContainsFunc(writes, func(w writeCall) bool { return w.Step == s.StepID })
		if g := a.GateOf(e, s.Order); g != nil && g.Route != nil && !called {
			out = append(out, stepGate{s.StepID, walkOf(&g.Gate, a.AskedText(g))})
		}
	}
	return out
}

// gates checks the gates of steps that made no write. Of each step that an entry names the gate is shown here, or with
// the write.
func (p *executed) gates() {
	shown := map[string]bool{}
	for _, w := range p.Writes {
		shown[w.Step] = true
	}
	for _, g := range p.Gates {
		p.wrongIf(shown[g.Step], "%s: its gate is shown twice", g.Step)
		shown[g.Step] = true
		p.say("step %s made no write, and people were asked about it", g.Step)
		hash := ""
		for _, e := range p.all("step.routed", p.ID) {
			if e.details.Step == g.Step {
				hash = e.details.ArgumentsHash
			}
		}
		p.walk(g.Step, g.Gate, "step", p.ID, g.Step, "step", p.Task, strconv.Itoa(p.Steps.Version),
			strconv.Itoa(p.Attempt), g.Step, hash)
	}
	for _, e := range p.entries {
		if step := e.details.Step; strings.HasPrefix(e.Action, "step.") && e.ResourceID == p.ID && e.Task == p.about &&
			!shown[step] {
			shown[step] = true
			p.walk(step, nil, "step", p.ID, step)
			for _, stamp := range p.stampsOf(step) {
				p.say("step %s made no write, and was %s", step, stamp.by())
			}
		}
	}
}
