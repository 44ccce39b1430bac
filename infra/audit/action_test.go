package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/runtime/expect"
)

const (
	actionID = "01M2H5DTC0VM37SYX3HZHVW0AC"
	script   = `{"base":"v1","command":["go","test","./..."],"timeout_seconds":60}`
)

// acted returns the receipt of an agent's action whose outcome was unknown at first.
func acted(t *testing.T) Receipt {
	t.Helper()
	return actedAs(t, actionProof{Status: "succeeded", ApprovedBy: "user", BaseVersion: "v1", Version: "v2"}, []string{
		"proposed", `"number":1`, "approved", "", "started", `"base_version":""`, "started", `"base_version":"v1"`,
		"failed", `"outcome":"unknown"`, "late", `"was":"unknown","status":"succeeded","version":"v2"`,
	})
}

// actedAs returns the receipt of an action with these entries, or of a call, which is its own session. Each is given as
// its name and its details besides type and hash.
func actedAs(t *testing.T, claim actionProof, entries []string) Receipt {
	t.Helper()
	claim.Payload, claim.Type = cmp.Or(claim.Payload, script), cmp.Or(claim.Type, "test_run")
	in := aConversation
	if claim.Type == "call" || claim.Type == "grant" {
		in = actionID
	}
	actors := map[string]string{"proposed": "claude", "approved": "U0SUZUKI", "rejected": "U0SUZUKI",
		"cancelled": "U0SATO"}
	rows := []chain.Row{row(0)}
	for e := range slices.Chunk(entries, 2) {
		at := began().Add(time.Duration(len(rows)) * time.Second)
		details := fmt.Sprintf(`{"type":%q,"hash":%q`, claim.Type, aggregate.HashOf(claim.Payload))
		if e[1] != "" {
			details += "," + e[1]
		}
		content := expect.Value(chain.Canonical(map[string]any{
			"action": "action." + e[0], "resource_id": actionID, "task_id": in, "timestamp": aggregate.TimeText(at),
			"details": details + "}", "actor_id": actors[e[0]],
		}))(t)
		rows = append(rows, chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"),
			Content: content, At: at})
	}
	r := newSealer(t).seal(t, append(rows, row(100), row(101)), 3).receipt()
	claim.ID, claim.Session = actionID, in
	r.Action = &claim
	return r.part()
}

func TestAnActionIsProved(t *testing.T) {
	out := expect.Value(printed(t, acted(t)))(t)
	for _, want := range []string{"test_run: succeeded", "payload " + script,
		"this very payload: stamped by U0SUZUKI at 2026-04-18T09:00:02.120Z", "with the files 'v1'", "files 'v2'"} {
		expect.That(t, strings.Contains(out, want), "%q is not said:\n%s", want, out)
	}
	expect.That(t, strings.HasPrefix(out, "it holds\n"), "what is found does not come first:\n%s", out)
}

// A stamp covers the files for which the payload was made. An action that began with others is found.
func TestVerifyHoldsAnActionAgainstTheFilesOfItsPayload(t *testing.T) {
	var j judged
	for base, holds := range map[string]bool{`"v1"`: true, `"v0"`: false, `""`: false, `1`: false, `null`: false} {
		payload := strings.Replace(script, `"v1"`, base, 1)
		j.add(t, "a payload for the files "+base, actedAs(t, actionProof{Status: "failed", ApprovedBy: "user",
			BaseVersion: "v1", Payload: payload},
			[]string{"proposed", "", "approved", "", "started", `"base_version":"v1"`, "failed", ""}), holds)
	}
	j.agree(t)
}

func TestVerifyFindsEveryFalseClaimOfAnAction(t *testing.T) {
	var j judged
	j.add(t, "an action", acted(t), true)
	j.changed(t, "an action", acted(t), changedClaims(t, acted(t), "action"))
	j.changed(t, "an action", acted(t), map[string]func(*Receipt){
		"by a rule": func(r *Receipt) { r.Action.ApprovedBy = "auto" },
		"by nobody": func(r *Receipt) { r.Action.ApprovedBy = "" },
		"no files":  func(r *Receipt) { r.Action.Version = "" }})
	j.agree(t)
}

