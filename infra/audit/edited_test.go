package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// editedBy is the receipt of an execution whose steps an asker wrote by a sealed entry, with this hash of them. The
// entry of their approval says it, too, unless approved is empty.
func editedBy(t *testing.T, claim, action, actor, hash, approved string) Receipt {
	t.Helper()
	at := began().Add(3500 * time.Millisecond)
	content := expect.Value(chain.Canonical(map[string]any{"action": action, "resource_id": "S1", "task_id": taskID,
		"timestamp": aggregate.TimeText(at), "actor_id": actor, "actor_type": "user",
		"details": map[string]any{"from": 0, "version": 1, "hash": hash}}))(t)
	row := chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"), Content: content, At: at}
	rows := theEntries()
	if approved != "" {
		rows = detailed(t, rows, "process.approved", map[string]any{"edited_by": approved})
	}
	r := newSealer(t).seal(t, slices.Insert(rows, 4, row), 5).receipt()
	r.Execution = proved(t).Execution
	r.Execution.Steps.Edited = claim
	return r.part()
}

// Who wrote a version that was given back stands in the receipt, and neither another person nor none does instead.
func TestVerifyFindsAnotherEditor(t *testing.T) {
	const sato, edited = "U0SATO", "process.edited"
	hash := aggregate.HashOf(theSteps)
	r := editedBy(t, sato, edited, sato, hash, sato)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "edited by U0SATO at "), "%v:\n%s", err, out)
	var j judged
	j.add(t, "edited", r, true)
	j.changed(t, "edited", r, map[string]func(*Receipt){
		"by another":                  func(r *Receipt) { r.Execution.Steps.Edited = "U0TANAKA" },
		"by nobody":                   func(r *Receipt) { r.Execution.Steps.Edited = "" },
		"a policy that nobody edited": func(r *Receipt) { r.Execution.Policy.Edited = sato },
		"in the rows, too": func(r *Receipt) {
			r.Execution.Steps.Edited = "U0TANAKA"
			for i := range r.Rows {
				r.Rows[i].Content = strings.ReplaceAll(r.Rows[i].Content, sato, "U0TANAKA")
			}
		},
	})
	j.add(t, "other steps were edited", editedBy(t, sato, edited, sato, aggregate.HashOf("other"), sato), false)
	j.add(t, "no entry says so", editedBy(t, sato, "process.drafted", sato, hash, sato), false)
	j.add(t, "another was approved", editedBy(t, sato, edited, sato, hash, "U0TANAKA"), false)
	j.add(t, "nobody's was approved", editedBy(t, sato, edited, sato, hash, ""), false)
	r = editedBy(t, "", edited, sato, hash, sato)
	r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool { return strings.Contains(x.Content, edited) })
	j.add(t, "left out with its entry", r, false)
	j.agree(t)
}
