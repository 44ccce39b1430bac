package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// leaves calls change for each number, text and truth in a JSON value, with the value as it is with that one changed.
func leaves(v any, path string, change func(path string)) {
	at := func(name string, was any, put func(any)) {
		path := path + "/" + name
		leaves(was, path, change)
		if other, leaf := another(was); leaf {
			put(other)
			change(path)
			put(was)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at(name, v[name], func(is any) { v[name] = is })
		}
	case []any:
		for i, was := range v {
			at(fmt.Sprint(i), was, func(is any) { v[i] = is })
		}
	}
}

func another(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
			return v + " ", true // JSON still, of which the bytes were stamped
		}
		return v + "x", true
	case float64:
		return v + 1, true
	case bool:
		return !v, true
	}
	return v, false
}

// changedClaims returns a change for each field of what a receipt claims.
func changedClaims(t *testing.T, r Receipt, member string) map[string]func(*Receipt) {
	t.Helper()
	var v map[string]any
	expect.NoError(t, json.Unmarshal(expect.Value(json.Marshal(r))(t), &v))
	changes := map[string]func(*Receipt){}
	leaves(v[member], member, func(path string) {
		if strings.Contains(path, "/results/") {
			return // what follows from them counts, and not their bytes
		}
		other := expect.Value(json.Marshal(v))(t)
		changes[path] = func(r *Receipt) {
			*r = Receipt{}
			expect.NoError(t, json.Unmarshal(other, r))
		}
	})
	expect.That(t, len(changes) > 5, "only %d fields", len(changes))
	return changes
}

// changedTexts returns a change of a claim for each field of its texts.
func changedTexts(t *testing.T, name string, w *walked, of func(r *Receipt) *walked) map[string]func(*Receipt) {
	t.Helper()
	changes := map[string]func(*Receipt){}
	add := func(what, text string, put func(w *walked, text string)) {
		var v any
		expect.NoError(t, json.Unmarshal([]byte(text), &v))
		leaves(v, what, func(path string) {
			other := string(expect.Value(json.Marshal(v))(t))
			changes[name+" "+path] = func(r *Receipt) { put(of(r), other) }
		})
	}
	add("asked", w.Asked, func(w *walked, text string) { w.Asked = text })
	add("opened", w.Opened, func(w *walked, text string) { w.Opened = text })
	for i, act := range w.Acts {
		add(fmt.Sprint("act ", i+1), act, func(w *walked, text string) { w.Acts[i] = text })
	}
	return changes
}

// changedActs are changes of the list of acts, also with their entries.
func changedActs(name string, n int, of func(r *Receipt) *walked) map[string]func(*Receipt) {
	changes := map[string]func(*Receipt){
		name + " with no route": func(r *Receipt) { *of(r) = walked{} },
		name + ", lower need":   func(r *Receipt) { both(of(r), `"need":2`, `"need":1`) },
		name + ", another rule": func(r *Receipt) { both(of(r), "10万円以上", "すべて") },
		name + ", another via":  func(r *Receipt) { both(of(r), "manager of @sato", "group @keiri") },
		name + ", one act more": func(r *Receipt) { of(r).Acts = append(of(r).Acts, of(r).Acts[0]) },
		name + ", another principal": func(r *Receipt) {
			of(r).Acts[1] = strings.ReplaceAll(of(r).Acts[1], "U0TAKADA", "U0ITO")
		},
	}
	for i := range n {
		changes[fmt.Sprint(name, ", act ", i+1,
			" removed")] = func(r *Receipt) { of(r).Acts = slices.Delete(of(r).Acts, i, i+1) }
		changes[fmt.Sprint(name, ", act ", i+1, " and its entry removed")] = func(r *Receipt) {
			var act circulation.Act
			_ = json.Unmarshal([]byte(of(r).Acts[i]), &act)
			of(r).Acts = slices.Delete(of(r).Acts, i, i+1)
			r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool { return x.At.Equal(act.At) })
		}
		if i > 0 {
			changes[fmt.Sprint(name, ", acts ", i, " and ", i+1, " swapped")] = func(r *Receipt) {
				acts := of(r).Acts
				acts[i-1], acts[i] = acts[i], acts[i-1]
			}
		}
	}
	return changes
}

func both(w *walked, old, with string) {
	w.Asked, w.Opened = strings.ReplaceAll(w.Asked, old, with), strings.ReplaceAll(w.Opened, old, with)
}