// Every entry of an action has its type and payload, and the entry of its end says how far it came. So a receipt that
// leaves out the entries of approval and start is checked too.
func TestVerifyHoldsAnActionAgainstEveryEntry(t *testing.T) {
	without := func(r *Receipt, entries ...string) {
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool {
			return slices.ContainsFunc(entries, func(name string) bool { return strings.Contains(x.Content, "action."+name) })
		})
	}
	started := []string{"proposed", "", "approved", "", "started", `"base_version":"v1"`}
	var j judged
	for name, entries := range map[string][]string{
		"rejected":            {"proposed", "", "rejected", ""},
		"expired":             {"proposed", "", "expired", ""},
		"closed":              {"proposed", "", "cancelled", `"reason":"closed"`},
		"withdrawn":           {"proposed", "", "cancelled", `"was":"pending"`},
		"approved, withdrawn": {"proposed", "", "approved", "", "cancelled", `"was":"approved"`},
		"begun, withdrawn":    slices.Concat(started, []string{"cancelled", `"was":"executing"`}),
		"failed":              slices.Concat(started, []string{"failed", ""}),
	} {
		claim := actionProof{Status: "cancelled"}
		changes := map[string]func(r *Receipt){
			"another payload": func(r *Receipt) { r.Action.Payload = `{"script":"rm -rf /"}` },
			"another type":    func(r *Receipt) { r.Action.Type = "shell_command" },
		}
		if name == "failed" {
			claim.Status = "failed"
		}
		if slices.Contains(entries, "approved") {
			claim.ApprovedBy = "user"
			changes["approved by nobody"] = func(r *Receipt) {
				r.Action.ApprovedBy, r.Action.BaseVersion = "", ""
				without(r, "approved", "started")
			}
		}
		if slices.Contains(entries, "started") {
			claim.BaseVersion = "v1"
			changes["never started"] = func(r *Receipt) { r.Action.BaseVersion = ""; without(r, "started") }
		}
		r := actedAs(t, claim, entries)
		j.add(t, name, r, true)
		j.changed(t, name, r, changes)
	}
	j.agree(t)
}

// The maker of a receipt chooses its claims; their texts must not hide a finding.
func TestWhatAReceiptClaimsIsSpelled(t *testing.T) {
	hidden := "\x1b[2J\x1b[Hx\nit holds\r\u2028\u202e\x1b[8m"
	r := proved(t)
	r.Execution.Writes[1].Arguments = `{"to":"mallory@example.com"}` + hidden
	r.Execution.Reused = append(r.Execution.Reused, hidden)
	r.Execution.Policy.Text, r.Execution.Status = hidden, hidden
	a := acted(t)
	a.Action.Payload, a.Action.Type, a.Action.Version = hidden, hidden, hidden
	whole := sealed(t, 3, 2).receipt()
	whole.Rows[0].Key += hidden
	for name, r := range map[string]Receipt{"an execution": r, "an action": a, "a log": whole} {
		text, err := printed(t, r)
		expect.That(t, err != nil, "%s: it holds", name)
		first, _, _ := strings.Cut(text, "\n")
		expect.That(t, strings.HasSuffix(first, "findings:"), "%s: what is found does not come first: %q", name, first)
		for line := range strings.Lines(text) {
			expect.That(t, !strings.ContainsAny(line, "\x1b\r\u2028\u202e") && !strings.HasPrefix(line, "it holds"),
				"%s: %q", name, line)
		}
	}
}

// A receipt brings its own key, so verify.py names it, and refuses a receipt that another key signed than the one that
// was asked for.
func TestWhoseKeySignedIsSaid(t *testing.T) {
	file, r := filepath.Join(t.TempDir(), "receipt.json"), proved(t)
	expect.NoError(t, os.WriteFile(file, expect.Value(json.Marshal(r))(t), 0o600))
	own := fmt.Sprintf("%x", sha256.Sum256(expect.Value(base64.StdEncoding.DecodeString(r.PublicKey))(t)))
	alone := map[int]bool{} // exit codes with which verify.py ended in a process of its own
	for key, want := range map[string]int{
		own: 0, strings.ToUpper(own): 0, strings.Repeat("0", 64): exitFound, "none": 0, "": exitError, own[:63]: exitError,
		own + ",": exitError, "zz" + own[2:]: exitError,
	} {
		flags := []string{"--key", key, file}
		if key == "none" {
			flags = []string{file}
		}
		py := verifies(t, nil, flags...)
		expect.Is(t, py.Code, want, "--key %s", key)
		if !alone[want] {
			alone[want] = true
			py.Out = inASCII(py.Out)
			expect.Is(t, started(t, flags...), py, "in a process of its own, --key %s", key)
		}
		for says, is := range map[string]bool{"signed by the key with the fingerprint " + own: want != exitError,
			"whose key that is": key == "none", "another than the one": want == exitFound} {
			expect.Is(t, strings.Contains(py.Out, says), is, "--key %s, %q:\n%s", key, says, py.Out)
		}
	}
}

// content is what people stamp of a call that an outside agent asked for.
const content = `{"base":"","key":"k1","answers":"U1","tool":"Bash",` +
	`"arguments":"{\"command\":\"rm x\"}","elsewhere":true}`

// What a grant proves is that it was stamped and taken, once: not that anything ran.
func TestVerifyHoldsACallOfAnOutsideAgent(t *testing.T) {
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
	r := receipt("grant", "granted", granted...)
	j.changed(t, "granted", r, changedClaims(t, r, "action"))
	j.changed(t, "granted", r, map[string]func(*Receipt){
		"by a rule": func(r *Receipt) { r.Action.ApprovedBy = "auto" },
		"files":     func(r *Receipt) { r.Action.Version = "v2" }})
	j.agree(t)
}
