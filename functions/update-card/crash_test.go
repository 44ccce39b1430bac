package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// dies makes the invocation end before it saves what a message shows.
type dies struct{ Rows }

func (d dies) ShownCard(context.Context, aggregate.Ref, *aggregate.Card, string, string, *aggregate.Head) error {
	runtime.Goexit()
	return nil
}

// drawsUntilItDies draws in an invocation that dies before it saves an update.
func (w *world) drawsUntilItDies() {
	w.T.Helper()
	h := w.handler()
	h.Rows = dies{w.Store}
	over, came := make(chan bool), false
	go func() {
		defer close(over)
		_ = h.draw(w.T.Context(), w.Ref, w.head())
		came = true
	}()
	<-over
	expect.Must(w.T, !came, "it did not die")
}

// The task goes back to what its card showed before an update that was never saved.
func TestAnUpdateThatWasNotSavedIsNotTrusted(t *testing.T) {
	db := storetest.Start(t)
	for name, tt := range map[string]struct {
		died  int
		fails webapi.Fault // of the update after the last crash; no Kind: none
	}{
		"one crash":                  {1, webapi.Fault{}},
		"another crash":              {2, webapi.Fault{}},
		"a refusal after the crash":  {1, webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Minute}},
		"no answer after the crash":  {1, webapi.Fault{Kind: webapi.Unavailable}},
		"a lost one after the crash": {1, webapi.Fault{Kind: webapi.Lost}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.done()
			was := w.Load()
			w.Extracted()
			for range tt.died {
				w.drawsUntilItDies()
			}
			w.shows("勤怠")
			store := w.h.Store
			goesBack := func() {
				was.Cards = w.Load().Cards // the rows of its cards are as they are
				w.h.Store = earlier{store, was}
			}
			goesBack()
			if tt.fails.Kind != "" {
				tt.fails.Method = "chat.update"
				w.slack.Faults.Add(tt.fails)
				expect.That(t, w.h.draw(t.Context(), w.Ref, w.head()) != nil, "no failure")
				goesBack()
			}
			expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head()))
			w.shows("受け付けました")
		})
	}
}

// unsavedOnce fails to save what the first message shows.
type unsavedOnce struct {
	Rows
	saves int
}

func (u *unsavedOnce) ShownCard(
	ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by, hash string, all *aggregate.Head,
) error {
	if u.saves++; u.saves == 1 {
		return errors.New("throttled")
	}
	return u.Rows.ShownCard(ctx, ref, c, by, hash, all)
}

// A card whose update was not saved is drawn again, whatever became of the others.
func TestAnotherCardEndsNoDoubt(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
	w.h.Rows = &unsavedOnce{Rows: w.h.Rows}
	expect.That(t, w.h.draw(t.Context(), w.Ref, w.head()) != nil, "no failure")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws the card again")
	for _, c := range w.Load().Cards {
		expect.That(t, c.Hash == "" || c.CardType != task.CardPrompt, "%s counts as shown", c.Key())
	}
	w.done()
	w.shows("キャンセル", "キャンセル")
}

// Progress is not drawn before its time.
func TestProgressWaitsForItsTime(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	body := strings.TrimSuffix(asking(w.Ref, w.Load().Head.Head), "}")
	body = fmt.Sprintf(`%s,"after":%d}`, body, w.Now().Add(3*time.Second).Unix())
	expect.Must(t, !w.send(body) && len(w.queue.hidden) == 1 && w.queue.hidden[0] <= 3, "hidden for %v s", w.queue.hidden)
	w.shows()
	w.Later(3 * time.Second)
	expect.That(t, w.send(body), "hidden for %v s", w.queue.hidden)
	w.shows("受け付けました")
}

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
			aggregate.HashOf(string(arguments)), nil, w.Now())
	})
	w.h.Store = &tornOnce{w.h.Store, was} // the message about StartExecution is drawn just as the gate opens
	expect.Must(t, w.deliverAt(was.Head), "given back for %v s", w.queue.hidden)
	a := w.Load()
	for _, c := range a.Cards {
		if c.State == aggregate.CardNone && !a.Effects(w.Now()).Cards {
			t.Errorf("card %s has no message, head rev %d counts as shown %d: "+
				"neither relay nor sweeper asks for it; due %v, decide by %v",
				c.Key(), a.Head.Rev, a.Head.ShownRev, a.DueAt(w.Now()), a.WaitingTerms().DecideBy)
		}
	}
}
