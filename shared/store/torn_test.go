package store

import (
	"encoding/json"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A query is no snapshot: it may return a row from before a commit together with the head from after it. No decision
// over such rows may be committed.
func testTornReads(t *testing.T, st *taskStore) {
	toPrompt := []decision{extract, beginPrompt, finishPrompt}
	toExecution := append(append([]decision{}, toPrompt...), approvePrompt, beginProcess, finishProcess(1), approveProcess, start)
	toResult := append(append([]decision{}, toExecution...), claim(1), finishStep(1))

	for i, c := range []struct {
		name   string
		before []decision
		row    func(*task.Aggregate) aggregate.Row // row of which the query returns the old version
		moves  decision                            // decision that changes that row between the reads
		torn   decision                            // decision over the old row and the new head
	}{
		{
			"a claim that did not see the cancelled execution", toExecution,
			func(a *task.Aggregate) aggregate.Row { return a.Execution() }, cancel, forgetEnd(claim(1)),
		},
		{
			"an approval that did not see the rejection", toPrompt,
			func(a *task.Aggregate) aggregate.Row { return a.Prompt() }, rejectPrompt, approvePrompt,
		},
		{
			"a completion that did not see the cancellation", toResult,
			func(a *task.Aggregate) aggregate.Row { return a.Execution() }, cancel,
			forgetEnd(func(a *task.Aggregate) (aggregate.Change, error) {
				open := *a.Task
				open.Status = task.TaskRunning
				a.Task = &open
				return a.CompleteExecution(a.Head.Run, "", at())
			}),
		},
		{
			"a prompt that only relied on the task and did not see it cancelled", []decision{extractLast},
			func(a *task.Aggregate) aggregate.Row { return a.Task }, cancel, forgetEnd(beginPrompt),
		},
	} {
		t.Run(c.name+" fails", func(t *testing.T) {
			ref := created(t, st, i)
			decided(t, st, ref, c.before...)
			old := &wire{}
			a := expect.Value(st.over(&editor{operation: "Query", edit: old.keep}).Load(t.Context(), ref))(t)
			decided(t, st, ref, c.moves)
			before := loaded(t, st, ref)

			tear := &editor{operation: "Query", edit: func(b []byte) []byte { return old.into(b, c.row(a).Key()) }}
			torn := expect.Value(st.over(tear).Load(t.Context(), ref))(t)
			if torn.Head.Rev != before.Head.Rev || c.row(torn).Revision() != c.row(a).Revision() || c.row(before).Revision() == c.row(a).Revision() {
				t.Fatal("the read was not torn")
			}
			change, err := c.torn(torn)
			expect.Must(t, err == nil, "the torn rows refuse by themselves, which proves nothing: %v", err)
			wantError(t, second(st.Commit(t.Context(), torn, change)), aggregate.ErrConflict)
			after := headOf(t, st, ref)
			expect.Is(t, after.Rev, before.Head.Rev, "the head moved from rev %d to", before.Head.Rev)
		})
	}
}

// forgetEnd hides the head's end, so that not only the end refuses the decision.
func forgetEnd(d decision) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		open := *a
		open.Head.Ended = nil
		return d(&open)
	}
}

// wire is the raw answer to a query.
type wire struct{ items []map[string]json.RawMessage }

func (w *wire) keep(body []byte) []byte {
	var answer struct {
		Items []map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &answer); err == nil {
		w.items = answer.Items
	}
	return body
}

// into replaces one row of another answer by its saved version.
func (w *wire) into(body []byte, sortKey string) []byte {
	var now wire
	now.keep(body)
	same := func(it map[string]json.RawMessage) bool {
		var sk struct{ S string }
		return json.Unmarshal(it["SK"], &sk) == nil && sk.S == sortKey
	}
	for i := range now.items {
		for _, old := range w.items {
			if same(now.items[i]) && same(old) {
				now.items[i] = old
			}
		}
	}
	out, err := json.Marshal(map[string]any{"Items": now.items, "Count": len(now.items), "ScannedCount": len(now.items)})
	if err != nil {
		return body
	}
	return out
}
