package main

import (
	"context"
	"fmt"
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

// Head returns the head from before the gate opened until the torn load has happened.
func (s *tornOnce) Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error) {
	if s.was != nil {
		return s.was.Root(), nil
	}
	return s.Store.Head(ctx, ref)
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
	for name, deliver := range map[string]func(w *world, was task.Head) bool{
		"the message names a revision": (*world).deliverAt,
		"an early release's message": func(w *world, _ task.Head) bool {
			return w.send(fmt.Sprintf(`{"tenant":%q,"task":%q}`, w.Ref.Tenant, w.Ref.ID))
		},
	} {
		t.Run(name, func(t *testing.T) { testATornRead(t, deliver) })
	}
}

func testATornRead(t *testing.T, deliver func(*world, task.Head) bool) {
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
	expect.Must(t, deliver(w, was.Head), "given back for %v s", w.queue.hidden)
	a := w.Load()
	for _, c := range a.Cards {
		if c.State == aggregate.CardNone && !a.Effects(w.Now()).Cards {
			t.Errorf("card %s has no message, head rev %d counts as shown %d: neither relay nor sweeper asks for it; due %v, decide by %v", c.Key(), a.Head.Rev, a.Head.ShownRev, a.DueAt(w.Now()), a.Asked().DecideBy)
		}
	}
}
