package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// given returns the numbers of the fiscal year in which the task was settled, the lowest first.
func (w *world) given() (numbers []int, of []task.Numbered) {
	w.T.Helper()
	year := tenancy.DefaultSettings().FiscalYear(*w.Load().Process().ApprovedAt)
	of = expect.Value(w.StoreOverTransport().Numbers(w.T.Context(), w.Ref.Tenant, year, "", 0))(w.T)
	slices.Reverse(of)
	for _, x := range of {
		numbers = append(numbers, x.N)
	}
	return numbers, of
}

// settle has somebody settle the steps by a rule with numbers.
func settle(w *ringitest.World, steps ...task.Step) {
	w.T.Helper()
	o := ringitest.Along([]string{w.Load().Head.Requester}, ringitest.Desk("課長", 1, "U0CHIEF"))
	o.Rule.Numbered = true
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	w.Stamp("U0CHIEF")
}

// What a rule with numbers settles runs with its number: also what begins with too little time for its first call, and
// what begins by a commit whose answer is lost.
func TestWhatIsSettledByANumberedRuleRunsWithItsNumber(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(w *world){
		"it runs": func(w *world) { w.run() },
		"it begins alone": func(w *world) {
			expect.Value(w.try(minTurn - time.Second))(w.T)
			expect.That(w.T, w.Load().Execution().Number != "", "it has none")
			w.run()
		},
		"the answer is lost": func(w *world) { w.Transport.DropAnswers("TransactWriteItems", 1); w.run() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			settle(w.World, w.lone(1))
			run(w)
			e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
			numbers, of := w.given()
			expect.Same(t, numbers, []int{1})
			expect.That(t, e.Number == of[0].String() && of[0].TaskID == w.Ref.ID, "%s, %+v", e.Number, of[0])
			w.written(1)
		})
	}
}

// However many begin at once, they have numbers without a gap.
func TestManyThatBeginAtOnceHaveNumbersWithoutAGap(t *testing.T) {
	t.Parallel()
	many := 12
	if expect.Long() {
		many = 32
	}
	w := newWorld(t)
	settle(w.World, w.lone(1))
	refs := []*ringitest.World{w.World}
	for len(refs) < many {
		x := w.Another()
		settle(x, w.lone(1))
		refs = append(refs, x)
	}
	expect.AtOnce(len(refs), func(i int) {
		x := refs[i]
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 60*time.Second)
		defer cancel()
		in := x.In()
		_, err := pipeline.Numbering(ctx, w.h.Store, in.Ref(), func(of task.Series) (*task.Aggregate, error) {
			return w.h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
				return a.StartExecution(in.Run, of, w.h.Now())
			})
		})
		expect.That(t, err == nil, "%v", err)
	})
	numbers, of := w.given()
	for i, x := range of {
		expect.That(t, x.N == i+1, "number %d is the %dth", x.N, i+1)
	}
	expect.Is(t, len(numbers), many)
	for _, x := range refs {
		number := x.Load().Execution().Number
		own := func(n task.Numbered) bool { return n.String() == number && n.TaskID == x.Ref.ID }
		expect.That(t, slices.ContainsFunc(of, own), "%s is another's", number)
	}
}

// late is a vendor that answers the first call of each kind after the caller has given up.
type late struct {
	Sessions
	m   *sessionWorld
	met map[string]bool
}

// until waits until a call is given up, which must happen before its lease ends.
func (l late) until(ctx context.Context, call string) error {
	if l.met[call] {
		return nil
	}
	l.met[call] = true
	ends, ok := ctx.Deadline()
	left, now := time.Until(ends), l.m.h.Now() // at one moment: to read the lease takes time
	if !ok || left >= l.m.leaseUntil().Sub(now) {
		l.m.T.Errorf("%s is still out when its lease is over", call)
		return nil
	}
	<-ctx.Done()
	return &model.Error{Provider: aggregate.Anthropic, Kind: model.Overloaded, Retryable: true, Err: ctx.Err()}
}

func (l late) Start(ctx context.Context, at provider.Place, p provider.SessionPlan) (string, error) {
	gone := l.until(ctx, "start")
	id, err := l.Sessions.Start(context.WithoutCancel(ctx), at, p)
	if gone != nil {
		return "", gone
	}
	return id, err
}

func (l late) Answer(ctx context.Context, session, request, text string, failed bool) error {
	gone := l.until(ctx, "answer")
	err := l.Sessions.Answer(context.WithoutCancel(ctx), session, request, text, failed)
	if gone != nil {
		return gone
	}
	return err
}

// A call to a session ends before the caller's lease: it never overlaps with the next caller, however late the vendor
// answers, and a message that the vendor accepted is not sent again.
func testLease(t *testing.T, m *sessionWorld) {
	m.h.HoldFor = time.Second
	m.h.Sessions = late{m.h.Sessions, m, map[string]bool{}}
	m.approved(m.read(1), m.write(2))
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || len(x.Answers) != 2 || x.Refused != 0 {
		t.Errorf("told %d times, %d answers, %d refused", len(x.Messages), len(x.Answers), x.Refused)
	}
}

