package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

// post delivers a message as the queue does the nth time, and reports whether it left the queue.
func (w *world) post(m *sqs.SendMessageInput, nth int) bool {
	w.T.Helper()
	w.queue.hidden, w.queue.sent = nil, nil
	if nth == 1 || w.queue.first.IsZero() {
		w.queue.first = w.Now()
	}
	out := expect.Value(w.h.Handle(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", ReceiptHandle: "r1", Body: *m.MessageBody,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(nth), "MessageGroupId": *m.MessageGroupId,
			"ApproximateFirstReceiveTimestamp": strconv.FormatInt(w.queue.first.UnixMilli(), 10)},
	}}}))(w.T)
	return len(out.BatchItemFailures) == 0
}

// inLane returns the relay's message for the task's cards.
func (w *world) inLane() *sqs.SendMessageInput {
	w.T.Helper()
	q := &queue{}
	expect.NoError(w.T, effect.Runner{Queue: sender{q}}.Redraw(w.T.Context(), w.Ref, w.Load().Head.Head, "event"))
	return q.sent[0]
}

// sender is the part of the queue that the relay uses.
type sender struct{ *queue }

// moved checks that a message left the queue and one of another group took its place.
func (w *world) moved(left bool, group string) *sqs.SendMessageInput {
	w.T.Helper()
	expect.Must(w.T, left && len(w.queue.hidden) == 0 && len(w.queue.sent) == 1,
		"left %v, hidden for %v s, %d sent", left, w.queue.hidden, len(w.queue.sent))
	in := w.queue.sent[0]
	expect.Must(w.T, *in.MessageGroupId == group && *in.MessageDeduplicationId == "m1", "in group %s", *in.MessageGroupId)
	return in
}

// While Slack refuses calls for a task's cards, the cards of others in its lane don't wait. Then it is the lane's turn
// again, however many waited for the same.
func TestWhatMustWaitLeavesItsLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second})
	lane := w.inLane()
	expect.Must(t, w.post(lane, 1) && len(w.queue.sent) == 1, "not moved")
	in := w.queue.sent[0]
	after := saying(*in.MessageBody).After
	w.moved(true, fmt.Sprintf("%s-waits-%d", w.Ref.Tenant, after.Unix()/4))
	expect.That(t, !after.Before(w.Now().Add(19*time.Second)) && after.Before(w.Now().Add(26*time.Second)),
		"it waits until %s", after)
	for nth := range homeTries + 1 { // it waits in place, however often it is received
		expect.That(t, !w.post(in, nth+1) && len(w.queue.sent) == 0 && len(w.queue.hidden) == 1, "before its time")
	}
	w.Later(30 * time.Second)
	in = w.moved(w.post(in, 4), *lane.MessageGroupId)
	w.shows()
	expect.That(t, saying(*in.MessageBody).Head.Rev == w.Load().Head.Rev, "%s", *in.MessageBody)
	expect.That(t, w.post(in, 1) && len(w.queue.sent) == 0, "given back for %v s", w.queue.hidden)
	w.shows("受け付けました")
}

// The longer a card fails, the longer it waits; at last the queue gives it up, outside of the lane.
func TestWhatFailsWaitsLonger(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.h.Store = unreadable{w.h.Store}
	lane, in := w.inLane(), w.inLane()
	for _, least := range []time.Duration{time.Second, 2 * time.Second} {
		expect.Must(t, w.post(in, 1) && len(w.queue.sent) == 1, "not moved")
		in = w.queue.sent[0]
		wait := saying(*in.MessageBody).After.Sub(w.Now())
		expect.That(t, wait >= least-time.Second && wait <= least+2*time.Second, "it waits for %s", wait)
		w.Later(wait + time.Second)
		in = w.moved(w.post(in, 2), *lane.MessageGroupId)
	}
	in = w.moved(w.post(in, 1), w.Ref.ID)
	expect.That(t, saying(*in.MessageBody).Doubted, "a redrive would doubt nothing: %s", *in.MessageBody)
	for nth, least := range map[int]int32{1: 1, 3: 4, 9: 60} {
		expect.That(t, !w.post(in, nth) && len(w.queue.sent) == 0 && len(w.queue.hidden) == 1 && w.queue.hidden[0] >= least,
			"receipt %d: it is moved for ever, or comes back within %v s", nth, w.queue.hidden)
	}
}

