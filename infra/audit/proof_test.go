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
	"ringi/shared/runtime/expect"
)

const (
	taskID        = "01M2H5DTC0VM37SYX3HZHVW0CV"
	execution     = "01M2H5DTC0VM37SYX3HZHVW0EX"
	aConversation = "6f0f5a52-6d62-4d3c-9d0e-0a1b2c3d4e5f"
	request       = "勤怠を集計して\n#人事 に送って"
	policy        = "勤怠を集計し、結果を #人事 に送る <@U0SUZUKI>"
	failed        = "execution.failed"
	employees     = `{"employees":[{"email":"a@example.jp","n":1.50}],"more":null}`
)

// theSteps are the exact bytes that were stamped.
const theSteps = `[{"stepId":"step-1","order":1,"tool":"list_employees","toolInput":{},"effect":"read"},` +
	`{"stepId":"step-2","order":2,"tool":"write_rows",` +
	`"toolInput":{"rows":[["x",{"$ref":"step-1.result.employees.0.n"}]],"to":"s1","big":12345678901234567890},` +
	`"effect":"write"},` +
	`{"stepId":"step-3","order":3,"tool":"send_message",` +
	`"toolInput":{"to":{"$ref":"step-1.result.employees.0.email"}},"effect":"write","requiresHumanCheck":true},` +
	`{"stepId":"step-5","order":5,"tool":"send_message","toolInput":{"to":"b@example.jp"},"effect":"write"},` +
	`{"stepId":"step-6","order":6,"tool":"send_message",` +
	`"toolInput":{"to":{"$ref":"step-1.result.employees.0.email"}},"effect":"write"}]`

// The writes; step-6 was not called.
const (
	rowsWritten = `{"big":12345678901234567890,"rows":[["x",1.5]],"to":"s1"}`
	messageSent = `{"to":"a@example.jp"}`
	secondSent  = `{"to":"b@example.jp"}`
)

// theEntries are the task's. Details are stored as text or as an object; both occur here.
func theEntries() []chain.Row {
	var out []chain.Row
	for i, e := range []struct {
		action, resource, actor string
		details                 any
	}{
		{"session.request_made", aConversation, "U0SATO", map[string]any{"task": taskID, "asked_by": "U0SATO",
			"hash": aggregate.HashOf(request)}},
		{"task.created", taskID, "", "null"},
		{"prompt.picked", "P1", "U0SATO", map[string]any{"version": 2, "team": "慎重チーム", "hash": aggregate.HashOf(policy)}},
		{"prompt.approved", "P1", "U0SUZUKI", map[string]any{"version": 2, "hash": aggregate.HashOf(policy), "team": "慎重チーム",
			"score": 81.5, "picked_by": "U0SATO"}},
		{"process.approved", "S1", "U0TANAKA", fmt.Sprintf(`{"hash":%q,"version":1,"policy":"P1","policy_hash":%q}`,
			aggregate.HashOf(theSteps), aggregate.HashOf(policy))},
		{"step.approved", execution, "U0SUZUKI", map[string]any{"step": "step-3",
			"arguments_hash": aggregate.HashOf(messageSent)}},
		{"step.approved", execution, "U0SUZUKI", map[string]any{"step": "step-5",
			"arguments_hash": aggregate.HashOf(secondSent)}},
		{failed, execution, "", map[string]any{
			"attempt": 1, "offered": map[string]any{"session_id": aConversation}, "reused": []string{"step-4"},
			"writes": map[string]any{"step-2": aggregate.HashOf(rowsWritten), "step-3": aggregate.HashOf(messageSent),
				"step-5": aggregate.HashOf(secondSent)},
			"ends":  map[string]any{"completed": []string{"step-2", "step-5"}, "unknown": []string{"step-3"}},
			"gates": namedGates(nil),
		}},
		{"execution.late", execution, "", map[string]any{"attempt": 1, "step": "step-3", "status": "completed",
			"was": "unknown"}},
	} {
		at := began().Add(time.Duration(i) * time.Second)
		about := taskID
		if e.resource == aConversation {
			about = aConversation
		}
		members := map[string]any{"action": e.action, "resource_id": e.resource, "task_id": about,
			"timestamp": aggregate.TimeText(at), "details": e.details, "actor_type": "user"}
		if e.actor != "" {
			members["actor_id"] = e.actor
		}
		content, _ := chain.Canonical(members)
		out = append(out, chain.Row{Key: chain.KeyOf("AUDIT#"+tenant+"#2026-04", aggregate.TimeText(at)+"#x"),
			Content: content, At: at})
	}
	return out
}

