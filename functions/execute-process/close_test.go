package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// givenUp returns an execution whose run was abandoned while its session works.
func (m *sessionWorld) givenUp(t *testing.T, limit float64) *task.Execution {
	t.Helper()
	m.Settings(func(s *tenancy.Settings) { s.MaxCostUSD = limit })
	m.approved(m.read(1), m.lone(2))
	m.agents.Thinks, m.h.PollFor = 1000, 20*time.Millisecond
	for m.Load().Execution().SessionID == "" || m.session().Messages == nil {
		m.run()
		m.later(time.Minute)
	}
	m.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonRunFailed, m.h.Now())
	})
	m.h.PollFor = time.Minute
	return m.Load().Execution()
}

func (m *sessionWorld) retry(e *task.Execution) {
	m.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(e.ID, pipelinetest.Approver(), pipelinetest.Policy(), m.h.Now())
	})
}

func TestSessionsAreClosedAndPaid(t *testing.T) {
	server := pipelinetest.Start(t)
	t.Run("the one of a run that was given up, before its retry opens another", func(t *testing.T) {
		m := newSessionWorld(t, server)
		e := m.givenUp(t, 0.25)
		m.retry(e)
		m.agents.Thinks = 0
		m.through()
		all := m.agents.Sessions()
		if len(all) != 2 || all[0].Interrupts != 1 {
			t.Fatalf("%d sessions, %d interrupts of the first", len(all), all[0].Interrupts)
		}
		a := m.Load()
		first := a.Executions[0]
		expect.Must(t, first.SessionClosed && first.Usage != nil && first.Usage.Cost != 0,
			"closed %v, paid %+v", first.SessionClosed, first.Usage)
		want := (aggregate.USD(0.25) - first.Usage.Cost) / 10_000 // whole cents
		if b := all[1].Made.Budget; b == nil || b.MaxListCost.Amount != fmt.Sprint(int64(want)) {
			t.Errorf("the second may cost %+v cents, want %d", b, want)
		}
		m.ends(task.ExecutionCompleted, "", task.StepCompleted, task.StepCompleted)
	})
	t.Run("the one whose bill fails and fails, once it can be had", func(t *testing.T) {
		m := newSessionWorld(t, server)
		m.givenUp(t, 0.25)
		m.agents.Fail(models.GetSession, slices.Repeat([]models.Fault{{Status: 500}}, 7)...)
		rests := 0
		for next := m.run(); next.State == task.StatePause; next = m.run() {
			rests++
			expect.Must(t, m.Load().DueAt(m.h.Now()) != nil, "the task rests before its session is paid")
			m.later(time.Duration(next.WaitSeconds) * time.Second)
		}
		if e := m.Load().Execution(); rests < 2 || !e.SessionClosed || e.Usage == nil || e.Usage.Cost == 0 {
			t.Errorf("after %d rests closed %v, paid %+v", rests, e.SessionClosed, e.Usage)
		}
	})
	t.Run("as the whole of their budget, when the vendor does not know them any more", func(t *testing.T) {
		m := newSessionWorld(t, server)
		e := m.givenUp(t, 0.25)
		m.agents.Fail(models.GetSession, models.Fault{Status: 404})
		m.run()
		if a := m.Load(); !a.Execution().SessionClosed || !a.CostReached(aggregate.USD(0.25)) {
			t.Errorf("closed %v, spent %s", a.Execution().SessionClosed, a.Spent())
		}
		m.retry(e)
		m.run()
		m.ends(task.ExecutionFailed, task.ReasonCostLimit)
		expect.Is(t, len(m.agents.Sessions()), 1, "sessions")
	})
}