// verify.py refuses a receipt in which any part of a route, of the rule, or of what was done on it is another one.
func TestEveryTamperingWithARouteIsFound(t *testing.T) {
	steps, step := ofSteps(t, settling()), ofStep(t, settling())
	r := provedOnRoutes(t, steps, step)
	var j judged
	j.add(t, "an execution", r, true)
	ofSteps, ofStep := func(r *Receipt) *walked { return r.Execution.Steps.Gate },
		func(r *Receipt) *walked { return r.Execution.Writes[1].Gate }
	for name, of := range map[string]func(r *Receipt) *walked{"steps": ofSteps, "step": ofStep} {
		texts := changedTexts(t, name, of(&r), of)
		expect.That(t, len(texts) > 100, "only %d fields", len(texts))
		j.changed(t, name, r, texts)
		j.changed(t, name, r, changedActs(name, len(settling()), of))
	}
	rows := map[string]func(*Receipt){
		"the steps' route left out": func(r *Receipt) { r.Execution.Steps.Gate = nil },
		"the step's route left out": func(r *Receipt) { r.Execution.Writes[1].Gate = nil },
		"one for the other":         func(r *Receipt) { r.Execution.Writes[1].Gate = r.Execution.Steps.Gate },
		"of another write": func(r *Receipt) {
			r.Execution.Writes[2].Gate, r.Execution.Writes[1].Gate = r.Execution.Writes[1].Gate, nil
		},
	}
	for i, x := range r.Rows {
		if strings.Contains(x.Content, "acts_hash") || strings.Contains(x.Content, "route_hash") {
			rows[fmt.Sprint("row ", i, " left out")] = func(r *Receipt) { r.Rows = slices.Delete(r.Rows, i, i+1) }
			rows[fmt.Sprint("row ", i, " changed")] = func(r *Receipt) {
				r.Rows[i].Content = strings.Replace(x.Content, "_hash", "_Hash", 1)
			}
		}
	}
	expect.That(t, len(rows) == 4+2*(2*(len(settling())+1)+1), "%d rows", len(rows))
	j.changed(t, "an execution", r, rows)
	j.agree(t)
}

// namedGates is how the entry of the end names the gates under a rule, beside the stamps that are under none.
func namedGates(ruled map[string]*circulated) map[string]any {
	third, fifth, sixth := task.GateKey(1, 1, 3), task.GateKey(1, 1, 5), task.GateKey(1, 1, 6)
	out := map[string]any{third: map[string]any{"step": "step-3"}, fifth: map[string]any{"step": "step-5"}}
	for key, g := range ruled {
		sealed := g.Gate.Sealed()
		if step, is := map[string]string{third: "step-3", fifth: "step-5", sixth: "step-6"}[key]; is {
			sealed["step"] = step
		}
		out[key] = sealed
	}
	return out
}

// naming returns the rows with the entry of the execution's end naming these gates.
func naming(t *testing.T, rows []chain.Row, gates map[string]any) []chain.Row {
	t.Helper()
	return edited(t, rows, func(row, details map[string]any) {
		if row["action"] == failed {
			details["gates"] = gates
		}
	})
}

// asked is a receipt with a gate of each type, and how the entry of the end names them.
type asked struct {
	Receipt
	rows  []chain.Row // of the log
	gates map[string]any
	own   map[string][]chain.Row // of each gate, by its key
}

// everywhere is the receipt of an execution about whose steps and steps' arguments people were asked.
func everywhere(t *testing.T) *asked {
	t.Helper()
	denied := settling()[:1]
	denied[0].Kind, denied[0].Text = circulation.Deny, "宛先が違う"
	by := map[string]*circulated{
		task.ProcessKey(1): ofSteps(t, settling()), task.GateKey(1, 1, 3): ofStep(t, settling()),
		task.GateKey(1, 1, 5): ofStepAsked(t, "step-5", secondSent, 5500*time.Millisecond, settling()),
		task.GateKey(1, 1, 6): ofStepAsked(t, "step-6", messageSent, 6500*time.Millisecond, denied),
	}
	x := &asked{Receipt: proved(t), gates: namedGates(by), own: map[string][]chain.Row{}}
	old := theEntries()
	x.rows = append(x.rows, old[:4]...)
	shown := map[string]*walked{}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		g := by[key]
		x.rows, x.own[key], shown[key] = append(x.rows, g.rows...), g.rows, walkOf(&g.Gate, g.asked)
	}
	x.rows = append(x.rows, old[7:]...)
	e := x.Execution
	e.Steps.Gate = shown[task.ProcessKey(1)]
	e.Writes[1].Gate, e.Writes[2].Gate = shown[task.GateKey(1, 1, 3)], shown[task.GateKey(1, 1, 5)]
	e.Gates = []stepGate{{"step-6", shown[task.GateKey(1, 1, 6)]}}
	return x
}

