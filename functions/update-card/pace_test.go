package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// paced makes the world count calls against Slack's rate limits. used updates are already used up.
func (w *world) paced(used int) {
	w.T.Helper()
	w.h.Pace, w.h.PaceScale = records.NotesOf(w.Store.Table()), 1
	for range used {
		w.use("chat.update", updates, updateWindow)
	}
}

func (w *world) use(name string, calls int, window time.Duration) {
	w.T.Helper()
	b := records.Budget{Workspace: slacktest.Team, Name: name, Calls: calls, Window: window}
	until, err := records.NotesOf(w.Store.Table()).TakePace(w.T.Context(), b, 0, w.Now())
	expect.Must(w.T, err == nil && until.IsZero(), "%v, until %v", err, until)
}

// useUp uses up the updates that are left, and forgets those that were counted ahead.
func (w *world) useUp() {
	w.T.Helper()
	w.h.ahead.Keep(slacktest.Team, &ahead{}, w.Now(), updateWindow)
	b := records.Budget{Workspace: slacktest.Team, Name: methodUpdate, Calls: updates, Window: updateWindow}
	for {
		until := expect.Value(records.NotesOf(w.Store.Table()).TakePace(w.T.Context(), b, 0, w.Now()))(w.T)
		if !until.IsZero() {
			return
		}
	}
}

func testProgressIsLeftOut(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	w.paced(5) // of ten: progress leaves half for others
	w.slack.Calls()
	w.done()
	expect.Same(t, 0, len(w.slack.Calls()))
	if head := w.Load().Head; head.ShownRev == head.Rev {
		t.Error("the sweeper does not learn that something is behind")
	}
	w.Later(updateWindow)
	w.done()
	w.shows("勤怠")
	if head := w.Load().Head; head.ShownRev != head.Rev {
		t.Error("all is shown")
	}
}

func testRetryIsNotLeftOut(t *testing.T, w *world) {
	w.Extracted()
	w.done()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.GiveUp(1, task.ReasonRunFailed, w.Now()) })
	w.paced(5)
	w.done()
	w.shows("retry_generation")
}

// The card of an execution is posted while others are drawn often; what it shows later may be left out.
func testStopIsNotLeftOut(t *testing.T, w *world) {
	w.Approved(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read, "{}"))
	a := w.Load()
	for _, c := range a.Cards {
		if c.CardType == task.CardExecution {
			expect.Is(t, taskCards{}.Urgency(a, c), stops)
			c.MessageTS = "1"
			expect.Is(t, taskCards{}.Urgency(a, c), progress)
			return
		}
	}
	t.Error("there is no card")
}

// Another attempt's button to stop comes with an update, which is made at once while there is any left.
func TestTheButtonToStopAnotherAttemptIsNoProgress(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Approved(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.StartExecution(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonRunFailed, "", w.Now())
	})
	w.done()
	face := func() string {
		return fmt.Sprint(w.slack.Thread(t, webapi.HR, w.root))
	}
	expect.That(t, strings.Contains(face(), "retry_execution"), "%s", face())
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RetryExecution(a.Execution().ID, w.requester(), w.policy(), w.Now())
	})
	w.paced(updates - 1)
	w.deliver()
	expect.That(t, strings.Contains(face(), "cancel_execution"), "%s", face())
}

// A card that could not be shown while its content was generated is posted with its question.
func testPostedPending(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	w.done()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(1, w.Now()) })
	w.paced(6)
	w.done()
	w.shows("勤怠") // it would have to be updated at once, and there is no room for it
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(1, "方針", tenancy.DefaultSettings(), w.Now())
	})
	w.slack.Calls()
	w.done()
	w.shows("勤怠", "approve_prompt")
	expect.Same(t, 1, len(w.slack.Calls("chat.postMessage", "chat.update")))
}

// Without a call left, the message waits for its turn. A gate of the same task doesn't wait behind it.
func testShortOfUpdates(t *testing.T, w *world) {
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	w.done()
	w.paced(10)
	w.Approve()
	w.back(13, 18)
	w.shows("勤怠", "approve_prompt")
	w.Later(updateWindow)
	w.done()
	w.shows("勤怠", "承認: ", "生成中")
	// With all updates used up, the end of the task waits, too.
	w.useUp()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(w.requester(), w.policy(), w.Now())
	})
	w.back(1, 18)
}

func (w *world) requester() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: slacktest.Team, Member: true}
}

func (w *world) policy() aggregate.Policy {
	return aggregate.Policy{Team: slacktest.Team, AllowSelf: true}
}

// Slack answers 429 to one invocation, and all of them wait.
func testHeldForAll(t *testing.T, w *world) {
	w.paced(0)
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.back(8, 10)
	w.slack.Calls()
	w.h = w.handler()
	w.paced(0)
	w.back(8, 10)
	calls := w.slack.Calls()
	expect.That(t, len(calls) == 0, "another invocation asked all the same: %v", calls)
	w.Later(8 * time.Second)
	w.done()
	w.shows("受け付けました")
}

