package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Entries name the gate of a step that made no write, too: it has to be shown.
func TestTheGateOfAStepThatWasNotCalledIsShown(t *testing.T) {
	steps, step, hash := ofSteps(t, settling()), ofStep(t, settling()), aggregate.HashOf(messageSent)
	denied := settling()[:2]
	denied[1].Kind, denied[1].Text = circulation.Deny, "宛先が違う"
	denied[1].Hand, denied[1].Principal, denied[1].Stage = someone("U0TAKADA"), someone("U0TAKADA"), 2
	gate := circulate(t, "step", execution, taskID, began().Add(6500*time.Millisecond), map[string]any{"step": "step-6",
		"arguments_hash": hash}, denied, "step", taskID, "1", "1", "step-6", hash)
	old := theEntries()
	named := onRoutes(steps, step)
	named[task.GateKey(1, 1, 6)] = gate
	r := newSealer(t).seal(t, naming(t, slices.Concat(old[:4], steps.rows, step.rows, old[6:7], gate.rows, old[7:]),
		namedGates(named)), 5).receipt()
	r.Execution = provedOnRoutes(t, steps, step).Execution
	r.Execution.Gates = []stepGate{{"step-6", walkOf(&gate.Gate, gate.asked)}}
	r = r.part()
	for by, verify := range verifiers {
		out, err := verify(t, r)
		expect.That(t, err == nil && strings.Contains(out, "step step-6 made no write") && strings.Contains(out, "宛先が違う"),
			"%s: %v\n%s", by, err, out)
	}
	of := func(r *Receipt) *walked { return r.Execution.Gates[0].Gate }
	var j judged
	j.add(t, "an execution", r, true)
	j.changed(t, "a gate", r, changedTexts(t, "gate", of(&r), of))
	j.changed(t, "a gate", r, map[string]func(*Receipt){
		"left out":           func(r *Receipt) { r.Execution.Gates = nil },
		"its route left out": func(r *Receipt) { r.Execution.Gates[0].Gate = nil },
		"of another step":    func(r *Receipt) { r.Execution.Gates[0].Step = "step-2" },
		"of no step":         func(r *Receipt) { r.Execution.Gates[0].Step = "step-9" },
		"twice":              func(r *Receipt) { r.Execution.Gates = append(r.Execution.Gates, r.Execution.Gates[0]) },
		"left out with its opening": func(r *Receipt) {
			r.Execution.Gates = nil
			r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool { return x.At.Equal(began().Add(6500 * time.Millisecond)) })
		},
	})
	j.agree(t)
}
