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
	if len(a.Prompts) != 2 || a.Prompt().Version != 2 || len(a.Cards) != 3 {
		t.Errorf("%d prompts, version %d, %d cards; want 2, 2, 3", len(a.Prompts), a.Prompt().Version, len(a.Cards))
	}
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
	if !errors.As(err, &late) || late.By != approver().ID || calls != 2 {
		t.Errorf("%v after %d calls, want ErrDecided by %s after 2", err, calls, approver().ID)
	}
}

func testLastingConflict(t *testing.T, st *taskStore) {
	ref := created(t, st, 2)
	calls := 0
	_, err := st.Decide(t.Context(), ref, func(a *task.Aggregate) (aggregate.Change, error) {
		calls++
		return aggregate.Change{}, aggregate.ErrConflict
	})
	if !errors.Is(err, aggregate.ErrConflict) || calls != tornReads {
		t.Errorf("%v after %d calls, want ErrConflict after %d", err, calls, tornReads)
	}
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
