package main

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
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
		if g := a.GateOf(e, s.Order); g != nil && g.Ruled() && !called {
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

// sealedGates compares the gates that are shown with those that the entry of the end names: no other entry need be in
// the receipt. It compares hashes of what walk has read.
func (p *executed) sealedGates() {
	sealed, shown := p.end.details.Gates, p.shownGates()
	for _, key := range slices.Sorted(maps.Keys(sealed)) {
		g, w := sealed[key], shown[key]
		name := cmp.Or(g.Step, "the gate "+key)
		switch {
		case g.RouteHash == "" && g.Step != "":
			p.wrongIf(!p.decided(g.Step), "%s: a person decided about it, and the entry of that is left out", name)
			p.wrongIf(w != nil, "%s: a route is shown, and the entry of the end names none", name)
		case w == nil:
			p.wrong("%s: people were asked under a rule, and the route is left out", name)
			continue
		default:
			p.wrongIf(!g.is(w), "%s: the entry of the end names another route, or other acts on it", name)
		}
		delete(shown, key)
	}
	for _, key := range slices.Sorted(maps.Keys(shown)) {
		p.wrong("people are said to have been asked at the gate %s, and the entry of the end names none", key)
	}
}

// shownGates returns the gates that the claim shows, by key; nil is one without a rule.
func (p *executed) shownGates() map[string]*walked {
	shown, v := map[string]*walked{}, p.Steps.Version
	if p.Steps.Gate != nil {
		shown[task.ProcessKey(v)] = p.Steps.Gate
	}
	if p.Again != nil {
		shown[task.AgainKey(v, p.askedIn().Attempt)] = p.Again
	}
	ofStep := func(id string, w *walked) {
		if at := slices.IndexFunc(p.steps, func(s planned) bool { return s.StepID == id }); at >= 0 {
			shown[task.GateKey(v, p.Attempt, p.steps[at].Order)] = w
		}
	}
	for _, w := range p.Writes {
		if w.Gated {
			ofStep(w.Step, w.Gate)
		}
	}
	for _, g := range p.Gates {
		ofStep(g.Step, g.Gate)
	}
	return shown
}

// decided reports whether an entry says that a person decided about a step.
func (p *executed) decided(step string) bool {
	return slices.ContainsFunc(p.entries, func(e entry) bool {
		return strings.HasPrefix(e.Action, "step.") && e.ResourceID == p.ID && e.Task == p.about && e.details.Step == step
	})
}

// is reports whether an end's entry names the gate that is shown.
func (g sealedGate) is(w *walked) bool {
	return g.RouteHash == aggregate.HashOf(w.Opened) &&
		g.ActsHash == aggregate.HashOf("["+strings.Join(w.Acts, ",")+"]")
}
