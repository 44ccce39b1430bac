package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/runtime/expect"
)

// numbered brings the task to the execution of steps that a rule with numbers had somebody settle.
func (w *world) numbered(steps ...task.Step) *world {
	w.T.Helper()
	settle(w.World, steps...)
	return w
}

func settle(w *pipelinetest.World, steps ...task.Step) {
	w.T.Helper()
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, pipelinetest.Desk("課長", 1, "U0CHIEF"))
	o.Rule.Numbered = true
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		g := a.Process()
		chief := circulation.Person{User: "U0CHIEF"}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: chief.User, Team: pipelinetest.Team, Member: true}
		act := circulation.Act{Kind: circulation.Stamp, Hand: chief, Principal: chief, Stage: 1, Hash: g.AskedSum}
		return a.Act(g.ID, act, by, pipelinetest.Policy(), w.Now())
	})
}

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

func TestWhatIsSettledByANumberedRuleRunsWithItsNumber(t *testing.T) {
	w := newWorld(t, pipelinetest.Start(t)).numberedLone()
	w.run()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	numbers, of := w.given()
	expect.Same(t, numbers, []int{1})
	expect.That(t, e.Number == of[0].String() && of[0].TaskID == w.Ref.ID, "%s, %+v", e.Number, of[0])
	w.written(1)
}

func (w *world) numberedLone() *world { return w.numbered(w.lone(1)) }

// So does what begins with too little time for its first call.
func TestWhatBeginsAloneHasItsNumber(t *testing.T) {
	w := newWorld(t, pipelinetest.Start(t)).numberedLone()
	expect.Value(w.try(minTurn - time.Second))(t)
	numbers, _ := w.given()
	expect.That(t, slices.Equal(numbers, []int{1}) && w.Load().Execution().Number != "", "%v", numbers)
}

// The answer to the commit that takes a number may be lost: it is taken once.
func TestANumberWhoseAnswerIsLostIsTakenOnce(t *testing.T) {
	w := newWorld(t, pipelinetest.Start(t)).numberedLone()
	w.Transport.DropAnswers("TransactWriteItems", 1)
	w.run()
	numbers, _ := w.given()
	expect.Same(t, numbers, []int{1})
	w.written(1)
}

// Thirty-two that begin at once have the numbers from 1 to 32.
func TestManyThatBeginAtOnceHaveNumbersWithoutAGap(t *testing.T) {
	const many = 32
	w := newWorld(t, pipelinetest.Start(t))
	settle(w.World, w.lone(1))
	refs := []*pipelinetest.World{w.World}
	for len(refs) < many {
		x := w.Another()
		settle(x, w.lone(1))
		refs = append(refs, x)
	}
	var wg sync.WaitGroup
	began := time.Now()
	for _, x := range refs {
		wg.Go(func() {
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
	}
	wg.Wait()
	t.Logf("%d began in %s", many, time.Since(began))
	numbers, of := w.given()
	for i, x := range of {
		expect.That(t, x.N == i+1, "number %d is the %dth", x.N, i+1)
	}
	expect.Is(t, len(numbers), many)
	for _, x := range refs {
		number := x.Load().Execution().Number
		expect.That(t, slices.ContainsFunc(of, func(n task.Numbered) bool {
			return n.String() == number && n.TaskID == x.Ref.ID
		}),
			"%s is another's", number)
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
	if left := time.Until(ends); !ok || left >= l.m.leaseUntil().Sub(l.m.h.Now()) {
		l.m.T.Errorf("%s is still out when its lease is over", call)
		return nil
	}
	<-ctx.Done()
	return &model.Error{Provider: aggregate.Anthropic, Kind: model.Overloaded, Retryable: true, Err: ctx.Err()}
}

func (l late) Start(ctx context.Context, at anthropic.Place, p anthropic.SessionPlan) (string, error) {
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
func TestNoCallOutlivesItsLease(t *testing.T) {
	expect.Patience(t)
	m := newSessionWorld(t, pipelinetest.Start(t))
	m.h.HoldFor = 3 * time.Second
	m.h.Sessions = late{m.h.Sessions, m, map[string]bool{}}
	m.approved(m.read(1), m.write(2))
	m.through()
	m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	m.written(1)
	if x := m.session(); len(x.Messages) != 1 || len(x.Answers) != 2 || x.Refused != 0 {
		t.Errorf("told %d times, %d answers, %d refused", len(x.Messages), len(x.Answers), x.Refused)
	}
}
