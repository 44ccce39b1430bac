package main

import (
	"bytes"
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

// changesOfARoute are changes of one part of a gate's claim, with what is said of each.
var changesOfARoute = []struct{ name, old, with, says string }{
	{"the rule's id", `"id":"r1"`, `"id":"r2"`, notStamped},
	{"the rule's name", "10万円以上", "すべて", notStamped},
	{"the rule's revision", `"revision":3`, `"revision":2`, notStamped},
	{"somebody whom the route asks", `"user":"U0TANAKA"`, `"user":"U0EVIL"`, notStamped},
	{"how they were found", "manager of @sato", "group @keiri", notOpened},
	{"the order of the stages", `"name":"課長"`, `"name":"部長"`, notOpened},
	{"how many stamps a stage needs", `"need":2`, `"need":1`, notOpened},
	{"whose request it is", `"U0SATO"`, `"U0ITO"`, notOpened},
	{"for how long it is good", `"days":14`, `"days":90`, notOpened},
	{"act 1, its hand", `"hand":{"user":"U0SUZUKI"`, `"hand":{"user":"U0ITO"`, "act 1 is said to be a stamp of U0ITO"},
	{"act 2, its principal", `"principal":{"user":"U0TAKADA"`, `"principal":{"user":"U0ITO"`, "act 2"},
	{"act 3, its time", `"at":"2026`, `"at":"2025`, "act 3 is said to be a stamp of U0ITO"},
	{"act 3, its stage", `"stage":2`, `"stage":1`, "act 3 is said to be a stamp of U0ITO"},
	{"act 4, its hash", `"hash":"`, `"hash":"0`, "act 4"},
	{"act 4, its form", `"form":1`, `"form":2`, "act 4"},
	{"act 2, the delegation", "U0MORI#U0TAKADA#2026-04-01", "U0MORI#U0TAKADA#2026-05-01", "act 2"},
	{"act 2, the delegation's revision", `"rev":4`, `"rev":5`, "act 2"},
}

const (
	notStamped = "what is said to be stamped is not what was"
	notOpened  = "the route is not the one that was opened"
)

// changedRoute changes a part of the claim of a gate: that of an act, or of both texts of the route.
func changedRoute(t *testing.T, w *walked, name, old, with string) {
	t.Helper()
	was := w.Asked + w.Opened + strings.Join(w.Acts, "")
	if strings.HasPrefix(name, "act ") {
		n := int(name[4] - '1')
		w.Acts[n] = strings.Replace(w.Acts[n], old, with, 1)
	} else {
		both(w, old, with)
	}
	expect.That(t, was != w.Asked+w.Opened+strings.Join(w.Acts, ""), "%s: nothing was changed in %s", name, was)
}

// Of a write and of a call verify.py says which part of the route, or of what was done on it, is not as sealed.
func TestVerifySaysWhatOfARouteWasChanged(t *testing.T) {
	var lines bytes.Buffer
	var names, says []string
	receipts := map[string]func() (Receipt, func(*Receipt) *walked){
		"the steps": func() (Receipt, func(*Receipt) *walked) {
			return provedOnRoutes(t, ofSteps(t, settling()), ofStep(t, settling())),
				func(r *Receipt) *walked { return r.Execution.Steps.Gate }
		},
		"step-3": func() (Receipt, func(*Receipt) *walked) {
			return provedOnRoutes(t, ofSteps(t, settling()), ofStep(t, settling())),
				func(r *Receipt) *walked { return r.Execution.Writes[1].Gate }
		},
		"the action": func() (Receipt, func(*Receipt) *walked) {
			return ofCall(t, settling(), madeCall, "started", `"base_version":""`, "completed", `"version":""`),
				func(r *Receipt) *walked { return r.Action.Gate }
		},
	}
	for what, make := range receipts {
		for _, x := range changesOfARoute {
			r, of := make()
			changedRoute(t, of(&r), x.name, x.old, x.with)
			names, says = append(names, x.name+" of "+what), append(says, what+": "+x.says)
			lines.Write(append(expect.Value(json.Marshal(r))(t), '\n'))
		}
	}
	for n, got := range python(t, lines.Bytes()) {
		expect.That(t, strings.Contains(strings.Join(got.Claims, "\n"), says[n]), "%s: verify.py says %q", names[n],
			got.Claims)
	}
}

// withNumber is provedOnRoutes by a rule that gives numbers, with the numbers that the claim and the entries of the
// attempt's beginning and end say; "": none.
func withNumber(t *testing.T, claim, begun, ended string) Receipt {
	t.Helper()
	steps, step, old := ofNumbered(t), ofStep(t, settling()), theEntries()
	at := began().Add(4200 * time.Millisecond)
	details := map[string]any{"attempt": 1}
	said := func(details map[string]any, text string) {
		if text != "" {
			details["number"] = text
		}
	}
	said(details, begun)
	content := expect.Value(chain.Canonical(map[string]any{"action": "execution.started", "resource_id": execution,
		"task_id": taskID, "timestamp": aggregate.TimeText(at), "details": details, "actor_type": "system"}))(t)
	started := chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"), Content: content,
		At: at}
	var end map[string]any
	expect.NoError(t, json.Unmarshal(old[7].Content, &end))
	said(end["details"].(map[string]any), ended)
	old[7].Content = expect.Value(chain.Canonical(end))(t)
	rows := naming(t, slices.Concat(old[:4], steps.rows, []chain.Row{started}, step.rows, old[6:]),
		namedGates(onRoutes(steps, step)))
	r := newSealer(t).seal(t, rows, 5).receipt()
	r.Execution = proved(t).Execution
	r.Execution.Number = claim
	r.Execution.Steps.Gate, r.Execution.Writes[1].Gate = walkOf(&steps.Gate, steps.asked), walkOf(&step.Gate, step.asked)
	return r.part()
}

