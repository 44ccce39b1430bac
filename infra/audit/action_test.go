package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
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
	script   = `{"command":["go","test","./..."],"timeout_seconds":60}`
)

// acted is the receipt of an agent's action, whose outcome nobody saw at first.
func acted(t *testing.T) Receipt {
	t.Helper()
	return actedAs(t, actionProof{Status: "succeeded", ApprovedBy: "user", BaseVersion: "v1", Version: "v2"}, []string{
		"proposed", `"number":1`, "approved", "", "started", `"base_version":""`, "started", `"base_version":"v1"`,
		"failed", `"outcome":"unknown"`, "late", `"was":"unknown","status":"succeeded","version":"v2"`,
	})
}

// actedAs makes the receipt of an action with these entries. Each is given as its name and the details that it has
// beside type and hash.
func actedAs(t *testing.T, claim actionProof, entries []string) Receipt {
	t.Helper()
	actors := map[string]string{"proposed": "claude", "approved": "U0SUZUKI", "rejected": "U0SUZUKI", "cancelled": "U0SATO"}
	rows := []chain.Row{row(0)}
	for e := range slices.Chunk(entries, 2) {
		at := began().Add(time.Duration(len(rows)) * time.Second)
		details := fmt.Sprintf(`{"type":"test_run","hash":%q`, aggregate.HashOf(script))
		if e[1] != "" {
			details += "," + e[1]
		}
		content := expect.Value(chain.Canonical(map[string]any{
			"action": "action." + e[0], "resource_id": actionID, "task_id": aConversation, "timestamp": aggregate.TimeText(at), "details": details + "}", "actor_id": actors[e[0]],
		}))(t)
		rows = append(rows, chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"), Content: content, At: at})
	}
	r := newSealer(t).seal(t, append(rows, row(100), row(101)), 3).receipt()
	claim.ID, claim.Session, claim.Type, claim.Payload = actionID, aConversation, "test_run", script
	r.Action = &claim
	return r.part()
}

func TestAnActionIsProved(t *testing.T) {
	out, err := printed(t, acted(t))
	expect.NoError(t, err)
	for _, want := range []string{"test_run: succeeded", "payload " + script, "this very payload: stamped by U0SUZUKI at 2026-04-18T09:00:02.120Z", `with the files "v1"`, `files "v2"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if !strings.HasPrefix(out, "it holds\n") {
		t.Errorf("what is found does not come first:\n%s", out)
	}
}

func TestBothVerifiersFindEveryFalseClaimOfAnAction(t *testing.T) {
	base := expect.Value(json.Marshal(acted(t)))(t)
	lines := append(bytes.Clone(base), '\n')
	names := []string{""}
	for name, change := range map[string]func(x *actionProof){
		"another payload":      func(x *actionProof) { x.Payload = strings.Replace(script, "test", "run", 1) },
		"another action":       func(x *actionProof) { x.ID = taskID },
		"another conversation": func(x *actionProof) { x.Session = taskID },
		"another type":         func(x *actionProof) { x.Type = "shell_command" },
		"approved by a rule":   func(x *actionProof) { x.ApprovedBy = "auto" },
		"approved by nobody":   func(x *actionProof) { x.ApprovedBy = "" },
		"other files":          func(x *actionProof) { x.BaseVersion = "v0" },
		"other files left":     func(x *actionProof) { x.Version = "" },
		"another end":          func(x *actionProof) { x.Status = "failed" },
	} {
		var r Receipt
		expect.NoError(t, json.Unmarshal(base, &r))
		change(r.Action)
		if _, err := printed(t, r); err == nil {
			t.Errorf("%s: it holds", name)
		}
		names, lines = append(names, name), append(append(lines, expect.Value(json.Marshal(r))(t)...), '\n')
	}
	for n, got := range python(t, lines) {
		if holds := len(got.Chain) == 0 && got.Claims == 0; holds != (names[n] == "") {
			t.Errorf("%s: verify.py finds %+v", names[n], got)
		}
	}
}

// What an action was stands in each of its entries, and how far it came in that of its end: also where nobody approved
// it, and where the entries of its approval and its start are left out.
func TestBothVerifiersHoldAnActionAgainstEveryEntry(t *testing.T) {
	unapproved := func(r *Receipt) {
		r.Action.ApprovedBy, r.Action.BaseVersion = "", ""
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool {
			return strings.Contains(x.Content, "action.approved") || strings.Contains(x.Content, "action.started")
		})
	}
	notStarted := func(r *Receipt) {
		r.Action.BaseVersion = ""
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool { return strings.Contains(x.Content, "action.started") })
	}
	approved := []string{"proposed", "", "approved", "", "cancelled", `"was":"approved"`}
	begun := []string{"proposed", "", "approved", "", "started", `"base_version":"v1"`, "cancelled", `"was":"executing"`}
	failed := []string{"proposed", "", "approved", "", "started", `"base_version":"v1"`, "failed", ""}
	lines, names := []byte{}, []string{}
	for name, entries := range map[string][]string{
		"rejected": {"proposed", "", "rejected", ""}, "expired": {"proposed", "", "expired", ""}, "closed": {"proposed", "", "cancelled", `"reason":"closed"`},
		"withdrawn": {"proposed", "", "cancelled", `"was":"pending"`}, "approved, withdrawn": approved, "begun, withdrawn": begun, "failed": failed,
	} {
		claim := actionProof{Status: "cancelled"}
		if slices.Contains(entries, "approved") {
			claim.ApprovedBy = "user"
		}
		if slices.Contains(entries, "started") {
			claim.BaseVersion = "v1"
		}
		if name == "failed" {
			claim.Status = "failed"
		}
		changes := map[string]func(r *Receipt){
			"": func(*Receipt) {}, "another payload": func(r *Receipt) { r.Action.Payload = `{"script":"rm -rf /"}` },
			"another type": func(r *Receipt) { r.Action.Type = "shell_command" },
		}
		if claim.ApprovedBy != "" {
			changes["approved by nobody"] = unapproved
		}
		if claim.BaseVersion != "" {
			changes["never started"] = notStarted
		}
		base := expect.Value(json.Marshal(actedAs(t, claim, entries)))(t)
		for what, change := range changes {
			var r Receipt
			expect.NoError(t, json.Unmarshal(base, &r))
			change(&r)
			if out, err := printed(t, r); (err == nil) != (what == "") {
				t.Errorf("%s, %s: %v\n%s", name, what, err, out)
			}
			names, lines = append(names, name+", "+what), append(append(lines, expect.Value(json.Marshal(r))(t)...), '\n')
		}
	}
	for n, got := range python(t, lines) {
		if holds := len(got.Chain) == 0 && got.Claims == 0; holds != strings.HasSuffix(names[n], ", ") {
			t.Errorf("%s: verify.py finds %+v", names[n], got)
		}
	}
}

// Whoever makes a receipt writes what is claimed in it, and none of that may hide what is found.
func TestWhatAReceiptClaimsIsSpelled(t *testing.T) {
	hidden := "\x1b[2J\x1b[Hx\nit holds\r\u2028\u202e\x1b[8m"
	r := proved(t)
	r.Execution.Writes[1].Arguments = `{"to":"mallory@example.com"}` + hidden
	r.Execution.Reused = append(r.Execution.Reused, hidden)
	r.Execution.Policy.Text, r.Execution.Policy.Team, r.Execution.Status = hidden, hidden, hidden
	a := acted(t)
	a.Action.Payload, a.Action.Type, a.Action.Version = hidden, hidden, hidden
	whole := sealed(t, 3, 2).receipt()
	whole.Rows[0].Key += hidden
	for name, r := range map[string]Receipt{"an execution": r, "an action": a, "a log": whole} {
		out, err := printed(t, r)
		if err == nil {
			t.Errorf("%s: it holds", name)
		}
		file := filepath.Join(t.TempDir(), "receipt.json")
		expect.NoError(t, os.WriteFile(file, expect.Value(json.Marshal(r))(t), 0o600))
		other, _ := exec.Command("python3", "verify.py", file).Output() // its exit code says that something was found
		for by, text := range map[string]string{"audit": out, "verify.py": string(other)} {
			first, _, _ := strings.Cut(text, "\n")
			if !strings.HasSuffix(first, "findings:") {
				t.Errorf("%s, %s: what is found does not come first: %q", by, name, first)
			}
			for line := range strings.Lines(text) {
				if strings.ContainsAny(line, "\x1b\r\u2028\u202e") || strings.HasPrefix(line, "it holds") {
					t.Errorf("%s, %s: %q", by, name, line)
				}
			}
		}
	}
}
