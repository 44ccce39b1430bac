package store

import (
	"testing"
	"time"

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
	t.Run("a choice is listed until somebody says what it is, or nobody is asked any more", func(t *testing.T) { testChoiceWaits(t, st) })
	t.Run("another tenant has none of them", func(t *testing.T) {
		p, err := st.Waiting(t.Context(), "01OTHER", "", 10)
		expect.That(t, err == nil && len(p.Items) == 0, "%d items, %v", len(p.Items), err)
	})
	t.Run("when the settings say otherwise who decides, cards that wait are drawn anew", func(t *testing.T) { testRedrawnWithSettings(t, st) })
}

func testChoiceWaits(t *testing.T, other *taskStore) {
	ask := func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(a.Head.Run, task.Beside{TaskID: "01OTHER", ID: "01PROMPT", Kind: task.CardPrompt}, tenancy.DefaultSettings(), at())
	}
	st := other.suite.store(t)
	for n, over := range []func(a *task.Aggregate) (aggregate.Change, error){
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.TakeAsRequest(a.Choice.ID, approver(), policy(), at())
		},
		cancel,
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Expire(a.Choice.Terms.DecideBy.Add(time.Second))
		},
	} {
		ref := created(t, st, n)
		decided(t, st, ref, ask)
		p, err := st.Waiting(t.Context(), tenant, "", 10)
		if err != nil || len(p.Items) != 1 || p.Items[0].Ref.ID != ref.ID || p.Items[0].Kind != task.CardTask || p.Items[0].ID == "" || p.Items[0].DecideBy == nil {
			t.Fatalf("%d: %+v, %v", n, p.Items, err)
		}
		decided(t, st, ref, over)
		if p, err := st.Waiting(t.Context(), tenant, "", 10); err != nil || len(p.Items) != 0 {
			t.Errorf("%d: %+v, %v", n, p.Items, err)
		}
	}
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
		if x.Kind != task.CardPrompt || x.Key != "PROMPT#0001" || x.Version != 1 || x.ID == "" || x.DecideBy == nil || x.CreatedAt.IsZero() {
			t.Errorf("%+v", x)
		}
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
		return a.FinishPrompt(a.Head.Run, "方針", settings, at())
	})
	var got []string
	for _, x := range waiting(t, st) {
		got = append(got, x.Ref.ID)
	}
	expect.Same(t, []string{refs[3].ID, refs[4].ID}, got)
}

func testKindsWait(t *testing.T, st *taskStore, refs []aggregate.Ref) {
	decided(t, st, refs[0], beginProcess, finishProcess(2))
	decided(t, st, refs[3], approvePrompt, beginProcess, finishProcess(1), approveProcess, start, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"), at())
	})
	kinds := map[string]WaitingItem{}
	for _, x := range waiting(t, st) {
		kinds[x.Ref.ID] = x
	}
	if got := kinds[refs[0].ID]; got.Kind != task.CardProcess || got.Version != 1 {
		t.Errorf("%+v, want a process", got)
	}
	if got := kinds[refs[3].ID]; got.Kind != task.CardStep || got.StepID != "step-1" {
		t.Errorf("%+v, want a step", got)
	}
}
