package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// withNumber is provedOnRoutes by a rule that gives numbers, with the numbers that the claim and the entries of the
// attempt's beginning and end say; "": none.
func withNumber(t *testing.T, claim, begun, ended string) Receipt {
	t.Helper()
	steps, step, old := ofNumbered(t), ofStep(t, settling()), theEntries()
	at := began().Add(4200 * time.Millisecond)
	details := map[string]any{"attempt": 1}
	if begun != "" {
		details["number"] = begun
	}
	content := expect.Value(chain.Canonical(map[string]any{"action": "execution.started", "resource_id": execution,
		"task_id": taskID, "timestamp": aggregate.TimeText(at), "details": details, "actor_type": "system"}))(t)
	started := chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"), Content: content, At: at}
	var end map[string]any
	expect.NoError(t, json.Unmarshal(old[7].Content, &end))
	if ended != "" {
		end["details"].(map[string]any)["number"] = ended
	}
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
func TestBothVerifiersFindAnotherNumber(t *testing.T) {
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

// So can't the receipt of an action.
func TestBothVerifiersFindAnotherNumberOfAnAction(t *testing.T) {
	rule := circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3, Numbered: true}
	with := func(claim, begun, ended string) Receipt {
		said := func(details, number string) string {
			if number == "" {
				return details
			}
			return details + `,"number":"` + number + `"`
		}
		proof := actionProof{Status: "succeeded", ApprovedBy: "user", BaseVersion: "v1", Version: "v2", Number: claim}
		return ofActionBy(t, rule, settling(), proof, said(`"base_version":"v1"`, begun), "completed", said(`"version":"v2"`, ended))
	}
	const number, other = "2026-000123", "2026-000124"
	out, err := printed(t, with(number, number, number))
	expect.That(t, err == nil && strings.Contains(out, "decision number "+number), "%v:\n%s", err, out)
	var j judged
	j.add(t, "with its number", with(number, number, number), true)
	for name, x := range map[string][3]string{
		"none was given": {"", "", ""}, "another is claimed": {other, number, number}, "none is claimed": {"", number, number},
		"it began with another": {number, other, number}, "it ended with another": {number, number, other},
		"the entry of its end has none": {number, number, ""},
	} {
		j.add(t, name, with(x[0], x[1], x[2]), false)
	}
	j.agree(t)
}