// proved returns the receipt of an execution from a log with other executions.
func proved(t *testing.T) Receipt {
	t.Helper()
	rows := theEntries()
	for i := range 40 {
		rows = slices.Insert(rows, i%3, row(i))
	}
	r := newSealer(t).seal(t, rows, 5).receipt()
	r.Execution = &Proof{
		ID: execution, Task: taskID, Attempt: 1, Status: "failed", Policy: stamped{ID: "P1", Version: 2, Text: policy},
		Steps: stamped{ID: "S1", Version: 1, Text: theSteps}, Reused: []string{"step-4"},
		Request: &offered{aConversation, request, "U0SATO"},
		Writes: []writeCall{
			{Step: "step-2", Tool: "write_rows", Status: "completed", Arguments: rowsWritten,
				Results: map[string]string{"step-1": employees}},
			{Step: "step-3", Tool: "send_message", Status: "completed", Arguments: messageSent, Gated: true},
			{Step: "step-5", Tool: "send_message", Status: "completed", Arguments: secondSent, Gated: true},
		},
	}
	return r.part()
}

func TestAnExecutionIsProved(t *testing.T) {
	r := proved(t)
	out := expect.Value(printed(t, r))(t)
	for _, want := range []string{
		"policy version 2, sha256 " + aggregate.HashOf(policy) + ": stamped by U0SUZUKI at 2026-04-18T09:00:03.120Z",
		"the draft of team 慎重チーム of a contest", "picked by U0SATO", "these very words: U0SATO",
		"write step-4: an earlier attempt made it",
		"steps version 1", "stamped by U0TANAKA", rowsWritten, messageSent,
		"they follow from the stamped steps and 1 earlier results", "these very arguments: stamped by U0SUZUKI", "it holds",
	} {
		expect.That(t, strings.Contains(out, want), "%q is not said:\n%s", want, out)
	}
	expect.That(t, len(r.Rows) == 9 && len(r.Links) != 0, "%d rows, %d links", len(r.Rows), len(r.Links))
}

