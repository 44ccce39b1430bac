package main

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// drawsUntilItDies draws for the nth receipt of a message, in an invocation that dies before it saves an update.
func (w *world) drawsUntilItDies(nth int) {
	w.T.Helper()
	h := w.handler()
	h.Store = beside{Store: h.Store, showing: func() error { runtime.Goexit(); return nil }}
	over, came := make(chan bool), false
	go func() {
		defer close(over)
		_ = h.draw(w.T.Context(), w.Ref, w.head(), receipt{"m1", nth})
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
			nth := 1
			for ; nth <= tt.died; nth++ {
				w.drawsUntilItDies(nth)
			}
			w.shows("勤怠")
			store := w.h.Store
			goesBack := func() {
				was.Cards = w.Load().Cards // the rows of its cards are as they are
				w.h.Store = earlier(store, was)
			}
			goesBack()
			if tt.fails.Kind != "" {
				tt.fails.Method = "chat.update"
				w.slack.Faults.Add(tt.fails)
				expect.That(t, w.h.draw(t.Context(), w.Ref, w.head(), receipt{"m1", nth}) != nil, "no failure")
				nth++
				goesBack()
			}
			expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), receipt{"m1", nth}))
			w.shows("受け付けました")
		})
	}
}

// A card whose update was not saved is drawn again, whatever became of the others.
func TestAnotherCardEndsNoDoubt(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
	saves := 0
	w.h.Store = beside{Store: w.h.Store, showing: func() error {
		if saves++; saves == 1 {
			return errors.New("throttled")
		}
		return nil
	}}
	expect.That(t, w.h.draw(t.Context(), w.Ref, w.head(), first) != nil, "no failure")
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
	came := strconv.FormatInt(w.Now().UnixMilli(), 10)
	receive := func(nth int) bool {
		m := received(nth, body)
		m.Attributes["ApproximateFirstReceiveTimestamp"] = came
		return w.receive(m)
	}
	expect.Must(t, !receive(1) && len(w.queue.hidden) == 1 && w.queue.hidden[0] <= 3, "hidden for %v s", w.queue.hidden)
	w.shows()
	w.Later(3 * time.Second)
	expect.That(t, receive(2), "hidden for %v s", w.queue.hidden)
	w.shows("受け付けました")
}

// A message that is received again updates what has changed, unless a receipt died: then it trusts no hash.
func TestWhichReceiptsTrustHashes(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.done()
	for _, tt := range []struct {
		name    string
		nth     int
		first   time.Duration // when the first receipt came, after the message's time
		updates int
	}{
		{"the first", 1, 0, 0},
		{"the second, after one before its time", 2, -2 * time.Second, 0},
		{"the second, after one that died", 2, 0, 1},
		{"the second, after one that waited for its time and died", 2, -time.Second, 1},
		{"the third, after one that died and one before its time", 3, -2 * time.Second, 1},
	} {
		m := received(tt.nth, fmt.Sprintf(`%s,"after":%d}`, strings.TrimSuffix(asking(w.Ref, w.head()), "}"), w.Now().Unix()))
		m.Attributes["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(
			time.Unix(w.Now().Unix(), 0).Add(tt.first).UnixMilli(), 10)
		w.slack.Calls()
		expect.That(t, w.receive(m), "%s: given back", tt.name)
		expect.Is(t, len(w.slack.Calls("chat.update")), tt.updates, tt.name)
	}
	w.Extracted()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.RateLimited, RetryAfter: time.Second})
	w.back(1, 3)
	w.slack.Calls()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	again := func(nth int) int {
		expect.That(t, w.receive(received(nth, asking(w.Ref, w.head()))), "given back")
		return len(w.slack.Calls("chat.update"))
	}
	expect.Is(t, again(2), 1, "what has changed")
	expect.Is(t, again(2), 0, "after one that was given back")
	all := len(w.Load().Cards) + len(w.Load().Copies)
	expect.Is(t, again(3), all, "after one that died")
}

func TestATornReadIsNotNotedAsShown(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	arguments := aggregate.JSON(`{"recipient":"U1","text":"x"}`)
	w.Approved(tenancy.DefaultSettings(), ringitest.Step(1, "send_slack_dm", aggregate.Write, string(arguments)))
	w.Begin()
	was := expect.Value(w.Store.Load(t.Context(), w.Ref))(t)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(1, 1, aggregate.Blob{JSON: arguments, Bytes: len(arguments)},
			aggregate.HashOf(string(arguments)), nil, w.Now())
	})
	torn := false // the message about StartExecution is drawn just as the gate opens: what sorts before HEAD is older
	w.h.Store = beside{Store: w.h.Store, loaded: func(a aggregate.Aggregate) aggregate.Aggregate {
		if torn {
			return a
		}
		now := *a.(*task.Aggregate)
		now.Cards, now.Executions, now.Gates, torn = was.Cards, was.Executions, was.Gates, true
		return &now
	}}
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

