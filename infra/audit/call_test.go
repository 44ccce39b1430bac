package main

import (
	"strings"
	"testing"
)

// What a grant proves is that it was stamped and taken, once: not that anything ran.
func TestVerifyHoldsACallOfAnOutsideAgent(t *testing.T) {
	const content = `{"base":"","key":"k1","answers":"U1","tool":"Bash","arguments":"{\"command\":\"rm x\"}","elsewhere":true}`
	receipt := func(typ, status string, entries ...string) Receipt {
		return actedAs(t, actionProof{Type: typ, Status: status, ApprovedBy: "user", Payload: content}, entries)
	}
	granted := []string{"proposed", "", "approved", "", "granted", `"by":"U0SUZUKI"`}
	made := []string{"proposed", "", "approved", "", "started", `"base_version":""`, "completed", `"version":""`}
	var j judged
	j.add(t, "granted", receipt("grant", "granted", granted...), true)
	j.add(t, "made", receipt("call", "succeeded", made...), true)
	j.add(t, "granted, and said to be made", receipt("grant", "succeeded", granted...), false)
	j.add(t, "made, and said to be granted", receipt("call", "granted", made...), false)
	j.add(t, "granted without a stamp", receipt("grant", "granted", "proposed", "", "granted", ""), false)
	unsaid := actedAs(t, actionProof{Type: "grant", Status: "granted", Payload: content}, []string{"proposed", "",
		"granted", ""})
	j.add(t, "granted, and the stamp is left out", unsaid, false)
	for what, with := range map[string]string{"rm x": "rm y", "k1": "k2", "U1": "U2", "Bash": "Read",
		`"elsewhere":true`: `"x":1`} {
		r := receipt("grant", "granted", granted...)
		r.Action.Payload = strings.Replace(content, what, with, 1)
		j.add(t, "another "+what, r, false)
	}
	for name, change := range map[string]func(*actionProof){
		"another type":    func(x *actionProof) { x.Type = "call" },
		"another id":      func(x *actionProof) { x.ID = taskID },
		"another session": func(x *actionProof) { x.Session = taskID },
		"by a rule":       func(x *actionProof) { x.ApprovedBy = "auto" },
		"a number":        func(x *actionProof) { x.Number = "2026-000001" },
		"another status":  func(x *actionProof) { x.Status = "failed" },
		"files":           func(x *actionProof) { x.Version = "v2" },
	} {
		r := receipt("grant", "granted", granted...)
		change(r.Action)
		j.add(t, name, r, false)
	}
	j.agree(t)
}
