package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/chain"
	"ringi/shared/expect"
)

const (
	taskID    = "01M2H5DTC0VM37SYX3HZHVW0CV"
	execution = "01M2H5DTC0VM37SYX3HZHVW0EX"
	policy    = "勤怠を集計し、結果を #人事 に送る <@U0SUZUKI>"
	employees = `{"employees":[{"email":"a@example.jp","n":1.50}],"more":null}`
)

// theSteps are in the bytes that were stamped.
const theSteps = `[{"stepId":"step-1","order":1,"tool":"list_employees","toolInput":{},"effect":"read"},` +
	`{"stepId":"step-2","order":2,"tool":"write_rows","toolInput":{"rows":[["x",{"$ref":"step-1.result.employees.0.n"}]],"to":"s1","big":12345678901234567890},"effect":"write"},` +
	`{"stepId":"step-3","order":3,"tool":"send_message","toolInput":{"to":{"$ref":"step-1.result.employees.0.email"}},"effect":"write","requiresHumanCheck":true}]`

const (
	rowsWritten = `{"big":12345678901234567890,"rows":[["x",1.50]],"to":"s1"}`
	messageSent = `{"to":"a@example.jp"}`
)

// theEntries are the task's, with their details as text or as an object: both stand in the table.
func theEntries() []chain.Row {
	var out []chain.Row
	for i, e := range []struct {
		action, resource, actor string
		details                 any
	}{
		{"task.created", taskID, "", "null"},
		{"prompt.approved", "P1", "U0SUZUKI", map[string]any{"version": 2, "hash": aggregate.HashOf(policy)}},
		{"process.approved", "S1", "U0TANAKA", fmt.Sprintf(`{"hash":%q,"version":1}`, aggregate.HashOf(theSteps))},
		{"step.approved", execution, "U0SUZUKI", map[string]any{"step": "step-3", "arguments_hash": aggregate.HashOf(messageSent)}},
		{"execution.completed", execution, "", map[string]any{"attempt": 1, "writes": map[string]any{"step-2": aggregate.HashOf(rowsWritten), "step-3": aggregate.HashOf(messageSent)}}},
	} {
		at := began().Add(time.Duration(i) * time.Second)
		members := map[string]any{"action": e.action, "resource_id": e.resource, "task_id": taskID, "timestamp": aggregate.TimeText(at), "details": e.details, "actor_type": "user"}
		if e.actor != "" {
			members["actor_id"] = e.actor
		}
		content, _ := chain.Canonical(members)
		out = append(out, chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"), Content: content, At: at})
	}
	return out
}

// proved is the receipt of an execution among a log of others'.
func proved(t *testing.T) Receipt {
	t.Helper()
	rows := theEntries()
	for i := range 40 {
		rows = slices.Insert(rows, i%3, row(i))
	}
	r := newSealer(t).seal(t, rows, 5).receipt()
	r.Execution = &Proof{
		ID: execution, Task: taskID, Attempt: 1, Status: "completed", Policy: stamped{"P1", 2, policy}, Steps: stamped{"S1", 1, theSteps},
		Writes: []writeCall{
			{Step: "step-2", Tool: "write_rows", Status: "completed", Arguments: rowsWritten, Results: map[string]string{"step-1": employees}},
			{Step: "step-3", Tool: "send_message", Status: "completed", Arguments: messageSent, Gated: true},
		},
	}
	return r.part()
}

func printed(t *testing.T, r Receipt) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := report(r, nil, &out)
	return out.String(), err
}