// falseClaims change the claims of an execution so that the entries contradict them, beyond a single field.
var falseClaims = map[string]func(r *Receipt){
	"the same steps, written else": func(r *Receipt) { r.Execution.Steps.Text += " " },
	"other stamped arguments":      func(r *Receipt) { r.Execution.Writes[1].Arguments = `{"to":"b@example.jp"}` },
	"another result": func(r *Receipt) {
		r.Execution.Writes[0].Results["step-1"] = strings.Replace(employees, "1.50", "2", 1)
	},
	"a result that is no JSON": func(r *Receipt) { r.Execution.Writes[0].Results["step-1"] = "{" },
	"no result":                func(r *Receipt) { r.Execution.Writes[0].Results = nil },
	"other arguments, the end left out": func(r *Receipt) {
		r.Rows, r.Execution.Status = r.Rows[:len(r.Rows)-2], "running"
		r.Execution.Writes[0].Arguments = strings.Replace(rowsWritten, "1.5", "2", 1)
		r.Execution.Writes[0].Results["step-1"] = strings.Replace(employees, "1.50", "2", 1)
	},
	"no writes, the end left out":          func(r *Receipt) { r.Rows, r.Execution.Writes = r.Rows[:len(r.Rows)-2], nil },
	"what was known before the truth came": func(r *Receipt) { r.Execution.Writes[1].Status = "unknown" },
	"a write said to be reused":            func(r *Receipt) { r.Execution.Reused = append(r.Execution.Reused, "step-9") },
	"a reused write left out":              func(r *Receipt) { r.Execution.Reused = nil },
	"a write that nobody made": func(r *Receipt) {
		r.Execution.Writes = append(r.Execution.Writes, writeCall{Step: "step-6", Tool: "send_message", Status: "completed",
			Arguments: messageSent, Results: map[string]string{"step-1": employees}})
	},
	"a write that nobody made, of any arguments": func(r *Receipt) {
		r.Execution.Writes = append(r.Execution.Writes, writeCall{Step: "step-6", Tool: "send_message", Status: "completed",
			Arguments: `{"to":"mallory"}`, Expired: []string{"step-1"}})
	},
	"a write said twice": func(r *Receipt) {
		r.Execution.Writes = append(r.Execution.Writes, r.Execution.Writes[0])
	},
	"a write left out": func(r *Receipt) { r.Execution.Writes = r.Execution.Writes[:1] },
	"a request of an agent said to be a person's": func(r *Receipt) { r.Execution.Request = nil },
	"the same, its entry left out":                func(r *Receipt) { r.Execution.Request, r.Rows = nil, r.Rows[1:] },
	"a check that nobody made": func(r *Receipt) {
		r.Execution.Writes[1].Gated, r.Execution.Writes[1].Results = false, map[string]string{"step-1": employees}
	},
	"a row that says another stamp": func(r *Receipt) {
		r.Rows[3].Content = strings.Replace(r.Rows[3].Content, "U0SUZUKI", "U0SATO", 1)
	},
	"an entry left out": func(r *Receipt) { r.Rows = slices.Delete(r.Rows, 3, 4) },
	"a stamp without a rule left out with its entry": func(r *Receipt) {
		r.Execution.Writes[2].Gated = false
		r.Rows = slices.DeleteFunc(r.Rows, func(x sealedRow) bool {
			return strings.Contains(x.Content, "step-5") && strings.Contains(x.Content, "step.approved")
		})
	},
	"links left out": func(r *Receipt) { r.Links = r.Links[:len(r.Links)-1] },
	"no head":        func(r *Receipt) { r.Head = nil },
}

func TestEveryFalseClaimIsFound(t *testing.T) {
	var j judged
	j.add(t, "an execution", proved(t), true)
	j.changed(t, "an execution", proved(t), falseClaims)
	j.changed(t, "an execution", proved(t), changedClaims(t, proved(t), "execution"))
	j.agree(t)
}

// edited returns the rows as change makes them, which is given each one's members and their details.
func edited(t *testing.T, rows []chain.Row, change func(row, details map[string]any)) []chain.Row {
	t.Helper()
	rows = slices.Clone(rows)
	for i, x := range rows {
		var row, details map[string]any
		expect.NoError(t, json.Unmarshal(x.Content, &row))
		text, isText := row["details"].(string)
		if isText {
			expect.NoError(t, json.Unmarshal([]byte(text), &details))
		} else {
			details, _ = row["details"].(map[string]any)
		}
		if change(row, details); isText && details != nil {
			row["details"] = string(aggregate.Details(details))
		}
		rows[i].Content = expect.Value(chain.Canonical(row))(t)
	}
	return rows
}

// of returns the receipt of proved's execution from these entries.
func of(t *testing.T, rows []chain.Row) Receipt {
	t.Helper()
	r := newSealer(t).seal(t, rows, 5).receipt()
	r.Execution = proved(t).Execution
	return r.part()
}

// ended returns the execution's receipt with other details in the last entry.
func ended(t *testing.T, other map[string]any) Receipt {
	t.Helper()
	return of(t, edited(t, theEntries(), func(row, details map[string]any) {
		if row["action"] == failed {
			clear(details)
			maps.Copy(details, other)
		}
	}))
}

