package card

import (
	"fmt"

	"github.com/slack-go/slack"

	"ringi/shared/task"
)

// step draws the gate before one step: its line, and the arguments that it would run with.
func (d drawing) step(key string) face {
	v := version{kind: task.CardStep, key: key, words: d.w.Step}
	for _, g := range d.a.Gates {
		if g.Key() != key {
			continue
		}
		v.id, v.version, v.status, v.verdict, v.terms = g.ID, g.ProcessVersion, g.Status, g.Verdict, g.Terms
		v.body = append([]slack.Block{section(d.gatedLine(g))}, d.arguments(g.Arguments)...)
	}
	return d.gate(v)
}

func (d drawing) gatedLine(g *task.Gate) string {
	for _, p := range d.a.Processes {
		if p.Version != g.ProcessVersion {
			continue
		}
		for _, s := range p.Steps {
			if s.StepID == g.StepID && s.Order == g.Order {
				return stepLine(s, bounded(stepName(d.w, s), longName))
			}
		}
	}
	return fmt.Sprintf("%d. `%s`", g.Order, or(code(g.StepID, maxTool), "?"))
}
