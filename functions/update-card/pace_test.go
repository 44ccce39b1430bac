package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// paced has the world keep Slack's pace, of which so many updates are used up.
func (w *world) paced(used int) {
	w.t.Helper()
	w.h.Pace, w.h.PaceScale = w.store, 1
	for range used {
		w.use("chat.update", updates, updateWindow)
	}
}

func (w *world) use(name string, calls int, window time.Duration) {
	w.t.Helper()
	b := store.Budget{Workspace: slacktest.Team, Name: name, Calls: calls, Window: window}
	if until, err := w.store.TakePace(w.t.Context(), b, 0, w.clock); err != nil || !until.IsZero() {
		w.t.Fatalf("%v, until %v", err, until)
	}
}

func (w *world) approve() {
	w.t.Helper()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Suzuki, Team: slacktest.Team, Member: true}
		return a.Approve(a.Prompt().ID, by, aggregate.Policy{Team: slacktest.Team, AllowSelf: true}, w.clock)
	})
}

func testProgressIsLeftOut(t *testing.T, w *world) {
	w.done()
	w.extract()
	w.paced(5) // of ten: progress leaves half to others
	w.slack.Calls()
	w.done()
	if calls := w.slack.Calls(); len(calls) != 0 {
		t.Errorf("progress was shown: %v", calls)
	}
	if head := w.load().Head; head.ShownRev == head.Rev {
		t.Error("the sweeper does not learn that something is behind")
	}
	w.clock = w.clock.Add(updateWindow)
	w.done()
	w.shows("勤怠")
	if head := w.load().Head; head.ShownRev != head.Rev {
		t.Error("all is shown")
	}
}

// Nothing else will move a task whose card asks what the message is meant to be, or has
// the button to try again: such a card is no progress, though its message is there.
func testAskingIsNotLeftOut(t *testing.T, w *world) {
	w.done()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(1, task.Beside{TaskID: "01OTHER", Title: "勤怠集計", ID: "01PROMPT", Kind: task.CardPrompt, Version: 1}, tenancy.DefaultSettings(), w.clock)
	})
	w.paced(5) // of ten: room for what asks and for what is settled
	w.done()
	w.shows("take_as_reason")
}

func testRetryIsNotLeftOut(t *testing.T, w *world) {
	w.extract()
	w.done()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.GiveUp(1, task.ReasonRunFailed, w.clock) })
	w.paced(5)
	w.done()
	w.shows("retry_generation")
}

// A card that could not be shown as being generated is posted as what asks.
func testPostedPending(t *testing.T, w *world) {
	w.done()
	w.extract()
	w.done()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(1, w.clock) })
	w.paced(6)
	w.done()
	w.shows("勤怠") // it would have to be updated at once, and there is no room for it
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(1, "方針", tenancy.DefaultSettings(), w.clock)
	})
	w.slack.Calls()
	w.done()
	w.shows("勤怠", "approve_prompt")
	if calls := w.slack.Calls("chat.postMessage", "chat.update"); len(calls) != 1 {
		t.Errorf("%v, want one post", calls)
	}
}

// Without a call left the message waits, but never longer than a gate of the same task may.
func testShortOfUpdates(t *testing.T, w *world) {
	w.extract()
	w.draft()
	w.done()
	w.paced(10)
	w.approve()
	w.back(int32(mostShort/time.Second), 13)
	w.shows("勤怠", "approve_prompt")
	w.clock = w.clock.Add(updateWindow)
	w.done()
	w.shows("勤怠", "承認: ")
	// A gate that opens needs a post alone: no update holds it up.
	for range 9 {
		w.use("chat.update", updates, updateWindow)
	}
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CancelTask(w.requester(), w.policy(), w.clock)
	})
	w.back(1, 13)
}

func (w *world) requester() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Sato, Team: slacktest.Team, Member: true}
}

func (w *world) policy() aggregate.Policy {
	return aggregate.Policy{Team: slacktest.Team, AllowSelf: true}
}

// A 429 is said once, and heard by every invocation.
func testHeldForAll(t *testing.T, w *world) {
	w.paced(0)
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.back(8, 10)
	w.slack.Calls()
	w.h = w.handler()
	w.paced(0)
	w.back(8, 10)
	if calls := w.slack.Calls(); len(calls) != 0 {
		t.Errorf("another invocation asked all the same: %v", calls)
	}
	w.clock = w.clock.Add(8 * time.Second)
	w.done()
	w.shows("受け付けました")
}

// failing is a table that keeps no pace.
type failing struct{}

func (failing) TakePace(context.Context, store.Budget, int, time.Time) (time.Time, error) {
	return time.Time{}, errors.New("throttled")
}

func (failing) SparePace(context.Context, store.Budget, time.Time) (int, error) {
	return 0, errors.New("throttled")
}

func (failing) JoinLine(context.Context, store.Budget, int, time.Time) (time.Time, error) {
	return time.Time{}, errors.New("throttled")
}

func (failing) HoldPace(context.Context, store.Budget, time.Time) error {
	return errors.New("throttled")
}

// The row carries no truth: without it cards are drawn, at the price of a 429.
func testPaceLost(_ *testing.T, w *world) {
	w.h.Pace, w.h.PaceScale = failing{}, 1
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 2 * time.Second})
	w.back(2, 3)
	w.done()
	w.shows("受け付けました")
}
