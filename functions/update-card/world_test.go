package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/aggregate"
	"ringi/shared/expect"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store/storetest"
	"ringi/shared/task"
	"ringi/shared/tasks"
	"ringi/shared/tenancy"
)

// world is one workspace and one table with one task in it.
type world struct {
	t      *testing.T
	store  *tasks.Store
	slack  *slacktest.Slack
	h      *Handler
	queue  *queue
	bucket storetest.Bucket
	ref    aggregate.Ref
	root   string // of the thread
	clock  time.Time
}

// queue remembers what it was asked to hide, and for how long.
type queue struct {
	mu     sync.Mutex
	hidden []int32
	err    error
}

func (q *queue) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hidden = append(q.hidden, in.VisibilityTimeout)
	return &sqs.ChangeMessageVisibilityOutput{}, q.err
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	s, _ := db.Store(t)
	w := &world{t: t, store: s, slack: slacktest.Start(t), queue: &queue{}, bucket: storetest.Bucket{}, clock: time.Now()}
	w.h = w.handler()
	w.root = w.slack.Say(t, workspace.Sato, workspace.HR, "今月の勤怠をまとめて")
	c, ref, err := task.Receive(aggregate.TenantID(slacktest.Team), task.Request{
		TeamID: slacktest.Team, Text: "今月の勤怠をまとめて", User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel",
		MessageTS: w.root, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev1",
	}, w.clock)
	expect.NoError(t, err)
	w.ref = ref
	expect.NoError(t, s.Create(t.Context(), c))
	return w
}

// handler is another invocation's.
func (w *world) handler() *Handler {
	return &Handler{
		Store: w.store.Of.Store, Rows: w.store, Kinds: map[string]Kind{task.Kind.Name: taskCards{w.bucket}}, Slack: w.slack.Client, Queue: w.queue, QueueURL: "queue", NewID: aggregate.NewID,
		Now:  func() time.Time { return w.clock },
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// decide moves the task on.
func (w *world) decide(f task.Decision) *task.Aggregate {
	w.t.Helper()
	a := expect.Value(w.store.Decide(w.t.Context(), w.ref, f))(w.t)
	return a
}

func (w *world) extract() {
	w.t.Helper()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(1, task.Extract{Title: "勤怠", Description: "今月", Priority: task.High, TaskType: task.TypeStandard}, w.clock)
	})
}

func (w *world) draft() {
	w.t.Helper()
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(1, w.clock) })
	w.decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(1, "方針", tenancy.DefaultSettings(), w.clock)
	})
}

// deliver hands over one message and reports whether it was dealt with.
func (w *world) deliver() bool {
	w.t.Helper()
	return w.send(fmt.Sprintf(`{"tenant":%q,"task":%q}`, w.ref.Tenant, w.ref.ID))
}

func (w *world) send(body string) bool {
	w.t.Helper()
	out := expect.Value(w.h.Handle(w.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", ReceiptHandle: "r1", Body: body, Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}}}))(w.t)
	if n := len(out.BatchItemFailures); n > 0 && out.BatchItemFailures[0].ItemIdentifier != "m1" {
		w.t.Fatalf("%+v", out)
	}
	return len(out.BatchItemFailures) == 0
}

// done delivers and wants the message dealt with.
func (w *world) done() {
	w.t.Helper()
	if !w.deliver() {
		w.t.Fatalf("given back for %v s", w.queue.hidden)
	}
}

// back delivers and wants the message given back for between min and max seconds.
func (w *world) back(min, max int32) {
	w.t.Helper()
	w.queue.hidden = nil
	if w.deliver() {
		w.t.Fatal("the message was dealt with")
	}
	if len(w.queue.hidden) != 1 || w.queue.hidden[0] < min || w.queue.hidden[0] > max {
		w.t.Fatalf("given back for %v s, want %d to %d", w.queue.hidden, min, max)
	}
}

func (w *world) load() *task.Aggregate {
	w.t.Helper()
	a := expect.Value(w.store.Load(w.t.Context(), w.ref))(w.t)
	return a
}

// shows wants exactly these texts in the thread, in this order.
func (w *world) shows(texts ...string) []workspace.Message {
	w.t.Helper()
	thread := w.slack.Thread(w.t, workspace.HR, w.root)
	var got []string
	for _, m := range thread {
		b := expect.Value(json.Marshal(m))(w.t)
		got = append(got, string(b))
	}
	ok := len(got) == len(texts)
	for i := range texts {
		ok = ok && strings.Contains(got[i], texts[i])
	}
	if !ok {
		w.t.Fatalf("the thread shows %d messages, want %q:\n%s", len(got), texts, strings.Join(got, "\n"))
	}
	return thread
}
