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
	expect.Is(t, count.calls.Load(), 1, "calls")
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
