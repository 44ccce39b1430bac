package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// leaves calls change for each number, text and truth in a JSON value, with the value as it is with that one changed.
func leaves(v any, path string, change func(path string)) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			was := v[name]
			v[name] = leaves(was, path+"/"+name, func(path string) { change(path) })
			if other, leaf := another(was); leaf {
				v[name] = other
				change(path + "/" + name)
				v[name] = was
			}
		}
	case []any:
		for i, was := range v {
			leaves(was, fmt.Sprint(path, "/", i), change)
			if other, leaf := another(was); leaf {
				v[i] = other
				change(fmt.Sprint(path, "/", i))
				v[i] = was
			}
		}
	}
	return v
}

func another(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v + "x", true
	case float64:
		return v + 1, true
	case bool:
		return !v, true
	}
	return v, false
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
