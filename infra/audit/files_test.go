package main

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

const quotation = `{"files":[{"id":"F1","name":"見積書.pdf","kind":"pdf","bytes":8,"sha256":"` +
	`a6f4c0f1a8f1b8a6d3c8f5e0d0f4c3b2a1908f7e6d5c4b3a29181716151413ff"},{"id":"F2","name":"a.exe","bytes":3,` +
	`"sha256":"00","left":"type"},{"id":"F3","name":"gone.pdf"}]}`

// filed is the receipt of an execution whose policy and steps were stamped with what has this hash; "": with nothing.
func filed(t *testing.T, hash string) Receipt {
	t.Helper()
	all := theEntries()
	for i, x := range all {
		var row map[string]any
		expect.NoError(t, json.Unmarshal([]byte(x.Content), &row))
		if action := row["action"]; hash == "" || action != "prompt.approved" && action != "process.approved" {
			continue
		}
		details, is := row["details"].(map[string]any)
		if text, _ := row["details"].(string); !is {
			expect.NoError(t, json.Unmarshal([]byte(text), &details))
			row["details"] = details
		}
		details["enclosed"] = hash
		all[i].Content = expect.Value(chain.Canonical(row))(t)
	}
	r := newSealer(t).seal(t, all, 5).receipt()
	r.Execution = proved(t).Execution
	r.Execution.Enclosed = quotation
	return r.part()
}

// Which files were stamped stands in the receipt: neither another hash, name or size does instead, nor no file.
func TestVerifyFindsOtherFiles(t *testing.T) {
	hash := aggregate.HashOf(quotation)
	r := filed(t, hash)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "with the file 見積書.pdf of 8 bytes, sha256 a6f4") &&
		strings.Contains(out, "not attached: type") && strings.Contains(out, "gone.pdf could not be had"), "%v:\n%s", err, out)
	other := func(old, is string) func(*Receipt) {
		return func(r *Receipt) { r.Execution.Enclosed = strings.Replace(quotation, old, is, 1) }
	}
	var j judged
	j.add(t, "with files", r, true)
	j.changed(t, "with files", r, map[string]func(*Receipt){
		"another hash": other("a6f4", "a6f5"), "another name": other("見積書", "見積書2"), "another size": other(":8,", ":9,"),
		"attached after all": other(`,"left":"type"`, ""), "without files": func(r *Receipt) { r.Execution.Enclosed = "" },
	})
	j.add(t, "other files were stamped", filed(t, aggregate.HashOf("other")), false)
	j.add(t, "no file was stamped", filed(t, ""), false)
	j.agree(t)
}
