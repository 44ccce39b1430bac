package store

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testLostAnswers(t *testing.T, st *taskStore) {
	for i, c := range []struct {
		name    string
		lose    int32
		options []func(*dynamodb.Options)
	}{
		{"once, and the call is repeated", 1, nil},
		{"once, and the call is not repeated", 1, []func(*dynamodb.Options){oneTry}},
		{"each time", 100, nil},
	} {
		losing := func(operation string) (*taskStore, *dropper) {
			d := dropping(operation, c.lose)
			return st.over(d, c.options...), d
		}
		t.Run("of a commit, "+c.name, func(t *testing.T) {
			ref := waitingPrompt(t, st, 10*i)
			through, d := losing("TransactWriteItems")
			after := committed(t, through, ref, approvePrompt)
			loaded := loaded(t, st, ref)
			expect.That(t, d.dropped.Load() != 0, "no answer was lost: the test proves nothing")
			if after.Head.Rev != loaded.Head.Rev || loaded.Prompt().Status != aggregate.Approved {
				t.Errorf("rev %d returned, %d in the table, prompt %s", after.Head.Rev, loaded.Head.Rev, loaded.Prompt().Status)
			}
			expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
		})
		t.Run("of a claim of a card, "+c.name, func(t *testing.T) {
			if c.lose > 1 || c.options != nil {
				return // the answer to this call is lost too
			}
			ref := created(t, st, 10*i+1)
			through, _ := losing("UpdateItem")
			expect.Value(through.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at()))(t)
		})
	}

	st.parts(t, []part{
		{"of a create that is repeated", testLostCreate},
		{"and the table has forgotten the token", testForgottenToken},
		{"a commit that did not arrive is an error", testNoArrival},
	})
}

func testLostCreate(t *testing.T, st *taskStore) {
	d := dropping("TransactWriteItems", 1)
	c, _ := received(t, 100)
	expect.NoError(t, st.over(d).Create(t.Context(), c))
	expect.Is(t, d.dropped.Load(), 1, "no answer was lost")
}

func testForgottenToken(t *testing.T, st *taskStore) {
	// The repeated call finds its own earlier write.
	ref := waitingPrompt(t, st, 101)
	d := dropping("TransactWriteItems", 1)
	committed(t, st.over(&forgetful{next: d}), ref, approvePrompt)
	expect.Is(t, d.dropped.Load(), 1, "no answer was lost")
	expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
	d.left.Store(1)
	c, _ := received(t, 102)
	err := st.over(&forgetful{next: d}).Create(t.Context(), c)
	expect.That(t, err == nil, "create: %v", err)
}

func testNoArrival(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 103)
	_, err := st.over(unreachable{}, oneTry).Decide(t.Context(), ref, approvePrompt)
	expect.That(t, err != nil && !errors.Is(err, aggregate.ErrConflict), "%v, want an error that is no conflict", err)
	if a, err := st.Load(t.Context(), ref); err != nil || a.Prompt().Status != aggregate.PendingApproval {
		t.Errorf("prompt %s, %v", a.Prompt().Status, err)
	}
}

// committed commits a decision in one try: deciding again would hide the commit's error.
func committed(t *testing.T, s *taskStore, ref aggregate.Ref, d decision) *task.Aggregate {
	t.Helper()
	a := loaded(t, s, ref)
	c := expect.Value(d(a))(t)
	return expect.Value(s.Commit(t.Context(), a, c))(t)
}

func countAudit(t *testing.T, s *taskStore, ref aggregate.Ref, action aggregate.Action) int {
	t.Helper()
	n := 0
	for _, it := range rows(t, s, "AUDIT#"+ref.Tenant+"#2026-04") {
		if table.TextOf(it, "task_id") == ref.ID && table.TextOf(it, "action") == string(action) {
			n++
		}
	}
	return n
}
