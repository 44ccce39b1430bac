package store

import (
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func testDecideBoth(t *testing.T, st *taskStore) {
	t.Run("whoever moves one of them has both decided again", func(t *testing.T) {
		for i, moved := range []int{0, 1} {
			refs := []aggregate.Ref{waitingPrompt(t, st, 10*i), waitingPrompt(t, st, 10*i+1)}
			expect.NoError(t, cancelAndReject(t, st, refs[0], refs[1], func() { decided(t, st, refs[moved], charge) }))
			wantBoth(t, st, refs[0], refs[1])
		}
	})
	t.Run("what one of them refuses is done to neither", func(t *testing.T) {
		first, second := waitingPrompt(t, st, 30), waitingPrompt(t, st, 31)
		err := cancelAndReject(t, st, first, second, func() { decided(t, st, second, approvePrompt) })
		late := aggregate.ErrDecided{}
		expect.That(t, errors.As(err, &late) && late.Status == string(aggregate.Approved), "%v", err)
		if a := loaded(t, st, first); a.Head.Ended != nil {
			t.Errorf("the other one ended %+v", a.Head.Ended)
		}
	})
	t.Run("an answer that was lost counts, and once", func(t *testing.T) {
		first, second := waitingPrompt(t, st, 40), waitingPrompt(t, st, 41)
		d := dropping("TransactWriteItems", 1)
		err := cancelAndReject(t, st.over(&forgetful{d}), first, second, func() {})
		expect.Must(t, err == nil && d.dropped.Load() == 1, "%v, %d answers were lost", err, d.dropped.Load())
		wantBoth(t, st, first, second)
	})
	t.Run("one that did not arrive is none", func(t *testing.T) {
		first, second := waitingPrompt(t, st, 50), waitingPrompt(t, st, 51)
		err := cancelAndReject(t, st.over(unreachable{}, oneTry), first, second, func() {})
		expect.That(t, err != nil, "it counts as done")
		if a, b := loaded(t, st, first), loaded(t, st, second); a.Head.Ended != nil || b.Prompt().Status != aggregate.PendingApproval {
			t.Errorf("ended %v, prompt %s", a.Head.Ended, b.Prompt().Status)
		}
	})
	st.parts(t, []part{
		{"both give their places back", testBothGivePlacesBack},
		{"rows of one that moves nothing are put beside the other's change", testHeadlessBesideAnother},
		{"the errors of a commit of two are those of a commit of one", testErrorsOfTwo},
		{"with nothing to change in one the other's is a commit alone", testOneChangeOfTwo},
	})
}

func testBothGivePlacesBack(t *testing.T, st *taskStore) {
	first, second := created(t, st, 60), created(t, st, 61)
	for _, ref := range []aggregate.Ref{first, second} {
		decided(t, st, ref, accept(tenancy.DefaultSettings()))
	}
	err := st.DecideBoth(t.Context(), first, second, func(a, b *task.Aggregate) (x, y aggregate.Change, err error) {
		if x, err = cancel(a); err == nil {
			y, err = cancel(b)
		}
		return x, y, err
	})
	if n, _ := st.Quota(t.Context(), tenant, "OPEN#*"); err != nil || n != 0 {
		t.Errorf("%v, %d places are taken", err, n)
	}
}

func testHeadlessBesideAnother(t *testing.T, st *taskStore) {
	first, second := waitingPrompt(t, st, 80), waitingPrompt(t, st, 81)
	expect.NoError(t, st.DecideBoth(t.Context(), first, second, func(_, b *task.Aggregate) (x, y aggregate.Change, err error) {
		x.Put(&aggregate.Use{Usage: aggregate.Usage{ID: "01USAGE", Calls: 1}})
		y, err = rejectPrompt(b)
		return x, y, err
	}))
	if a, b := loaded(t, st, first), loaded(t, st, second); len(a.Uses) != 1 || b.Prompt().Status != aggregate.Rejected {
		t.Errorf("%d rows of usage, prompt %s", len(a.Uses), b.Prompt().Status)
	}
}

func testErrorsOfTwo(t *testing.T, st *taskStore) {
	counter := aggregate.Count{Key: "OPEN#U9", By: 1, Most: 1, Reason: "full"}
	decided(t, st, waitingPrompt(t, st, 89), func(a *task.Aggregate) (aggregate.Change, error) {
		c, err := cancel(a)
		c.Counts = []aggregate.Count{counter}
		return c, err
	})
	changed := aggregate.Owned{Key: tenancy.SettingsKey, Rev: 9, Err: aggregate.ErrSettings}
	for i, c := range []struct {
		add  func(*aggregate.Change)
		want error
		done bool
	}{
		{func(c *aggregate.Change) { c.Then = aggregate.ErrUncovered }, aggregate.ErrUncovered, true},
		{func(c *aggregate.Change) { c.Owned = []aggregate.Owned{changed} }, aggregate.ErrSettings, false},
		{func(c *aggregate.Change) { c.Counts = []aggregate.Count{counter} }, aggregate.ErrFull{Count: counter}, false},
	} {
		first, second := waitingPrompt(t, st, 90+2*i), waitingPrompt(t, st, 91+2*i)
		err := st.DecideBoth(t.Context(), first, second, func(a, b *task.Aggregate) (x, y aggregate.Change, err error) {
			if x, err = cancel(a); err == nil {
				y, err = rejectPrompt(b)
			}
			c.add(&y)
			return x, y, err
		})
		if a := loaded(t, st, first); !errors.Is(err, c.want) || (a.Head.Ended != nil) != c.done {
			t.Errorf("%v, want %v; ended %v", err, c.want, a.Head.Ended)
		}
	}
}

func testOneChangeOfTwo(t *testing.T, st *taskStore) {
	first, second := waitingPrompt(t, st, 70), waitingPrompt(t, st, 71)
	err := st.DecideBoth(t.Context(), first, second, func(_, b *task.Aggregate) (x, y aggregate.Change, err error) {
		y, err = rejectPrompt(b)
		return x, y, err
	})
	if a, b := loaded(t, st, first), loaded(t, st, second); err != nil || a.Head.Rev != 3 || b.Prompt().Status != aggregate.Rejected {
		t.Errorf("%v, rev %d, prompt %s", err, a.Head.Rev, b.Prompt().Status)
	}
}

// cancelAndReject cancels the first task and rejects the second's prompt in one transaction. meanwhile runs after the
// first try.
func cancelAndReject(t *testing.T, st *taskStore, first, second aggregate.Ref, meanwhile func()) error {
	return st.DecideBoth(t.Context(), first, second, func(a, b *task.Aggregate) (x, y aggregate.Change, err error) {
		if x, err = cancel(a); err != nil {
			return x, y, err
		}
		y, err = rejectPrompt(b)
		meanwhile()
		meanwhile = func() {}
		return x, y, err
	})
}

// wantBoth fails the test unless both decisions were saved, and each was recorded once.
func wantBoth(t *testing.T, st *taskStore, first, second aggregate.Ref) {
	t.Helper()
	a, b := loaded(t, st, first), loaded(t, st, second)
	if a.Head.Ended == nil || b.Prompt().Status != aggregate.Rejected {
		t.Errorf("the one ended %v, the other's prompt is %s", a.Head.Ended, b.Prompt().Status)
	}
	if n, m := countAudit(t, st, first, task.AuditTaskCancelled), countAudit(t, st, second, task.AuditPromptRejected); n != 1 || m != 1 {
		t.Errorf("%d and %d audit entries", n, m)
	}
}

// charge gives a task a new revision without changing its state.
func charge(a *task.Aggregate) (aggregate.Change, error) {
	nothing := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }
	return task.Charge(aggregate.Usage{ID: "01USAGE", Calls: 1, Cost: 1}, at(), nothing)(a)
}
