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
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, 1, pipelinetest.Desk("課長", 1, "U0CHIEF"))
	o.Rule.Numbered = true
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		g := a.Process()
		chief := circulation.Person{User: "U0CHIEF"}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: chief.User, Team: pipelinetest.Team, Member: true}
		act := circulation.Act{Kind: circulation.Stamp, Hand: chief, Principal: chief, Stage: 1, Hash: g.Asked}
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
	w := newWorld(t, pipelinetest.Start(t)).numberedLone()
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
			_, err := pipeline.NumberingSettled(ctx, w.h.Store, in.Ref(), func(of task.Series) (*task.Aggregate, error) {
				return w.h.Store.Decide(ctx, in.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
					return a.StartNumbered(in.Run, of, w.h.Now())
				})
			})
			if err != nil {
				t.Error(err)
			}
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
		expect.That(t, slices.ContainsFunc(of, func(n task.Numbered) bool { return n.String() == number && n.TaskID == x.Ref.ID }),
			"%s is another's", number)
	}
}