// Lambda ends a chain of sixteen invocations. What has waited for Slack's pace twice waits in its row, for the sweeper.
func TestWhatWaitsOftenIsNotSentAround(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.done()
	w.Extracted()
	w.paced(0)
	w.Cancel()
	in := w.inLane()
	for hops := 0; hops <= effect.MostHops; hops += 2 {
		w.useUp() // by others
		expect.Must(t, w.post(in, 1) && len(w.queue.sent) == 1, "given back for %v s", w.queue.hidden)
		in = w.queue.sent[0]
		m := saying(*in.MessageBody)
		expect.Must(t, strings.Contains(*in.MessageGroupId, "-waits-") && !m.Doubted && m.Hops == hops+1,
			"group %s, %s", *in.MessageGroupId, *in.MessageBody)
		w.Later(max(0, m.After.Sub(w.Now())) + time.Second)
		expect.Must(t, w.post(in, 2) && len(w.queue.sent) == 1, "not back")
		in = w.queue.sent[0]
	}
	for name, m := range map[string]*sqs.SendMessageInput{"in its lane": in, "alone": w.alone(t)} {
		w.useUp()
		expect.Must(t, w.post(m, 1) && len(w.queue.sent) == 0, "%s: %d sent, given back for %v s", name, len(w.queue.sent),
			w.queue.hidden)
		h := w.Load().Head
		expect.Must(t, h.DrawAt != nil && h.DrawAt.After(w.Now()) && h.DueAt != nil && !h.DueAt.After(*h.DrawAt),
			"%s: the sweeper draws it at %v, comes at %v", name, h.DrawAt, h.DueAt)
		w.Later(time.Minute)
	}
	w.done() // by the sweeper
	w.shows("キャンセル")
}

// alone returns a message for the task's cards in a group of its own, whose receipts left nothing in doubt.
func (w *world) alone(t *testing.T) *sqs.SendMessageInput {
	t.Helper()
	in := *w.inLane()
	in.MessageGroupId = &w.Ref.ID
	return &in
}

// Copies wait in a group of their own, longer and longer, since nobody else would ask for them.
func TestCopiesThatWaitOftenWaitAlone(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.Prompted(w.listing([]string{webapi.Suzuki}, nil))
	head := w.Load().Head
	w.done()
	w.paced(0)
	for range posts { // by others in this group of channels
		d := drawing{Handler: w.h, place: Place{Team: slacktest.Team}}
		expect.Value(w.h.Pace.TakeCalls(t.Context(), w.Now(), records.Take{From: d.postsIn("@" + webapi.Suzuki), N: 1}))(t)
	}
	in := w.moved(w.post(effect.Copies("q", w.Ref, head.Rev, head.Redraws, effect.MostHops+1), 1), w.Ref.ID+"-copies")
	for nth, least := range map[int]int32{1: 1, 9: 60} {
		expect.That(t, !w.post(in, nth) && len(w.queue.sent) == 0 && w.queue.hidden[0] >= least,
			"receipt %d: %d sent, given back for %v s",
			nth, len(w.queue.sent), w.queue.hidden)
	}
}

// An invocation that dies holds its lane until the queue shows the message again, but only once.
func TestWhatAnotherInvocationDiedOfLeavesItsLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	in := w.moved(w.post(w.inLane(), 2), w.Ref.ID)
	expect.That(t, saying(*in.MessageBody).Doubted, "nobody doubts what the other one saved: %s", *in.MessageBody)
	w.shows()
	expect.That(t, w.post(in, 1) && len(w.queue.sent) == 0, "given back for %v s", w.queue.hidden)
	w.shows("受け付けました")
}

func TestWhatTheQueueDoesNotTakeWaitsInItsLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.queue.err = errors.New("no answer")
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second})
	expect.That(t, !w.post(w.inLane(), 1) && len(w.queue.hidden) == 1 && w.queue.hidden[0] >= 20, "hidden for %v s",
		w.queue.hidden)
}

// Those behind it are due no earlier.
func TestProgressWaitsForItsTimeInItsLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	q := &queue{}
	r := effect.Runner{Queue: sender{q}, Now: w.Now}
	expect.Value(r.RedrawLater(t.Context(), w.Ref, w.Load().Head.Head))(t)
	expect.That(t, !w.post(q.sent[0], 1) && len(w.queue.sent) == 0, "%d sent", len(w.queue.sent))
	w.Later(effect.ProgressEvery)
	expect.That(t, w.post(q.sent[0], 2) && len(w.queue.sent) == 0, "%d sent", len(w.queue.sent))
	w.shows("受け付けました")
	w.Later(time.Second)
	w.moved(w.post(q.sent[0], 3), w.Ref.ID) // whose invocation died

	w.Later(2 * clocks)
	w.queue.first = w.Now() // it came after its time, and its invocation died
	w.moved(w.post(q.sent[0], 2), w.Ref.ID)
}

