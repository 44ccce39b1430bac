package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func testRaces(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"of 32 people who approve at once one does, and 31 learn who", testApprovalsAtOnce},
		{"of 8 runs that begin a version one makes it", testVersionsAtOnce},
		{"revisions count every change once", testRevisionsAtOnce},
	})
}

func testApprovalsAtOnce(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)

	a := loaded(t, st, ref)
	id := a.Prompt().ID
	const people = 32
	var mu sync.Mutex
	var winners []string
	told := map[string]int{}
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			by := approver()
			by.ID = fmt.Sprintf("U%02d", i)
			_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
				return does(a, circulation.Stamp, id, "", by, at())
			})
			mu.Lock()
			defer mu.Unlock()
			var late aggregate.ErrDecided
			switch {
			case err == nil:
				winners = append(winners, by.ID)
			case errors.As(err, &late) && late.Status == string(aggregate.Approved) && !late.At.IsZero():
				told[late.By]++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	expect.Must(t, len(winners) == 1, "%v approved, want one", winners)
	expect.Same(t, map[string]int{winners[0]: people - 1}, told)
	expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
}

func testVersionsAtOnce(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 2)
	decided(t, st, ref, rejectPrompt)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			a, err := st.Decide(t.Context(), ref, beginPrompt)
			if err != nil {
				t.Error(err)
			} else if len(a.Prompts) != 2 {
				t.Errorf("%d prompts, want 2", len(a.Prompts))
			}
		})
	}
	all.Wait()
	a := loaded(t, st, ref)
	expect.That(t, len(a.Prompts) == 2 && a.Prompt().Version == 2 && len(a.Cards) == 3,
		"%d prompts, version %d, %d cards; want 2, 2, 3", len(a.Prompts), a.Prompt().Version, len(a.Cards))
}

func testRevisionsAtOnce(t *testing.T, st *taskStore) {
	ref := created(t, st, 3)
	const writers = 12
	var mu sync.Mutex
	var revs []int
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			a, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
				return a.WaitUntil(a.Head.Run, a.Generating(), at().Add(time.Duration(i)*time.Minute), at())
			})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			revs = append(revs, a.Head.Rev)
		})
	}
	all.Wait()
	slices.Sort(revs)
	var want []int
	for i := range writers {
		want = append(want, i+2)
	}
	expect.Same(t, want, revs)
}

func testDecide(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a decision is made again over what somebody else did", testDecidedAgain},
		{"rows that stay at odds are reported", testLastingConflict},
		{"a refusal is returned at once", testRefusalAtOnce},
		{"a retry that uncovers an unknown write says so after recording it", testUncoveredWrite},
	})
}

func testDecidedAgain(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)
	calls := 0
	_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		if calls++; calls == 1 {
			decided(t, st, ref, rejectPrompt)
		}
		by := approver()
		by.ID = "U0LATE"
		return does(a, circulation.Stamp, a.Prompts[0].ID, "", by, at())
	})
	var late aggregate.ErrDecided
	expect.That(t, errors.As(err, &late) && late.By == approver().ID && calls == 2,
		"%v after %d calls, want ErrDecided by %s after 2", err, calls, approver().ID)
}

func testLastingConflict(t *testing.T, st *taskStore) {
	ref := created(t, st, 2)
	calls := 0
	_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		calls++
		return aggregate.Change{}, aggregate.ErrConflict
	})
	expect.That(t, errors.Is(err, aggregate.ErrConflict) && calls == tornReads,
		"%v after %d calls, want ErrConflict after %d", err, calls, tornReads)
}

func testRefusalAtOnce(t *testing.T, st *taskStore) {
	ref := created(t, st, 3)
	no := errors.New("no")
	calls := 0
	_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		calls++
		return aggregate.Change{}, no
	})
	expect.That(t, errors.Is(err, no) && calls == 1, "%v after %d calls", err, calls)
}

