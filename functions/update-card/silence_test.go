package main

import (
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/slackstate"
	"ringi/shared/store/storetest"
)

// calls are made by a drawing of another invocation, which is given back or not.
func (w *world) calls(back bool) int {
	w.T.Helper()
	w.h = w.handler()
	w.paced(0)
	w.slack.Calls()
	done := w.deliver()
	expect.Must(w.T, done != back, "dealt with: %v", done)
	return len(w.slack.Calls())
}

func TestASlackThatDoesNotAnswerTakesOneLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.approve()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Unavailable, Times: -1})
	for i, want := range []int{1, 1, 0, 0} { // the first; the one that finds out whether an answer was merely lost; others
		if n := w.calls(true); n != want {
			t.Errorf("drawing %d calls Slack %d times, want %d", i+1, n, want)
		}
	}
	w.Later(probeEvery)
	for i, want := range []int{1, 0} {
		if n := w.calls(true); n != want {
			t.Errorf("a call later drawing %d calls Slack %d times, want %d", i+1, n, want)
		}
	}
	w.Later(longLine - probeEvery)
	w.calls(true)
	if n := w.calls(false); n != 0 {
		t.Errorf("after a minute a drawing calls Slack %d times", n)
	}
	h := w.Load().Head
	expect.That(t, h.DrawAt != nil && h.DueAt != nil && h.DrawAt.Sub(w.Now()) >= longLine && !h.DueAt.After(*h.DrawAt),
		"after a minute the cards are to be drawn at %v, and the sweeper looks at %v", h.DrawAt, h.DueAt)
	w.slack.Faults.Clear("")
	w.Later(h.DrawAt.Sub(w.Now()))
	w.done()
	w.shows("勤怠", "承認: ")
	since, err := slackstate.Of(w.Store.Table()).SilentSince(t.Context(), slacktest.Team, w.Now())
	expect.That(t, err == nil && since.IsZero(), "it answers, and yet it is silent since %v, %v", since, err)
}

// What was never accepted asks Slack whose it is, before any card is drawn.
func TestASilentSlackIsNotAskedWhoseATaskIs(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	w.use("answers", 1, probeEvery)
	expect.NoError(t, slackstate.Of(w.Store.Table()).NoteSilence(t.Context(), slacktest.Team, w.Now(), w.Now().Add(silenceLasts)))
	expect.Same(t, 0, w.calls(true))
	w.Later(time.Hour) // nobody noted that it is still silent
	n := w.calls(false)
	expect.That(t, n != 0, "it is silent for ever")
}
