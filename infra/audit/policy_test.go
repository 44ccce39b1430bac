package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

// detailed adds details to the entries of an action.
func detailed(t *testing.T, rows []chain.Row, action string, more map[string]any) []chain.Row {
	t.Helper()
	for i, x := range rows {
		var row, details map[string]any
		expect.NoError(t, json.Unmarshal(x.Content, &row))
		if row["action"] != action {
			continue
		}
		details, is := row["details"].(map[string]any)
		if text, _ := row["details"].(string); !is {
			expect.NoError(t, json.Unmarshal([]byte(text), &details))
		}
		maps.Copy(details, more)
		row["details"] = details
		rows[i].Content = expect.Value(chain.Canonical(row))(t)
	}
	return rows
}

// Of two policies that people stamped, the receipt has the one by which the steps were made.
func TestAnotherStampedPolicyIsFound(t *testing.T) {
	const other = "振り込みは 100 万円まで"
	at := began().Add(1500 * time.Millisecond)
	content := expect.Value(chain.Canonical(map[string]any{"action": "prompt.approved", "resource_id": "P0",
		"task_id": taskID, "timestamp": aggregate.TimeText(at), "actor_id": "U0TANAKA", "actor_type": "user",
		"details": map[string]any{"version": 1, "hash": aggregate.HashOf(other)}}))(t)
	row := chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#y"), Content: content, At: at}
	with := func(more map[string]any) Receipt {
		rows := detailed(t, slices.Insert(theEntries(), 2, row), "process.approved", more)
		r := newSealer(t).seal(t, rows, 5).receipt()
		r.Execution = proved(t).Execution
		return r.part()
	}
	var j judged
	j.add(t, "its policy", with(nil), true)
	j.changed(t, "its policy", with(nil), map[string]func(*Receipt){
		"the other one": func(r *Receipt) { r.Execution.Policy = stamped{ID: "P0", Version: 1, Text: other} }})
	j.add(t, "made by the other one", with(map[string]any{"policy": "P0"}), false)
	j.add(t, "made by other words", with(map[string]any{"policy_hash": aggregate.HashOf(other)}), false)
	old := with(map[string]any{"policy": ""})
	j.add(t, "of an entry without it", old, true)
	j.agree(t)
	const says = "names no policy: by which the steps were made is not proved"
	out, err := printed(t, old)
	expect.That(t, err == nil && strings.Contains(out, says), "%v\n%s", err, out)
	out, err = printed(t, with(nil))
	expect.That(t, err == nil && !strings.Contains(out, says), "%v\n%s", err, out)
}
