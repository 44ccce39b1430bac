package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// testRaces: of 32 people who approve at once one does, and 31 learn who. infra/stories has the other races.
func testRaces(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 1)

	a := loaded(t, st, ref)
	id := a.Prompt().ID
	const people = 32
	var mu sync.Mutex
	var winners []string
	told := map[string]int{}
	expect.AtOnce(people, func(i int) {
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
	expect.Must(t, len(winners) == 1, "%v approved, want one", winners)
	expect.Same(t, map[string]int{winners[0]: people - 1}, told)
	expect.Is(t, countAudit(t, st, ref, task.AuditPromptApproved), 1, "audit entries")
}

func testDecide(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a decision is made again over what somebody else did", testDecidedAgain},
		{"a refusal is returned, of rows at odds after some reads", testRefused},
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

// testRefused: rows that stay at odds are read again some times; any other refusal is returned at once.
func testRefused(t *testing.T, st *taskStore) {
	ref := created(t, st, 2)
	for refusal, want := range map[error]int{aggregate.ErrConflict: tornReads, errors.New("no"): 1} {
		calls := 0
		_, err := st.Decide(t.Context(), ref, func(*task.Aggregate) (aggregate.Change, error) {
			calls++
			return aggregate.Change{}, refusal
		})
		expect.Fails(t, err, refusal)
		expect.Is(t, calls, want, "calls")
	}
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
	count := counting()
	a = expect.Value(st.over(count).DecideOn(t.Context(), a, beginPrompt))(t)
	expect.Is(t, count.met.Load(), 1, "calls")
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
	after, err := st.over(forgetting(drop)).DecideOn(t.Context(), a, beginPrompt)
	expect.Must(t, err == nil && drop.met.Load() == 1, "%v, %d answers were lost", err, drop.met.Load())
	stored, err := st.Load(t.Context(), ref)
	expect.That(t, err == nil && len(stored.Prompts) == 2 && stored.Head.Rev == after.Head.Rev,
		"%d prompts at revision %d, returned %d: %v", len(stored.Prompts), stored.Head.Rev, after.Head.Rev, err)
}

const hourOfAt = "2026-04-18T14"

func accept(s tenancy.Settings) decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: a.Request.TeamID}
		return a.Accept(a.Head.Run, by, s, at())
	}
}

// places returns how many open tasks, and how many tasks of this hour, a person has.
func places(t *testing.T, st *taskStore, ref aggregate.Ref, user string) (open, hour int) {
	t.Helper()
	for key, n := range map[string]*int{"OPEN#" + user: &open, user + "#" + hourOfAt: &hour} {
		*n = counted(t, st.t, ref.Tenant, key)
	}
	return open, hour
}

// counted returns a counter's value; a missing one is 0.
func counted(t *testing.T, in *table.Table, tenant, key string) int {
	t.Helper()
	var x struct{ N int }
	err := in.Get(t.Context(), quotas+tenant, key, &x)
	expect.NoError(t, table.Unless(err, aggregate.ErrNotFound))
	return x.N
}

func testQuota(t *testing.T, st *taskStore) {
	st.parts(t, []part{
		{"a place is taken with the task and given back with its end", testPlaceTakenAndGivenBack},
		{"there is no place", testNoPlace},
		{"many at once take as many places as there are", testPlacesAtOnce},
		{"an answer that is lost counts once", testPlaceOfLostAnswer},
	})
}

func testPlaceTakenAndGivenBack(t *testing.T, other *taskStore) {
	st := other.suite.store(t)
	ref := created(t, st, 1)
	a := decided(t, st, ref, accept(tenancy.DefaultSettings()))
	open, hour := places(t, st, ref, a.Head.Requester)
	expect.That(t, open == 1 && hour == 1, "%d open, %d this hour", open, hour)
	h, err := st.Head(t.Context(), ref)
	expect.That(t, err == nil && h.AcceptedAt != nil, "%+v, %v", h, err)
	decided(t, st, ref, cancel)
	open, hour = places(t, st, ref, a.Head.Requester)
	expect.That(t, open == 0 && hour == 1, "after the end: %d open, %d this hour", open, hour)
}