// The approvers change while the gate's card is being drawn with the old settings.
func testRedrawMeanwhile(t *testing.T, w *world) {
	w.Extracted()
	w.Draft(tenancy.DefaultSettings())
	x := tenancy.DefaultSettings()
	x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Tanaka}}
	w.h.Store = beside{Store: w.h.Store, posting: func(all *aggregate.Head) error {
		if all == nil {
			return nil
		}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: ringitest.Team}
		return expect.Err(w.Store.SaveSettings(t.Context(), w.Ref.Tenant, x, by, w.Now()))
	}}
	w.done()
	if a := w.Load(); !a.Effects(w.Now()).Cards {
		t.Fatalf("rev %d, shown %d: neither the relay nor the sweeper draws it again", a.Head.Rev, a.Head.ShownRev)
	}
	w.h.Store = w.Store.KindStore.Store
	w.done()
	w.shows("勤怠", webapi.Tanaka)
	expect.That(t, !w.Load().Effects(w.Now()).Cards, "it is drawn for ever")
}

// A drawing that read the task earlier updates the message after the newer drawing did, and before that one saves what
// the message shows.
func testTwoUpdatesAtOnce(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	store, older := w.h.Store, earlier(w.h.Store, w.Load())
	w.ends()
	w.h.Store = beside{Store: w.h.Store, showing: func() error {
		w.h.Store = older
		expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), first))
		w.h.Store = store
		return nil
	}}
	expect.That(t, !w.deliver(), "the newer drawing has saved its content, which the message no longer shows")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws the card again")
	w.done()
	w.shows("キャンセル")
}

// together draws the card for rows as they were, and wholly as they are just before the first drawing's update.
func (w *world) together(store Store, then func()) error {
	w.T.Helper()
	w.ends()
	other := w.handler()
	other.Store = store
	other.Slack = besides{Slack: w.slack.Client, updating: func() {
		expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), first))
		then()
	}}
	return other.draw(w.T.Context(), w.Ref, w.head(), first)
}

func testOvertaken(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	err := w.together(earlier(w.h.Store, w.Load()), func() {
		w.shows("キャンセル")
		w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Lost})
	})
	expect.That(t, err != nil, "the update's answer was not lost")
	expect.That(t, w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws the card again")
	w.done()
	w.shows("キャンセル")
}

// late draws for the rows as they are, and wholly once more after the task has ended: between its query and its first
// call. The card must show the end, or be drawn again.
func (w *world) late(then func()) {
	w.T.Helper()
	was := w.Load()
	other := w.handler()
	other.Store = earlier(w.h.Store, was)
	asked := w.head()
	w.ends()
	expect.NoError(w.T, w.h.draw(w.T.Context(), w.Ref, w.head(), first))
	then()
	err := other.draw(w.T.Context(), w.Ref, asked, first)
	expect.That(w.T, err != nil || w.Load().Effects(w.Now()).Cards, "neither the relay nor the sweeper draws it again")
	for range 3 {
		w.deliver()
	}
}

const manyCards = 10

func testForgotLaterAmongMany(t *testing.T, w *world) {
	s := tenancy.DefaultSettings()
	s.MaxVersions = 20
	w.Last = false
	w.Extracted()
	for range manyCards {
		w.Draft(s)
		w.Reject("もっと短く")
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	for range 3 {
		w.deliver()
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s, w.Now())
	})
	w.late(func() {})
	expect.That(t, len(w.Load().Cards) > manyCards, "%d cards", len(w.Load().Cards))
	for _, m := range w.slack.Thread(t, webapi.HR, w.root) {
		said := expect.JSON(m)
		expect.That(t, !strings.Contains(said, "approve_prompt"), "a button is left: %s", said)
	}
}

func testPostsAnewLater(t *testing.T, w *world) {
	w.done()
	w.Extracted()
	err := w.together(earlier(w.h.Store, w.Load()), func() {
		c := w.Load().Cards[0]
		expect.NoError(t, w.slack.Client.Delete(t.Context(), c.Channel, c.MessageTS))
	})
	expect.That(t, err != nil, "it posts what it read earlier")
	w.done()
	w.shows("キャンセル")
}
