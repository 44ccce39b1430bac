package store

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func waiting(t *testing.T, st *taskStore) []WaitingItem {
	t.Helper()
	return walk(t, 2, func(cursor string) (table.Page[WaitingItem], error) {
		return st.Waiting(t.Context(), tenant, cursor, 2)
	})
}

// waitingPrompts makes tasks whose prompts wait for a decision.
func waitingPrompts(t *testing.T, st *taskStore) (refs []aggregate.Ref) {
	t.Helper()
	for n := range 5 {
		refs = append(refs, waitingPrompt(t, st, n))
	}
	return refs
}

func testPending(t *testing.T, st *taskStore) {
	refs := waitingPrompts(t, st)
	t.Run("prompts that wait are listed, the oldest first", func(t *testing.T) { testPromptsWait(t, st, refs) })
	t.Run("what is decided, cancelled or asks nobody is not", func(t *testing.T) { testDecidedWaitsNot(t, st, refs) })
	t.Run("processes and step gates are listed as what they are", func(t *testing.T) { testKindsWait(t, st, refs) })
	t.Run("another tenant has none of them", func(t *testing.T) {
		p, err := st.Waiting(t.Context(), "01OTHER", "", 10)
		expect.That(t, err == nil && len(p.Items) == 0, "%d items, %v", len(p.Items), err)
	})
	t.Run("when the settings say otherwise who decides, cards that wait are drawn anew",
		func(t *testing.T) { testRedrawnWithSettings(t, st) })
}

func testRedrawnWithSettings(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	refs := waitingPrompts(t, st)
	x := expect.Value(st.Settings(t.Context(), tenant))(t)
	shown := func() (n int) {
		for _, r := range refs {
			if headOf(t, st, r).ShownRev != 0 {
				n++
			}
		}
		return n
	}
	for _, r := range refs {
		expect.NoError(t, st.Shown(t.Context(), r, aggregate.Head{Rev: 1}))
	}
	x.MaxVersions++
	x = expect.Value(st.SaveSettings(t.Context(), tenant, x, approver(), at()))(t)
	expect.Must(t, shown() == len(refs), "%d of %d tasks stay as they are", shown(), len(refs))
	x.AllowSelfApproval = !x.AllowSelfApproval
	expect.Value(st.SaveSettings(t.Context(), tenant, x, approver(), at()))(t)
	expect.Must(t, shown() == 0, "%d of %d tasks still show who could decide before", shown(), len(refs))
}

func testPromptsWait(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	var got []string
	for _, x := range waiting(t, st) {
		got = append(got, x.Ref.ID)
		expect.That(t, x.Kind == task.CardPrompt && x.Key == "PROMPT#0001" && x.Version == 1 && x.ID != "" &&
			x.DecideBy != nil && !x.CreatedAt.IsZero(), "%+v", x)
	}
	var want []string
	for _, r := range refs {
		want = append(want, r.ID)
	}
	expect.Same(t, want, got)
}

func testDecidedWaitsNot(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	decided(t, st, refs[0], approvePrompt)
	decided(t, st, refs[1], rejectPrompt)
	decided(t, st, refs[2], cancel)
	unasked := created(t, st, 10)
	decided(t, st, unasked, extract, beginPrompt, func(a *task.Aggregate) (aggregate.Change, error) {
		settings := tenancy.DefaultSettings()
		settings.PromptApprovalRequired = false
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, settings, at())
	})
	var got []string
	for _, x := range waiting(t, st) {
		got = append(got, x.Ref.ID)
	}
	expect.Same(t, []string{refs[3].ID, refs[4].ID}, got)
}

func testKindsWait(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	decided(t, st, refs[0], beginProcess, finishProcess(2))
	decided(t, st, refs[3], approvePrompt, beginProcess, finishProcess(1), approveProcess, start,
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"), nil, at())
		})
	kinds := map[string]WaitingItem{}
	for _, x := range waiting(t, st) {
		kinds[x.Ref.ID] = x
	}
	if got := kinds[refs[0].ID]; got.Kind != task.CardProcess || got.Version != 1 {
		t.Errorf("%+v, want a process", got)
	}
	got := kinds[refs[3].ID]
	expect.That(t, got.Kind == task.CardStep && got.StepID == "step-1", "%+v, want a step", got)
}