// failing is a table that fails to count calls.
type failing struct{}

func (failing) TakePace(context.Context, records.Budget, int, time.Time) (time.Time, error) {
	return time.Time{}, errors.New("throttled")
}

func (failing) TakeCalls(context.Context, time.Time, ...records.Take) (records.Short, error) {
	return records.Short{}, errors.New("throttled")
}

func (failing) JoinLine(context.Context, records.Budget, int, time.Time) (time.Time, error) {
	return time.Time{}, errors.New("throttled")
}

func (failing) HoldPace(context.Context, records.Budget, time.Time) error {
	return errors.New("throttled")
}

func (failing) SilentSince(context.Context, string, time.Time) (time.Time, error) {
	return time.Time{}, errors.New("throttled")
}

func (failing) NoteSilence(context.Context, string, time.Time, time.Time) error {
	return errors.New("throttled")
}

func (failing) NoteAnswer(context.Context, string) error { return errors.New("throttled") }

// The counters aren't essential: without them cards are drawn, at the risk of a 429.
func testPaceLost(_ *testing.T, w *world) {
	w.h.Pace, w.h.PaceScale = failing{}, 1
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 2 * time.Second})
	w.back(2, 3)
	w.done()
	w.shows("受け付けました")
}

// calls draws in another invocation, and counts the calls. back says whether the message must be returned.
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
	w.Approve()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Unavailable, Times: -1})
	for i, want := range []int{1, 1, 0, 0} { // the first; one that tries again; others
		n := w.calls(true)
		expect.That(t, n == want, "drawing %d calls Slack %d times, want %d", i+1, n, want)
	}
	w.Later(probeEvery)
	for i, want := range []int{1, 0} {
		n := w.calls(true)
		expect.That(t, n == want, "a call later drawing %d calls Slack %d times, want %d", i+1, n, want)
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
	w.shows("勤怠", "承認: ", "生成中")
	since, err := records.NotesOf(w.Store.Table()).SilentSince(t.Context(), slacktest.Team, w.Now())
	expect.That(t, err == nil && since.IsZero(), "it answers, and yet it is silent since %v, %v", since, err)
}

// For a task that was never accepted, Slack is asked which workspace it belongs to before any card is drawn.
func TestASilentSlackIsNotAskedWhoseATaskIs(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	w.use("answers", 1, probeEvery)
	expect.NoError(t, records.NotesOf(w.Store.Table()).NoteSilence(t.Context(), slacktest.Team, w.Now(),
		w.Now().Add(silenceLasts)))
	expect.Same(t, 0, w.calls(true))
	w.Later(time.Hour) // nobody has recorded the silence again
	n := w.calls(false)
	expect.That(t, n != 0, "it is silent for ever")
}

// Of several buttons to stop that Slack's pace delays, none comes before one whose work began earlier: neither of one
// that comes anew when a post is free, nor of one that comes before its time. After the last nobody waits.
func TestButtonsToStopComeInOrder(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.paced(0)
	type work struct {
		ref  aggregate.Ref
		root string
	}
	var all []work
	for range 4 {
		w.root = w.slack.Say(t, webapi.Sato, webapi.HR, pipelinetest.Text)
		w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: w.root,
			ThreadTS: w.root})
		w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read, "{}"))
		for !w.deliver() {
			w.Later(time.Minute)
		}
		all = append(all, work{w.Ref, w.root})
		w.Later(time.Minute)
	}
	stops := func(i int) bool { // whether the button is there after a message of the ith
		w.Ref = all[i].ref
		w.deliver()
		for _, m := range w.slack.Thread(t, webapi.HR, all[i].root) {
			if strings.Contains(fmt.Sprint(m.Attachments), "cancel_execution") {
				return true
			}
		}
		return false
	}
	d := &drawing{Handler: w.h, place: Place{Team: slacktest.Team}}
	for range posts {
		take := records.Take{From: d.postsIn(webapi.HR), N: 1}
		short := expect.Value(w.h.Pace.TakeCalls(t.Context(), w.Now(), take))(t)
		expect.That(t, short.Until.IsZero(), "%+v", short)
	}
	for i := range 3 {
		w.Ref = all[i].ref
		w.Approve()
		expect.That(t, !stops(i), "%d doesn't wait", i)
		w.Later(100 * time.Millisecond)
	}
	w.Later(postWindow - 200*time.Millisecond) // a post is free
	w.Ref = all[3].ref
	w.Approve()
	expect.That(t, !stops(3), "the last to begin is first")
	for _, i := range []int{2, 1} {
		expect.That(t, !stops(i), "%d comes before its time", i)
	}
	for i := range 4 {
		if i > 0 {
			w.Later(time.Second)
		}
		w.Later(time.Second)
		for j := i + 1; j < 4; j++ {
			if !stops(i) {
				expect.That(t, !stops(j), "%d comes before %d", j, i)
			}
		}
		for n := 0; !stops(i) && n < 10; n++ {
			w.Later(500 * time.Millisecond)
		}
		expect.That(t, stops(i), "%d never comes", i)
	}
}
