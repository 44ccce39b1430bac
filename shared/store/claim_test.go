package store

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// A claim relies on a tool's permission even if the tool has no row: here an administrator restricts the tool between
// the read and the claim.
func testClaimBeside(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	decided(t, st, ref, extract, beginPrompt, finishPrompt, approvePrompt, beginProcess, finishProcess(1), approveProcess, start)
	read, _, err := st.ToolPermission(t.Context(), tenant, "list_departments")
	if err != nil || !read.Allowed {
		t.Fatal(read, err)
	}
	a := loaded(t, st, ref)
	p := read
	p.Allowed = false
	expect.Value(st.SaveToolPermission(t.Context(), p, approver(), at()))(t)
	c := expect.Value(a.ClaimStep(a.Head.Run, task.Call{
		Order: 1, Arguments: aggregate.Blob{JSON: "{}", Bytes: 2},
		Tool:  task.ToolRef{Name: "list_departments", Rev: read.Rev},
		Claim: task.Claim{Invocation: "i", LeaseUntil: at().Add(75e9)},
	}, at()))(t)
	if _, err := st.Commit(t.Context(), a, c); err == nil {
		t.Errorf("the step of a tool that is off was claimed")
	}
}