// A receipt can't have another number than the sealed entries, nor none where the rule gives one.
func TestVerifyFindsAnotherNumber(t *testing.T) {
	const number, other = "2026-000123", "2026-000124"
	r := withNumber(t, number, number, number)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "decision number "+number), "%v:\n%s", err, out)
	var j judged
	j.add(t, "with its number", r, true)
	j.changed(t, "with its number", r, map[string]func(*Receipt){
		"another number": func(r *Receipt) { r.Execution.Number = other },
		"no number":      func(r *Receipt) { r.Execution.Number = "" },
		"in the rows, too": func(r *Receipt) {
			r.Execution.Number = other
			for i := range r.Rows {
				r.Rows[i].Content = strings.ReplaceAll(r.Rows[i].Content, number, other)
			}
		},
		"a rule without numbers": func(r *Receipt) { both(r.Execution.Steps.Gate, `,"numbered":true`, "") },
	})
	for name, x := range map[string][3]string{
		"none was given":                {"", "", ""},
		"it began with another":         {number, other, number},
		"it ended with another":         {number, number, other},
		"the entry of its end has none": {number, number, ""},
	} {
		j.add(t, name, withNumber(t, x[0], x[1], x[2]), false)
	}
	j.agree(t)
}

// So can't the receipt of a call, nor of a grant that was taken.
func TestVerifyFindsAnotherNumberOfACall(t *testing.T) {
	rule := circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3, Numbered: true}
	with := func(claim, begun, ended string) Receipt {
		said := func(details, number string) string {
			if number == "" {
				return details
			}
			return details + `,"number":"` + number + `"`
		}
		proof := madeCall
		proof.Number = claim
		return ofCallBy(t, rule, settling(), proof, "started", said(`"base_version":""`, begun), "completed",
			said(`"version":""`, ended))
	}
	taken := func(claim, said string) Receipt {
		proof := actionProof{Type: "grant", Status: "granted", ApprovedBy: "user", Number: claim}
		return ofCallBy(t, rule, settling(), proof, "granted", `"by":"U0TANAKA"`+said)
	}
	const number, other = "2026-000123", "2026-000124"
	out, err := printed(t, with(number, number, number))
	expect.That(t, err == nil && strings.Contains(out, "decision number "+number), "%v:\n%s", err, out)
	var j judged
	j.add(t, "with its number", with(number, number, number), true)
	for name, x := range map[string][3]string{
		"none was given": {"", "", ""}, "another is claimed": {other, number, number}, "none is claimed": {"", number,
			number},
		"it began with another": {number, other, number}, "it ended with another": {number, number, other},
		"the entry of its end has none": {number, number, ""},
	} {
		j.add(t, name, with(x[0], x[1], x[2]), false)
	}
	j.add(t, "taken with its number", taken(number, `,"number":"`+number+`"`), true)
	for name, x := range map[string][2]string{
		"taken, and none was given": {"", ""}, "taken, and another is claimed": {other, `,"number":"` + number + `"`},
		"taken, and none is claimed": {"", `,"number":"` + number + `"`},
		"taken without one":          {number, ""},
	} {
		j.add(t, name, taken(x[0], x[1]), false)
	}
	j.agree(t)
}
