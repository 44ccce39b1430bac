package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

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
		_ = h.draw(w.T.Context(), w.Ref, w.head(), r)
		came = true
	}()
	<-over
	expect.Must(w.T, !came, "it did not die")
}

// The task goes back to what its card showed before an update that was never saved.
func TestAnUpdateThatWasNotSavedIsNotTrusted(t *testing.T) {
	db := storetest.Start(t)
	for name, receipts := range map[string]struct{ died, next []receipt }{
		"one crash":                        {[]receipt{{}}, []receipt{{doubts: true}}},
		"another crash":                    {[]receipt{{}, {doubts: true}}, []receipt{{doubts: true}}},
		"another message between":          {[]receipt{{}}, []receipt{{}, {doubts: true}}},
		"nobody else, after a safe update": {[]receipt{{doubts: true}}, []receipt{{}}},
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
				expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), &r))
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
	w.drawsUntilItDies(&receipt{})
	w.useUp()
	was.Cards = w.Load().Cards
	w.h.Store = earlier{w.h.Store, was}
	_ = w.h.draw(t.Context(), w.Ref, w.head(), &receipt{doubts: true})
	w.shows("勤怠")
	w.Later(updateWindow)
	w.h = w.handler()
	was.Cards = w.Load().Cards
	w.h.Store = earlier{w.h.Store, was}
	expect.NoError(t, w.h.draw(t.Context(), w.Ref, w.head(), &receipt{}))
	w.shows("受け付けました")
}

// What failed without leaving an update unsaved is not in doubt afterwards.
func TestWhatLeavesNoUpdateUnsaved(t *testing.T) {
	db := storetest.Start(t)
	for name, fails := range map[string]struct {
		how   func(w *world)
		first receipt
		open  bool
	}{
		"Slack's pace": {func(w *world) { w.paced(updates) }, receipt{}, false},
		"a refusal": {fault(webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Minute}),
			receipt{}, false},
		"no answer, which is saved": {fault(webapi.Fault{Kind: webapi.Unavailable}), receipt{}, false},
		"a read before the doubt is gone": {func(w *world) { w.h.Store = unloaded{w.h.Store} },
			receipt{doubts: true, open: true}, true},
		"a write after the update": {func(w *world) { w.h.Rows = unsaved{w.h.Rows} }, receipt{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			w.done()
			w.Extracted()
			fails.how(w)
			r := fails.first
			err := w.h.draw(t.Context(), w.Ref, w.head(), &r)
			expect.That(t, r.open == fails.open, "after %v: %+v", err, r)
		})
	}
}

func fault(f webapi.Fault) func(*world) {
	f.Method = "chat.update"
	return func(w *world) { w.slack.Faults.Add(f) }
}

// unloaded fails to load a task.
type unloaded struct{ Store }

func (unloaded) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) {
	return nil, errors.New("throttled")
}

// unsaved fails to save what a message shows.
type unsaved struct{ Rows }

func (u unsaved) ShownCard(context.Context, aggregate.Ref, *aggregate.Card, string, string, *aggregate.Head) error {
	return errors.New("throttled")
}