// A step's result and the next step's claim are one commit. Whatever refuses the claim, the result is saved at once and
// each call is made once.
func TestAResultIsSavedWithTheNextClaimOrAlone(t *testing.T) {
	each(t, map[string]func(*testing.T, *world){
		"one commit for each of the steps":                             testJoined,
		"when the task is cancelled at the start":                      testStartCancelled,
		"after the next tool was forbidden":                            testJoinForbidden,
		"after another run began":                                      testJoinSuperseded,
		"when the commit's answer is lost":                             testJoinLost,
		"when the commit's answer is lost until the call's time is up": testJoinLostForLong,
	})
}

// commits returns how many transactions do makes.
func (w *world) commits(do func()) int {
	before := w.Transport.Count("TransactWriteItems")
	do()
	return w.Transport.Count("TransactWriteItems") - before
}

// onCall calls do before the n-th call of a tool.
func (w *world) onCall(n int, do func()) {
	calls := 0
	w.tools.before = func(tool.Call) {
		if calls++; calls == n {
			do()
		}
	}
}

// supersede starts another run, as when this one's call takes too long.
func (w *world) supersede() {
	w.Later(w.h.Now().Add(2 * time.Minute).Sub(w.Now()))
	w.Restart()
}

func testJoined(t *testing.T, w *world) {
	w.approved(w.read(1), w.write(2), w.lone(3))
	began := w.Load().Head.Rev
	n := w.commits(func() { w.run() })
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted, task.StepCompleted)
	w.written(2)
	a := w.Load()
	expect.That(t, n == 5 && a.Head.Rev == began+5, "%d commits, revision %d, want 5 after %d", n, a.Head.Rev, began)
	expect.That(t, a.Steps[0].StartedAt.Equal(*e.StartedAt), "it started %s, the first step %s", e.StartedAt,
		a.Steps[0].StartedAt)
	for i, s := range a.Steps[1:] {
		expect.That(t, s.StartedAt.Equal(*a.Steps[i].CompletedAt), "step %d ended %s, the next began %s", i+1,
			a.Steps[i].CompletedAt, s.StartedAt)
	}
}

func testStartCancelled(t *testing.T, w *world) {
	w.approved(w.lone(1))
	w.Transport.Before("TransactWriteItems", func() { w.Cancel() })
	expect.Fails(t, expect.Err(w.try(functionTime)), aggregate.ErrSuperseded, "it starts")
	w.ends(task.ExecutionCancelled, "")
	w.written(0)
}

// forbid takes away a tool's permission.
func (w *world) forbid(name string) {
	w.T.Helper()
	p, _, err := w.Store.ToolPermission(w.T.Context(), w.Ref.Tenant, name)
	expect.NoError(w.T, err)
	p.Allowed = false
	expect.Value(w.Store.SaveToolPermission(w.T.Context(), p, ringitest.Approver(), w.Now()))(w.T)
}

func testJoinForbidden(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, func() { w.forbid(writing) })
	expect.Is(t, w.run().State, task.StateFail)
	w.ends(task.ExecutionFailed, task.ReasonToolNotAllowed, task.StepCompleted)
	w.written(0)
}

func testJoinSuperseded(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, w.supersede)
	expect.Fails(t, expect.Err(w.try(functionTime)), aggregate.ErrSuperseded, "the run goes on")
	w.ends(task.ExecutionRunning, "", task.StepCompleted)
	w.written(0)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
}

// unsure loses the answers to the next commit, and to what would tell that it was written.
func (w *world) unsure() {
	w.Transport.DropAnswers("TransactWriteItems", 3) // all that the client tries
	w.Transport.DropCalls("GetItem", 6)
	w.h.Store = fixedPermissions{w.h.Store}
}

func testJoinLost(t *testing.T, w *world) {
	w.approved(w.read(1), w.lone(2))
	w.onCall(1, w.unsure)
	w.run()
	w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	w.written(1)
	expect.Is(t, w.vendors.Calls(listing), 1, "calls listed")
}

// The second step's claim is found when its time is already up. It is not called any more: a write is then unknown, as
// after a crash between claim and call.
func testJoinLostForLong(t *testing.T, w *world) {
	w.approved(w.read(1), w.read(2))
	w.onCall(1, func() {
		w.unsure()
		w.Transport.Before("Query", func() { w.later(2 * time.Minute) })
	})
	w.goesWell(func() (aggregate.Next, error) {
		next, err := w.try(functionTime)
		expect.That(t, err != nil || next.State == task.StateFinish, "%+v", next)
		return next, err
	})
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	crashes := w.Load().StepOf(e, 2).Crashes
	expect.That(t, crashes == 1 && w.vendors.Calls(listing) == 2, "%d crashes, %d calls", crashes,
		w.vendors.Calls(listing))
}
