package main

import (
	"context"
	"runtime"
	"strconv"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// dies makes the invocation end before it saves what a message shows.
type dies struct{ Rows }

func (d dies) ShownCard(context.Context, aggregate.Ref, *aggregate.Card, string, string, *aggregate.Head) error {
	runtime.Goexit()
	return nil
}

// drawsUntilItDies draws in an invocation that dies before it saves an update.
func (w *world) drawsUntilItDies(r *receipt) {
	w.T.Helper()
	h := w.handler()
	h.Pace, h.PaceScale = w.h.Pace, w.h.PaceScale
	h.Rows = dies{w.Store}
	over, came := make(chan bool), false
	go func() {
		defer close(over)
		_ = h.draw(w.T.Context(), w.Ref, aggregate.Head{}, r)
		came = true
	}()
	<-over
	expect.Must(w.T, !came, "it did not die")
}

// The task goes back to what its card showed before an update that was never saved.
func TestAnUpdateThatWasNotSavedIsNotTrusted(t *testing.T) {
	db := storetest.Start(t)
	for name, receipts := range map[string]struct{ died, next []receipt }{
		"one crash":                       {[]receipt{{nth: 1}}, []receipt{{nth: 2}}},
		"another crash":                   {[]receipt{{nth: 1}, {nth: 2}}, []receipt{{nth: 3}}},
		"a message for progress beside":   {[]receipt{{nth: 1, progress: true}}, []receipt{{nth: 1}, {nth: 2, progress: true}}},
		"the number is not known":         {[]receipt{{nth: 0}}, []receipt{{nth: 0}}},
		"after a receipt that ended well": {[]receipt{{nth: 2, sure: true}}, []receipt{{nth: 3, sure: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.done()
			was := w.Load()
			w.Extracted()
			for _, r := range receipts.died {
				w.drawsUntilItDies(&r)
			}
			w.shows("勤怠")
			for _, r := range receipts.next {
				now := w.Load() // the rows of its cards are as they are
				was.Cards = now.Cards
				w.h.Store = earlier{w.h.Store, was}
				expect.NoError(t, w.h.draw(t.Context(), w.Ref, aggregate.Head{}, &r))
			}
			w.shows("受け付けました")
		})
	}
}

// Slack's pace ends the receipt after a crash before the doubted card was drawn.
func TestDoubtOutlivesAWait(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	w.done()
	was := w.Load()
	w.Extracted()
	w.drawsUntilItDies(&receipt{nth: 1})
	for range updates - 1 {
		w.use("chat.update", updates, updateWindow)
	}
	was.Cards = w.Load().Cards
	w.h.Store = earlier{w.h.Store, was}
	_ = w.h.draw(t.Context(), w.Ref, aggregate.Head{}, &receipt{nth: 2})
	w.shows("勤怠")
	w.Later(updateWindow)
	w.h = w.handler()
	was.Cards = w.Load().Cards
	at := w.Now()
	was.Head.DrawAt = &at // as the wait saved it
	w.h.Store = earlier{w.h.Store, was}
	expect.NoError(t, w.h.draw(t.Context(), w.Ref, aggregate.Head{}, &receipt{nth: 3}))
	w.shows("受け付けました")
}

// What is received again after an end that leaves no doubt draws nothing twice.
func TestAWaitDoubtsNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.paced(updates)
	w.Approve()
	w.back(int32(mostShort/time.Second), 13)
	for name, h := range map[string]*Handler{"the same instance": w.h, "another, by draw_at": w.handler()} {
		w.slack.Calls()
		_ = h.draw(t.Context(), w.Ref, aggregate.Head{}, h.receipt(received(2, "{}")))
		for _, c := range w.Load().Cards {
			expect.That(t, c.Hash != "", "%s: %s is doubted", name, c.Key())
		}
	}
	var lost slackapi.Unknown
	r := receipt{open: true}
	r.answered(lost)
	expect.That(t, r.open, "an update whose outcome is unknown counts as refused")
}

// A message for progress is usually received once before its time.
func TestAReceiptBeforeItsTimeDoesNotCount(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	after := w.Now().Truncate(time.Second)
	body := `{"after":` + strconv.FormatInt(after.Unix(), 10) + `}`
	for first, want := range map[time.Duration]int{-2 * clocks: 1, -clocks: 2, time.Second: 2} {
		m := received(2, body)
		m.Attributes["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(after.Add(first).UnixMilli(), 10)
		r := w.h.receipt(m)
		expect.That(t, r.nth == want && r.progress, "first received %v: %+v, want %d", first, r, want)
	}
}