func testNoPlace(t *testing.T, other *taskStore) {
	for name, tt := range map[string]struct {
		open, hour int
		reason     aggregate.Reason
	}{
		"at the same time": {1, 0, task.ReasonOpenPerson},
		"this hour":        {0, 1, task.ReasonHourPerson},
	} {
		t.Run(name, func(t *testing.T) {
			st, x := other.suite.store(t), tenancy.DefaultSettings()
			x.MaxOpenTasks, x.MaxTasksPerHour = tt.open, tt.hour
			decided(t, st, created(t, st, 1), accept(x))
			second := created(t, st, 2)
			_, err := st.Decide(t.Context(), second, accept(x))
			var full aggregate.ErrFull
			expect.Must(t, errors.As(err, &full) && full.Reason == tt.reason && full.Most == 1 &&
				!errors.Is(err, aggregate.ErrConflict), "%v", err)
			h, err := st.Head(t.Context(), second)
			expect.That(t, err == nil && h.Rev == 1, "a refusal wrote: rev %d, %v", h.Rev, err)
			expect.Is(t, tt.hour != 0, !full.Until.IsZero(), "until %v", full.Until)
			a := decided(t, st, second, func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseFull(1, full, at()) })
			e := a.Head.Ended
			expect.That(t, e != nil && e.As == task.TaskRefused && e.Detail == "1", "%+v", e)
			expect.Is(t, countAudit(t, st, second, task.AuditTaskRefused), 1, "audit entries")
			open, _ := places(t, st, second, a.Head.Requester)
			expect.That(t, open == 1, "%d open", open)
		})
	}
}

func testPlacesAtOnce(t *testing.T, other *taskStore) {
	st, x := other.suite.store(t), tenancy.DefaultSettings()
	x.MaxOpenTasks = 3
	var refs []aggregate.Ref
	for n := range 10 {
		refs = append(refs, created(t, st, n+1))
	}
	full := errors.New("full")
	taken, refused := atOnce(t, len(refs), func(i int) error {
		_, err := st.Decide(context.WithoutCancel(t.Context()), refs[i], accept(x))
		if _, is := errors.AsType[aggregate.ErrFull](err); is {
			return full
		}
		return err
	}, full)
	open, _ := places(t, st, refs[0], expect.Value(st.Load(t.Context(), refs[0]))(t).Head.Requester)
	expect.That(t, taken == 3 && refused == 7 && open == 3, "%d taken, %d refused, %d counted", taken, refused, open)
}

func testPlaceOfLostAnswer(t *testing.T, other *taskStore) {
	for n, options := range [][]func(*dynamodb.Options){nil, {oneTry}} {
		st := other.suite.store(t)
		ref := created(t, st, n+1)
		for _, d := range []decision{accept(tenancy.DefaultSettings()), cancel} {
			drop := dropping("TransactWriteItems", 1)
			committed(t, st.over(drop, options...), ref, d)
			expect.Must(t, drop.met.Load() != 0, "no answer was lost: the test proves nothing")
		}
		open, hour := places(t, st, ref, expect.Value(st.Load(t.Context(), ref))(t).Head.Requester)
		expect.That(t, open == 0 && hour == 1, "%d open, %d this hour", open, hour)
	}
}

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
	waits := func(want ...aggregate.Ref) {
		t.Helper()
		got := []aggregate.Ref{}
		for _, x := range waiting(t, st) {
			got = append(got, x.Ref)
			expect.That(t, x.Kind == task.CardPrompt && x.Key == "PROMPT#0001" && x.Version == 1 && x.ID != "" &&
				x.DecideBy != nil && !x.CreatedAt.IsZero(), "%+v", x)
		}
		expect.Same(t, want, got)
	}
	waits(refs...) // the oldest first
	decided(t, st, refs[0], approvePrompt)
	decided(t, st, refs[1], rejectPrompt)
	decided(t, st, refs[2], cancel)
	decided(t, st, created(t, st, 10), extract, beginPrompt, func(a *task.Aggregate) (aggregate.Change, error) {
		settings := tenancy.DefaultSettings()
		settings.PromptApprovalRequired = false
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, settings, at())
	})
	waits(refs[3], refs[4])
	others := expect.Value(st.Waiting(t.Context(), "01OTHER", "", 10))(t)
	expect.Is(t, len(others.Items), 0, "of another tenant")

	// Processes and step gates are listed as what they are.
	decided(t, st, refs[0], beginProcess, finishProcess(2))
	decided(t, st, refs[3], approvePrompt, beginProcess, finishProcess(1), approveProcess, start,
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: "{}"}, aggregate.HashOf("{}"), nil, at())
		})
	kinds := map[string]WaitingItem{}
	for _, x := range waiting(t, st) {
		kinds[x.Ref.ID] = x
	}
	process, step := kinds[refs[0].ID], kinds[refs[3].ID]
	expect.That(t, process.Kind == task.CardProcess && process.Version == 1, "%+v, want a process", process)
	expect.That(t, step.Kind == task.CardStep && step.Version == 1, "%+v, want a step", step)
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
