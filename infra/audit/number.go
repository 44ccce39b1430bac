package main

import (
	"encoding/json"

	"ringi/shared/domain/circulation"
)

// numbered compares the number of the decision with the entries of the attempt's beginning and end. What a numbered rule
// settled has one once it began to run.
func (p *executed) numbered() {
	begun := p.all("execution.started", p.ID)
	for _, e := range append(begun, *p.end) {
		p.wrongIf(e.details.Number != p.Number, "the number is said to be %q, the entry %s says %q", p.Number, e.Action,
			e.details.Number)
	}
	p.wrongIf(p.Number == "" && (len(begun) > 0 || len(p.Writes) > 0) && (p.Steps.Gate.numbers() || p.Again.numbers()),
		"its rule gives numbers, and it has none")
	if p.Number != "" {
		p.say("decision number %s", p.Number)
	}
}

// numbered compares the number of the decision with the entries of the action's last start, and of the end that follows.
// What a numbered rule settled has one once it was started.
func (p *acting) numbered() {
	begun := p.all("action.started", p.ID)
	entries := begun[max(0, len(begun)-1):]
	if len(begun) > 0 {
		entries = append(append(entries, p.all("action.completed", p.ID)...), p.all("action.failed", p.ID)...)
	}
	for _, e := range entries {
		p.wrongIf(e.details.Number != p.Number, "the number is said to be %q, the entry %s says %q", p.Number, e.Action,
			e.details.Number)
	}
	p.wrongIf(p.Number == "" && len(begun) > 0 && p.Gate.numbers(), "its rule gives numbers, and it has none")
	p.wrongIf(p.Number != "" && len(begun) == 0, "it is said to have a number, and no entry says that it was started")
	if p.Number != "" {
		p.say("decision number %s", p.Number)
	}
}

// numbers reports whether what the gate's rule has people settle gets a number.
func (w *walked) numbers() bool {
	var gate circulation.Gate
	return w != nil && json.Unmarshal([]byte(w.Opened), &gate) == nil && gate.Rule != nil && gate.Rule.Numbered
}
