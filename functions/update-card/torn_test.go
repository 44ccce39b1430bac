package main

import (
	"context"
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// tornOnce answers the first load with a torn read: rows that sort before HEAD (ANSWER, CARD, CHOICE, EXECUTION, GATE)
// are from was, the others are current.
type tornOnce struct {
	Store
	was *task.Aggregate
}

func (s *tornOnce) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a, err := s.Store.Load(ctx, ref)
	if s.was == nil || err != nil {
		return a, err
	}
	now := *a.(*task.Aggregate)
	now.Cards, now.Executions, now.Gates = s.was.Cards, s.was.Executions, s.was.Gates
	s.was = nil
	return &now, nil
}

func TestATornReadIsNotNotedAsShown(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	arguments := aggregate.JSON(`{"recipient":"U1","text":"x"}`)
	w.Approved(tenancy.DefaultSettings(), pipelinetest.Step(1, "send_slack_dm", aggregate.Write, string(arguments)))
	w.Begin()
	was := expect.Value(w.Store.Load(t.Context(), w.Ref))(t)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(1, 1, aggregate.Blob{JSON: arguments, Bytes: len(arguments)},
			aggregate.HashOf(string(arguments)), w.Now())
	})
	w.h.Store = &tornOnce{w.h.Store, was} // the message about StartExecution is drawn just as the gate opens
	expect.Must(t, w.deliverAt(was.Head), "given back for %v s", w.queue.hidden)
	a := w.Load()
	for _, c := range a.Cards {
		if c.State == aggregate.CardNone && !a.Effects(w.Now()).Cards {
			t.Errorf("card %s has no message, head rev %d counts as shown %d: neither relay nor sweeper asks for it; due %v, decide by %v", c.Key(), a.Head.Rev, a.Head.ShownRev, a.DueAt(w.Now()), a.Asked().DecideBy)
		}
	}
}