// sealed returns the receipt of the log, whose end names these gates.
func (x *asked) sealed(t *testing.T, gates map[string]any) Receipt {
	t.Helper()
	r := newSealer(t).seal(t, naming(t, x.rows, gates), 5).receipt()
	r.Execution = x.Execution
	return r.part()
}

// leaves returns a change that leaves out all entries of a gate.
func (x *asked) leaves(key string, then func(e *Proof)) func(*Receipt) {
	return func(r *Receipt) {
		for _, own := range x.own[key] {
			*r = r.without(own.Key)
		}
		then(r.Execution)
	}
}

// The entry of the end names the gates at which people were asked. So a receipt that leaves out all entries of one is
// found.
func TestAGateThatIsLeftOutWithAllItsEntriesIsFound(t *testing.T) {
	x := everywhere(t)
	unasked := func(step int) func(*Proof) {
		return func(e *Proof) { e.Writes[step].Gated, e.Writes[step].Gate = false, nil }
	}
	var j judged
	r := x.sealed(t, x.gates)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "step step-6 made no write") && strings.Contains(out, "宛先が違う"),
		"%v\n%s", err, out)
	j.add(t, "as it was", r, true)
	of := func(r *Receipt) *walked { return r.Execution.Gates[0].Gate }
	j.changed(t, "a gate", r, changedTexts(t, "gate", of(&r), of))
	j.changed(t, "left out", r, map[string]func(*Receipt){
		"the route of an uncalled one": func(r *Receipt) { r.Execution.Gates[0].Gate = nil },
		"one of another step":          func(r *Receipt) { r.Execution.Gates[0].Step = "step-2" },
		"one of no step":               func(r *Receipt) { r.Execution.Gates[0].Step = "step-9" },
		"nothing, but one is there twice": func(r *Receipt) {
			r.Execution.Gates = append(r.Execution.Gates, r.Execution.Gates[0])
		},
		"the gate of a write":         x.leaves(task.GateKey(1, 1, 5), unasked(2)),
		"the gate of an uncalled one": x.leaves(task.GateKey(1, 1, 6), func(e *Proof) { e.Gates = nil }),
		"the gate of a checked write": x.leaves(task.GateKey(1, 1, 3), unasked(1)),
		"the steps' gate":             x.leaves(task.ProcessKey(1), func(e *Proof) { e.Steps.Gate = nil }),
	})
	for key := range x.gates {
		for what, change := range map[string]func(g map[string]any){
			"its route": func(g map[string]any) { g["route_hash"] = aggregate.HashOf("another") },
			"its acts":  func(g map[string]any) { g["acts_hash"] = aggregate.HashOf("others") },
			"its rule":  func(g map[string]any) { delete(g, "route_hash"); delete(g, "acts_hash") },
		} {
			gates := maps.Clone(x.gates)
			g := maps.Clone(gates[key].(map[string]any))
			change(g)
			gates[key] = g
			j.add(t, "the end says something else of "+key+", "+what, x.sealed(t, gates), false)
		}
		gates := maps.Clone(x.gates)
		delete(gates, key)
		j.add(t, "the end names no "+key, x.sealed(t, gates), false)
	}
	j.agree(t)
}

// The entry of a call that was cancelled or expired names its route, and what was done on it.
func TestTheGateOfACallThatWasCancelledIsNotLeftOut(t *testing.T) {
	hash := aggregate.HashOf(content)
	c := circulate(t, "action", actionID, actionID, began().Add(1500*time.Millisecond),
		map[string]any{"type": "call", "hash": hash}, settling()[:1], "action", actionID, "1", hash)
	sealed := string(aggregate.Details(c.Gate.Sealed()))
	of := func(end, details string) Receipt {
		return ofCall(t, settling()[:1], actionProof{Status: "cancelled"}, end, details)
	}
	leave := func(r *Receipt) {
		r.Action.Gate = nil
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool {
			return strings.Contains(x.Content, "action.routed") || strings.Contains(x.Content, "action.stamped")
		})
	}
	var j judged
	for _, end := range []string{"cancelled", "expired"} {
		r := of(end, `"gate":`+sealed)
		j.add(t, end, r, true)
		j.changed(t, end, r, map[string]func(*Receipt){"left out": leave})
		j.add(t, end+", without its acts", of(end, `"gate":{"route_hash":`+strings.Split(sealed, `"route_hash":`)[1]), false)
		j.add(t, end+", with no gate", of(end, `"gate":{}`), false)
	}
	j.agree(t)
}