// Tabs need the same calls of Slack, so that none overtakes another.
func TestATabWaitsInItsLane(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.withHomes()
	tabs := records.NotesOf(w.Store.Table())
	expect.NoError(t, tabs.HomeOpened(t.Context(), w.Ref.Tenant,
		records.OpenHome{Team: slacktest.Team, User: webapi.Sato, OpenedAt: w.Now()}))
	q := &queue{}
	ref := aggregate.Ref{Tenant: w.Ref.Tenant, Kind: effect.Home, ID: webapi.Sato}
	expect.NoError(t, effect.Runner{Queue: sender{q}}.Redraw(t.Context(), ref, aggregate.Head{}, "event"))
	w.slack.Faults.Add(webapi.Fault{Method: "views.publish", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second})
	expect.That(t, !w.post(q.sent[0], 1) && len(w.queue.sent) == 0, "without a call left %d were sent", len(w.queue.sent))
	w.h.Store = unreadable{w.h.Store}
	w.Later(time.Minute)
	own := w.moved(w.post(q.sent[0], 2), webapi.Sato) // others' tabs don't fail
	expect.That(t, !w.post(own, 1) && len(w.queue.sent) == 0 && len(w.queue.hidden) == 1, "it is moved again")
	in := w.moved(w.post(q.sent[0], homeTries+1), webapi.Sato) // others died of it
	expect.That(t, saying(*in.MessageBody).After.IsZero(), "%s", *in.MessageBody)
}

// A message whose invocation died after an update, before saving it, is moved: the new message's first receipt draws
// the
// card anew, even if others of the task have taken a place in line since.
func TestAMovedMessageStillDoubts(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	w.done()
	in := w.moved(w.post(w.inLane(), 2), w.Ref.ID)
	expect.NoError(t, w.Store.DrawAt(t.Context(), w.Ref, w.Now(), false))
	w.slack.Calls() // those so far
	expect.That(t, w.post(in, 1), "given back for %v s", w.queue.hidden)
	drawn := 0
	for _, c := range w.slack.Calls() {
		if c == "chat.update" {
			drawn++
		}
	}
	expect.That(t, drawn == 1, "the card was updated %d times", drawn)
}

// receivedOf makes the task belong to another workspace, whose message claims to be from this workspace's channel.
func (w *world) receivedOf(team string) {
	w.T.Helper()
	c, ref, err := task.Receive(aggregate.TenantID(team), task.Request{
		TeamID: team, Text: "従業員一覧", User: webapi.Alex, Channel: webapi.HR, MessageTS: w.root, ThreadTS: w.root,
		Source: task.SourceChannel,
	}, w.Now())
	expect.NoError(w.T, err)
	expect.NoError(w.T, w.Store.Create(w.T.Context(), c))
	w.Ref = ref
}

func testForeign(t *testing.T, w *world) {
	w.receivedOf("T0FOREIGN")
	w.slack.Faults.Add(webapi.Fault{Method: "auth.test", Kind: webapi.RateLimited, RetryAfter: 20 * time.Second, Times: 1})
	w.slack.Calls()
	w.back(20, 25) // while Slack doesn't say which workspace the app belongs to
	w.done()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.RefuseWorkspace(1, w.Now()) })
	w.done()
	for _, c := range w.slack.Calls() {
		expect.That(t, c == "auth.test", "called %s", c)
	}
	w.shows()
	head := w.Load().Head
	expect.That(t, head.ShownRev == head.Rev, "shown %d of %d: it would be drawn again and again", head.ShownRev, head.Rev)

	w.receivedOf("T0KNOWN")
	expect.Value(w.Store.Bootstrap(t.Context(), tenancy.Tenant{ID: w.Ref.Tenant, Name: "T0KNOWN", Slug: "other",
		TeamID: "T0KNOWN", Admins: []string{}}, w.Now()))(t)
	w.done()
	w.shows("受け付けました")
}

// A card is sent by the bot of its own workspace.
func TestCardsAreSentByTheirWorkspacesBot(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	client, calls := w.slack.ByTenant(t)
	w.h.Slack = client
	expect.Must(t, w.deliver(), "it was given back")
	ours(t, calls(), w.Ref.Tenant, "chat.postMessage")
}

// ours fails for every call that was not made for this tenant, except for auth.test with the deployment's own token.
func ours(t *testing.T, calls []string, tenant, want string) {
	t.Helper()
	expect.That(t, slices.Contains(calls, want+" "+tenant), "%s was not called for %s: %q", want, tenant, calls)
	for _, c := range calls {
		expect.That(t, strings.HasSuffix(c, " "+tenant) || c == "auth.test ", "called %q, for %s", c, tenant)
	}
}