// The doubt about one card outlives the update of the next one.
func TestAnotherCardEndsNoDoubt(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.Cancel()
	w.paced(0)
	fault(webapi.Fault{Kind: webapi.Unavailable, Status: 500, Times: 1})(w) // after which Slack is called again
	rows := &unsavedOnce{Rows: w.h.Rows}
	w.h.Rows = rows
	r := receipt{}
	err := w.h.draw(t.Context(), w.Ref, w.head(), &r)
	expect.Must(t, err != nil && rows.saves > 1, "%d saves: %v", rows.saves, err)
	expect.That(t, r.open, "nobody doubts the first card: %+v", r)
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

// A message for progress is usually received once before its time.
func TestAReceiptBeforeItsTimeDoesNotCount(t *testing.T) {
	after := time.Now().Truncate(time.Second)
	body := `{"after":` + strconv.FormatInt(after.Unix(), 10) + `}`
	for first, want := range map[time.Duration]bool{-2 * clocks: false, -clocks: true, time.Second: true} {
		m := received(2, body)
		m.Attributes["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(after.Add(first).UnixMilli(), 10)
		expect.That(t, newReceipt(m).doubts == want, "first received %v: in doubt is %v", first, !want)
	}
}

// One that comes a moment before its time waits for it, so that no card is drawn anew that shows what it should.
func TestAReceiptJustBeforeItsTimeDoubtsNothing(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Prompted(tenancy.DefaultSettings())
	w.done()
	w.slack.Calls() // those so far
	h := w.Load().Head
	w.h.Wait = func(_ context.Context, d time.Duration) error {
		w.Later(d)
		return nil
	}
	body, group := fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":%d,"after":%d}`,
		w.Ref.Tenant, w.Ref.ID, h.Rev, w.Now().Add(time.Second).Unix()), w.Ref.Tenant+"-progress"
	in := &sqs.SendMessageInput{MessageBody: &body, MessageGroupId: &group}
	for nth := 1; !w.post(in, nth); nth++ {
		expect.Must(t, nth < 3, "it is given back for ever")
		w.Later(time.Duration(w.queue.hidden[0]) * time.Second)
	}
	expect.Is(t, len(w.slack.Calls("chat.update")), 0, "updates of cards that show what they should")
}

// A receipt that came before its time draws nothing, even if it is handled late.
func TestAnEarlyReceiptIsGivenBack(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	h := w.Load().Head
	m := received(1, fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":%d,"after":%d}`,
		w.Ref.Tenant, w.Ref.ID, h.Rev, w.Now().Unix()))
	m.Attributes["ApproximateFirstReceiveTimestamp"] = strconv.FormatInt(w.Now().Add(-3*clocks).UnixMilli(), 10)
	var waits later
	err := w.h.record(t.Context(), m, newReceipt(m))
	expect.That(t, errors.As(err, &waits) && waits.cause == itsTime, "it is handled: %v", err)
	w.shows()
}

// The doubt is acted on even where nothing can be drawn.
func TestDoubtDoesNotWaitForSlack(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.done()
	w.paced(0)
	w.use("answers", 1, probeEvery)
	expect.NoError(t, records.NotesOf(w.Store.Table()).NoteSilence(t.Context(), slacktest.Team, w.Now(),
		w.Now().Add(silenceLasts)))
	r := receipt{doubts: true, open: true}
	_ = w.h.draw(t.Context(), w.Ref, w.head(), &r)
	c := w.Load().Card("CARD#task")
	expect.That(t, c.Hash == "" && !r.open, "hash %q, %+v", c.Hash, r)
}

// What an invocation died of is handled in a group of its own. Slack's pace doesn't allow all of an answer's parts at
// once there, so each receipt goes on where the one before stopped: the rest is left to the sweeper.
func TestADoubtedMessageGoesOnWhereItStopped(t *testing.T) {
	k := newConversation(t, storetest.Start(t))
	k.Answer(strings.Repeat("a line of the answer\n", 8000), nil)
	body := k.asking()
	expect.Must(t, k.send(body), "given back for %v s", k.queue.hidden)
	n := len(expect.Value(k.Rows.KindStore.Load(t.Context(), k.Ref))(t).Cards)
	expect.Must(t, n > updates, "%d cards", n)
	k.h.Pace, k.h.PaceScale = records.NotesOf(k.Store.Table()), 1
	k.slack.Calls()
	k.queue.sent = nil
	over, nth, fresh := false, 1, body
	body = strings.Replace(body, "}", `,"doubted":1}`, 1)
	for range 40 {
		k.queue.hidden, k.queue.sent = nil, nil
		out := expect.Value(k.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "m1", ReceiptHandle: "r1", Body: body,
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(nth), "MessageGroupId": k.Ref.ID,
				"ApproximateFirstReceiveTimestamp": strconv.FormatInt(k.Now().UnixMilli(), 10)},
		}}}))(t)
		left := len(out.BatchItemFailures) == 0
		at := expect.Value(k.Rows.KindStore.Load(t.Context(), k.Ref))(t).Root().Common().DrawAt
		if over = left && at == nil; over {
			break
		}
		nth++
		if left {
			expect.Is(t, len(k.queue.sent), 0, "sent")
			body, nth = fresh, 1
			k.Later(max(0, at.Sub(k.Now())) + time.Second)
		} else {
			k.Later(time.Duration(k.queue.hidden[0]) * time.Second)
		}
	}
	made := len(k.slack.Calls("chat.update"))
	expect.That(t, over && made == n, "over %v: %d updates of %d cards", over, made, n)
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