func TestAnExecutionIsProved(t *testing.T) {
	r := proved(t)
	out, err := printed(t, r)
	expect.NoError(t, err)
	for _, want := range []string{
		"policy version 2, sha256 " + aggregate.HashOf(policy) + ": stamped by U0SUZUKI at 2026-04-18T09:00:01.120Z",
		"steps version 1", "stamped by U0TANAKA", rowsWritten, messageSent,
		"they follow from the stamped steps and 1 earlier results", "these very arguments: stamped by U0SUZUKI", "it holds",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if len(r.Rows) != 5 || len(r.Links) == 0 {
		t.Errorf("%d rows, %d links", len(r.Rows), len(r.Links))
	}
}

// Whatever is claimed otherwise is found, by both.
func TestBothVerifiersFindEveryFalseClaim(t *testing.T) {
	base := expect.Value(json.Marshal(proved(t)))(t)
	var lines bytes.Buffer
	var want []bool
	var names []string
	for name, change := range map[string]func(r *Receipt){
		"nothing":                      func(*Receipt) {},
		"another policy":               func(r *Receipt) { r.Execution.Policy.Text += "." },
		"a policy of nobody":           func(r *Receipt) { r.Execution.Policy.ID = "P2" },
		"other steps":                  func(r *Receipt) { r.Execution.Steps.Text = strings.Replace(theSteps, "s1", "s2", 1) },
		"the same steps, written else": func(r *Receipt) { r.Execution.Steps.Text += " " },
		"other arguments":              func(r *Receipt) { r.Execution.Writes[0].Arguments = strings.Replace(rowsWritten, "1.50", "1.51", 1) },
		"a number written else":        func(r *Receipt) { r.Execution.Writes[0].Arguments = strings.Replace(rowsWritten, "1.50", "1.5", 1) },
		"other stamped arguments":      func(r *Receipt) { r.Execution.Writes[1].Arguments = `{"to":"b@example.jp"}` },
		"another result":               func(r *Receipt) { r.Execution.Writes[0].Results["step-1"] = strings.Replace(employees, "1.50", "2", 1) },
		"no result":                    func(r *Receipt) { r.Execution.Writes[0].Results = nil },
		"a result that is no JSON":     func(r *Receipt) { r.Execution.Writes[0].Results["step-1"] = "{" },
		"a stamp that was not given":   func(r *Receipt) { r.Execution.Writes[0].Gated = true },
		"other arguments, the end left out": func(r *Receipt) {
			r.Rows, r.Execution.Status = r.Rows[:len(r.Rows)-1], "running"
			r.Execution.Writes[0].Arguments = strings.Replace(rowsWritten, "1.50", "2", 1)
			r.Execution.Writes[0].Results["step-1"] = strings.Replace(employees, "1.50", "2", 1)
		},
		"no writes, the end left out": func(r *Receipt) { r.Rows, r.Execution.Writes = r.Rows[:len(r.Rows)-1], nil },
		"another end":                 func(r *Receipt) { r.Execution.Status = "failed" },
		"a check that nobody made": func(r *Receipt) {
			r.Execution.Writes[1].Gated, r.Execution.Writes[1].Results = false, map[string]string{"step-1": employees}
		},
		"another tool":                  func(r *Receipt) { r.Execution.Writes[0].Tool = "send_message" },
		"a write left out":              func(r *Receipt) { r.Execution.Writes = r.Execution.Writes[:1] },
		"another execution":             func(r *Receipt) { r.Execution.ID = "01M2H5DTC0VM37SYX3HZHVW0EY" },
		"another task":                  func(r *Receipt) { r.Execution.Task = "01M2H5DTC0VM37SYX3HZHVW0XX" },
		"a row that says another stamp": func(r *Receipt) { r.Rows[1].Content = strings.Replace(r.Rows[1].Content, "U0SUZUKI", "U0SATO", 1) },
		"an entry left out":             func(r *Receipt) { r.Rows = slices.Delete(r.Rows, 2, 3) },
		"links left out":                func(r *Receipt) { r.Links = r.Links[:len(r.Links)-1] },
		"no head":                       func(r *Receipt) { r.Head = nil },
	} {
		var r Receipt
		expect.NoError(t, json.Unmarshal(base, &r))
		change(&r)
		_, err := printed(t, r)
		want, names = append(want, name == "nothing"), append(names, name)
		if holds := err == nil; holds != (name == "nothing") {
			t.Errorf("%s: %v", name, err)
		}
		lines.Write(append(expect.Value(json.Marshal(r))(t), '\n'))
	}
	for n, got := range python(t, lines.Bytes()) {
		if holds := len(got.Chain) == 0 && got.Execution == 0; holds != want[n] {
			t.Errorf("%s: verify.py finds %+v", names[n], got)
		}
	}
}

func TestWhatIsPastItsRetentionIsNamed(t *testing.T) {
	r := proved(t)
	r.Execution.Writes[0].Results, r.Execution.Writes[0].Expired = nil, []string{"step-1"}
	out, err := printed(t, r)
	expect.NoError(t, err)
	if !strings.Contains(out, "the result of step-1 is past its retention") {
		t.Error(out)
	}
	if got := python(t, append(expect.Value(json.Marshal(r))(t), '\n')); got[0].Execution != 0 || len(got[0].Chain) != 0 {
		t.Errorf("verify.py: %+v", got)
	}
}

func TestMistakesOfTheCommandLineAreNamed(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "say what to do"}, {"look -tenant x", "none of verify"}, {"verify", "-tenant is missing"}, {"verify -tenant x", "HeadsBucketName"},
		{"prove -tenant x -table t -key k -heads h", "name the execution"}, {"prove -tenant x -table t -key k -heads h e", "-results is missing"},
		{"verify -tenant x -table t -key k -heads h e", "unexpected argument"}, {"check", "name the receipt"}, {"check nowhere.json", "no such file"},
		{"verify -tenant x -aws-addr 127.0.0.1:1", "no local stack answers at 127.0.0.1:1"},
	} {
		if err := run(t.Context(), strings.Fields(tt.args), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("audit %s: %v, want %q", tt.args, err, tt.want)
		}
	}
}
