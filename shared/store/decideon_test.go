package store

import (
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func testDecideOn(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"what nobody moved is not read again", testNotReadAgain},
		{"an approval over rows that are behind learns who was faster", testApprovalBehind},
		{"rows that are behind can neither refuse nor say that nothing moves", testRefusalBehind},
		{"a commit whose answer was lost counts once", testLostOnKnownRows},
	})
}

func testNotReadAgain(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)
	a := decided(t, st, ref, rejectPrompt)
	count := &counter{}
	a = expect.Value(st.over(count).DecideOn(t.Context(), a, beginPrompt))(t)
	if calls := count.calls.Load(); calls != 1 {
		t.Errorf("%d calls, want the one that commits", calls)
	}
	if stored, err := st.Load(t.Context(), ref); err != nil || stored.Head.Rev != a.Head.Rev || stored.Prompt().Version != 2 {
		t.Errorf("stored revision %d, version %d, %v; returned %d", stored.Head.Rev, stored.Prompt().Version, err, a.Head.Rev)
	}
}

func testApprovalBehind(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 2)
	behind := loaded(t, st, ref)
	decided(t, st, ref, rejectPrompt)
	_, err := st.DecideOn(t.Context(), behind, approvePrompt)
	late := aggregate.ErrDecided{}
	expect.That(t, errors.As(err, &late) && late.Status == string(aggregate.Rejected), "got %v, want who rejected", err)
	if a, err := st.Load(t.Context(), ref); err != nil || a.Prompt().Status != aggregate.Rejected {
		t.Errorf("the prompt is %s, %v", a.Prompt().Status, err)
	}
}

func testRefusalBehind(t *testing.T, st *taskStore) {
	for name, stale := range map[string]func() (aggregate.Change, error){
		"refuse":         func() (aggregate.Change, error) { return aggregate.Change{}, aggregate.ErrSuperseded },
		"have no change": func() (aggregate.Change, error) { return aggregate.Change{}, nil },
		"say that nothing moves": func() (aggregate.Change, error) {
			return aggregate.Change{Rows: []aggregate.Row{&aggregate.Use{Usage: aggregate.Usage{ID: "01STALE", Calls: 1}}}}, nil
		},
	} {
		ref := waitingPrompt(t, st, 3+len(name))
		behind := loaded(t, st, ref)
		asked := 0
		a, err := st.DecideOn(t.Context(), behind, func(a *task.Aggregate) (aggregate.Change, error) {
			if asked++; asked == 1 {
				return stale()
			}
			return approvePrompt(a)
		})
		if err != nil || asked != 2 || a.Prompt().Status != aggregate.Approved || loaded(t, st, ref).Uses != nil {
			t.Errorf("%s: asked %d times, %v; want the second answer to count", name, asked, err)
		}
	}
}

func testLostOnKnownRows(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 40)
	a := decided(t, st, ref, rejectPrompt)
	drop := dropping("TransactWriteItems", 1)
	after, err := st.over(&forgetful{drop}).DecideOn(t.Context(), a, beginPrompt)
	expect.Must(t, err == nil && drop.dropped.Load() == 1, "%v, %d answers were lost", err, drop.dropped.Load())
	stored, err := st.Load(t.Context(), ref)
	if err != nil || len(stored.Prompts) != 2 || stored.Head.Rev != after.Head.Rev {
		t.Errorf("%d prompts at revision %d, returned %d: %v", len(stored.Prompts), stored.Head.Rev, after.Head.Rev, err)
	}
}