// An end with an empty list of writes proves that there were none.
func TestAnEndWithoutWritesProvesThatNobodyMadeOne(t *testing.T) {
	expect.Patience(t)
	nothing := map[string]any{"attempt": 1}
	for _, member := range []string{"writes", "ends", "offered", "gates"} {
		nothing[member] = map[string]any{}
	}
	both := maps.Clone(nothing)
	both["writes"] = map[string]any{"step-2": aggregate.HashOf(rowsWritten)}
	both["ends"], both["reused"] = map[string]any{"completed": []string{"step-2"}}, []string{"step-2"}
	claim := func(r *Receipt, writes []writeCall, reused ...string) {
		r.Execution.Writes, r.Execution.Reused, r.Execution.Request = writes, reused, nil
	}
	for name, tt := range map[string]struct {
		end    map[string]any
		change func(r *Receipt)
		want   string
		holds  bool
	}{
		"none":         {nothing, func(r *Receipt) { claim(r, nil) }, "", true},
		"a write":      {nothing, func(r *Receipt) { claim(r, r.Execution.Writes[:1]) }, "step-2 was not called", false},
		"a reused one": {nothing, func(r *Receipt) { claim(r, nil, "step-4") }, "the writes of earlier attempts", false},
		"a conversation": {nothing, func(r *Receipt) { r.Execution.Writes, r.Execution.Reused = nil, nil },
			"the entry of the end says", false},
		"called and reused": {both, func(r *Receipt) { claim(r, r.Execution.Writes[:1], "step-2") },
			"step-2 is said to be called 2 times", false},
	} {
		r := ended(t, tt.end)
		tt.change(&r)
		out, err := printed(t, r)
		expect.Is(t, err == nil, tt.holds, "%s: it holds", name)
		expect.That(t, strings.Contains(out, tt.want), "%s: want %q:\n%s", name, tt.want, out)
	}
}

func TestWhatIsPastItsRetentionIsNamed(t *testing.T) {
	r := proved(t)
	r.Execution.Writes[0].Results, r.Execution.Writes[0].Expired = nil, []string{"step-1"}
	expect.Has(t, expect.Value(printed(t, r))(t), "the result of step-1 is past its retention")
	passes(t, expect.Value(json.Marshal(r))(t))
}

func TestMistakesOfTheCommandLineAreNamed(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "say what to do"}, {"look -tenant x", "neither check nor prove"}, {"check", "-tenant is missing"},
		{"check -tenant x", "HeadsBucketName"}, {"prove -tenant x -table t -key k -heads h e", "-results is missing"},
		{"check -tenant x -table t -key k -heads h e", "unexpected argument"},
		{"check -tenant x -aws-addr 127.0.0.1:1", "no local stack answers at 127.0.0.1:1"},
	} {
		err := run(t.Context(), strings.Fields(tt.args), &bytes.Buffer{})
		expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "audit %s: %v, want %q", tt.args, err, tt.want)
	}
}

// detailed adds details to the entries of an action.
func detailed(t *testing.T, rows []chain.Row, action string, more map[string]any) []chain.Row {
	t.Helper()
	return edited(t, rows, func(row, details map[string]any) {
		if row["action"] == action {
			maps.Copy(details, more)
		}
	})
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
		return of(t, detailed(t, slices.Insert(theEntries(), 2, row), "process.approved", more))
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

const quotation = `{"files":[{"id":"F1","name":"見積書.pdf","kind":"pdf","bytes":8,"sha256":"` +
	`a6f4c0f1a8f1b8a6d3c8f5e0d0f4c3b2a1908f7e6d5c4b3a29181716151413ff"},{"id":"F2","name":"a.exe","bytes":3,` +
	`"sha256":"00","left":"type"},{"id":"F3","name":"gone.pdf"}]}`

// filed is the receipt of an execution whose policy and steps were stamped with what has this hash; "": with nothing.
func filed(t *testing.T, hash string) Receipt {
	t.Helper()
	rows := theEntries()
	for _, action := range []string{"prompt.approved", "process.approved"} {
		if hash != "" {
			rows = detailed(t, rows, action, map[string]any{"enclosed": hash})
		}
	}
	r := of(t, rows)
	r.Execution.Enclosed = quotation
	return r
}

// Which files were stamped stands in the receipt: neither another hash, name or size does instead, nor no file.
func TestVerifyFindsOtherFiles(t *testing.T) {
	hash := aggregate.HashOf(quotation)
	r := filed(t, hash)
	out, err := printed(t, r)
	expect.That(t, err == nil && strings.Contains(out, "with the file 見積書.pdf of 8 bytes, sha256 a6f4") &&
		strings.Contains(out, "not attached: type") && strings.Contains(out, "gone.pdf could not be had"),
		"%v:\n%s", err, out)
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