func testUncoveredWrite(t *testing.T, st *taskStore) {
	ref := running(t, st, 4, 1)
	a := decided(t, st, ref, claim(1), cancel)
	// The lease of a cancelled task's call expires. The task's status is then set to failed, as a crash would leave it.
	e := *a.Execution()
	e.Status = task.ExecutionFailed
	failed := *a.Task
	failed.Status = task.TaskFailed
	h := a.Head
	c := aggregate.Change{Head: &h, Rows: []aggregate.Row{&e, &failed}, Now: at().Add(time.Second)}
	h.Ended = &task.Ended{As: task.TaskFailed, At: at(), Reason: task.ReasonRunFailed}
	expect.Value(st.Commit(t.Context(), a, c))(t)
	after, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(a.Execution().ID, approver(), policy(), at().Add(time.Hour))
	})
	expect.Must(t, errors.Is(err, aggregate.ErrUncovered) && after != nil, "%v, want ErrUncovered and the aggregate", err)
	loaded := loaded(t, st, ref)
	if got := loaded.Steps[0].Status; got != task.StepUnknown || len(loaded.Executions) != 1 {
		t.Errorf("step %s, %d executions; want unknown, 1", got, len(loaded.Executions))
	}
}

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
		a := loaded(t, st, first)
		expect.That(t, a.Head.Ended == nil, "the other one ended %+v", a.Head.Ended)
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
		a, b := loaded(t, st, first), loaded(t, st, second)
		expect.That(t, a.Head.Ended == nil && b.Prompt().Status == aggregate.PendingApproval, "ended %v, prompt %s",
			a.Head.Ended, b.Prompt().Status)
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
	n, _ := st.Quota(t.Context(), tenant, "OPEN#*")
	expect.That(t, err == nil && n == 0, "%v, %d places are taken", err, n)
}

func testHeadlessBesideAnother(t *testing.T, st *taskStore) {
	first, second := waitingPrompt(t, st, 80), waitingPrompt(t, st, 81)
	expect.NoError(t, st.DecideBoth(t.Context(), first, second,
		func(_, b *task.Aggregate) (x, y aggregate.Change, err error) {
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
	a, b := loaded(t, st, first), loaded(t, st, second)
	expect.That(t, err == nil && a.Head.Rev == 3 && b.Prompt().Status == aggregate.Rejected, "%v, rev %d, prompt %s", err,
		a.Head.Rev, b.Prompt().Status)
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
	expect.That(t, a.Head.Ended != nil && b.Prompt().Status == aggregate.Rejected,
		"the one ended %v, the other's prompt is %s", a.Head.Ended, b.Prompt().Status)
	n, m := countAudit(t, st, first, task.AuditTaskCancelled), countAudit(t, st, second, task.AuditPromptRejected)
	expect.That(t, n == 1 && m == 1, "%d and %d audit entries", n, m)
}

// charge gives a task a new revision without changing its state.
func charge(a *task.Aggregate) (aggregate.Change, error) {
	nothing := func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }
	return task.Charge(aggregate.Usage{ID: "01USAGE", Calls: 1, Cost: 1}, at(), nothing)(a)
}

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
	calls := count.calls.Load()
	expect.That(t, calls == 1, "%d calls, want the one that commits", calls)
	stored, err := st.Load(t.Context(), ref)
	expect.That(t, err == nil && stored.Head.Rev == a.Head.Rev && stored.Prompt().Version == 2,
		"stored revision %d, version %d, %v; returned %d", stored.Head.Rev, stored.Prompt().Version, err, a.Head.Rev)
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
		expect.That(t, err == nil && asked == 2 && a.Prompt().Status == aggregate.Approved && loaded(t, st, ref).Uses == nil,
			"%s: asked %d times, %v; want the second answer to count", name, asked, err)
	}
}

func testLostOnKnownRows(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 40)
	a := decided(t, st, ref, rejectPrompt)
	drop := dropping("TransactWriteItems", 1)
	after, err := st.over(&forgetful{drop}).DecideOn(t.Context(), a, beginPrompt)
	expect.Must(t, err == nil && drop.dropped.Load() == 1, "%v, %d answers were lost", err, drop.dropped.Load())
	stored, err := st.Load(t.Context(), ref)
	expect.That(t, err == nil && len(stored.Prompts) == 2 && stored.Head.Rev == after.Head.Rev,
		"%d prompts at revision %d, returned %d: %v", len(stored.Prompts), stored.Head.Rev, after.Head.Rev, err)
}
