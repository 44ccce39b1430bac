package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// changesOfARoute are changes of one part of a gate's claim, with what both verifiers say of each.
var changesOfARoute = []struct{ name, old, with, says string }{
	{"the rule's id", `"id":"r1"`, `"id":"r2"`, notStamped},
	{"the rule's name", "10万円以上", "すべて", notStamped},
	{"the rule's revision", `"revision":3`, `"revision":2`, notStamped},
	{"somebody whom the route asks", `"user":"U0TANAKA"`, `"user":"U0EVIL"`, notStamped},
	{"how they were found", "manager of @sato", "group @keiri", notOpened},
	{"the order of the stages", `"name":"課長"`, `"name":"部長"`, notOpened},
	{"how many stamps a stage needs", `"need":2`, `"need":1`, notOpened},
	{"how many hands", `"hands":3`, `"hands":1`, notOpened},
	{"whose request it is", `"U0SATO"`, `"U0ITO"`, notOpened},
	{"for how long it is good", `"days":14`, `"days":90`, notOpened},
	{"why a stage is left out", `"left_out":"nobody"`, `"left_out":""`, notOpened},
	{"act 1, its hand", `"hand":{"user":"U0SUZUKI"`, `"hand":{"user":"U0ITO"`, "act 1 is said to be a stamp of U0ITO"},
	{"act 4, its principal", `"principal":{"user":"U0TAKADA"`, `"principal":{"user":"U0ITO"`, "act 4"},
	{"act 6, its time", `"at":"2026`, `"at":"2025`, "act 6 is said to be a stamp of U0KATO"},
	{"act 6, its stage", `"stage":2`, `"stage":1`, "act 6 is said to be a stamp of U0KATO"},
	{"act 7, its hash", `"hash":"`, `"hash":"0`, "act 7"},
	{"act 7, its form", `"form":1`, `"form":2`, "act 7"},
	{"act 2, its kind", `"take_back"`, `"stamp"`, "act 2 is said to be a stamp of U0SUZUKI"},
	{"act 4, the delegation", "U0MORI#U0TAKADA#2026-04-01", "U0MORI#U0TAKADA#2026-05-01", "act 4"},
	{"act 4, the delegation's revision", `"rev":4`, `"rev":5`, "act 4"},
	{"act 5, the successor", `"to":{"user":"U0KATO"`, `"to":{"user":"U0EVIL"`, "act 5"},
	{"act 5, who is replaced", `"for":{"user":"U0ITO"`, `"for":{"user":"U0TAKADA"`, "act 5"},
	{"act 5, by which row", `"key":"TENANT"`, `"key":"TENANTS"`, "act 5"},
	{"act 5, why", "退職のため", "休暇のため", "act 5"},
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

// Of a write and of an action both verifiers say which part of the route, or of what was done on it, is not as sealed.
func TestBothVerifiersSayWhatOfARouteWasChanged(t *testing.T) {
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
			done := actionProof{Status: "succeeded", ApprovedBy: "user", BaseVersion: "v1", Version: "v2"}
			return ofAction(t, settling(), done, "completed", `"version":"v2"`),
				func(r *Receipt) *walked { return r.Action.Gate }
		},
	}
	for what, make := range receipts {
		for _, x := range changesOfARoute {
			r, of := make()
			changedRoute(t, of(&r), x.name, x.old, x.with)
			out, err := printed(t, r)
			name := x.name + " of " + what
			expect.That(t, err != nil && strings.Contains(out, what+": "+x.says), "%s: %v\n%s", name, err, out)
			names, says = append(names, name), append(says, what+": "+x.says)
			lines.Write(append(expect.Value(json.Marshal(r))(t), '\n'))
		}
	}
	for n, got := range python(t, lines.Bytes()) {
		expect.That(t, strings.Contains(strings.Join(got.Claims, "\n"), says[n]), "%s: verify.py says %q", names[n], got.Claims)
	}
}

// Both programs print the same of what was asked and done, in words that a reader understands.
func TestBothVerifiersPrintTheSameOfARoute(t *testing.T) {
	r := everywhere(t)
	said := map[string][]string{}
	for by, verify := range verifiers {
		out, err := verify(t, r.sealed(t, r.gates))
		expect.That(t, err == nil, "%s: %v\n%s", by, err, out)
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "    ") || strings.Contains(line, "under the rule") {
				said[by] = append(said[by], strings.TrimRight(line, "\n"))
			}
		}
	}
	expect.Is(t, strings.Join(said["verify.py"], "\n"), strings.Join(said["audit"], "\n"))
	expect.That(t, len(said["audit"]) > 100, "only %d lines", len(said["audit"]))
}
