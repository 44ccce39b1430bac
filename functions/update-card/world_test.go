package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/effect"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

// world is one workspace and one table, with one task.
type world struct {
	pipelinetest.Story
	slack  *slacktest.Slack
	h      *Handler
	queue  *queue
	bucket storetest.Bucket
	root   string // of the thread
	db     *storetest.Server
	table  string
}

// queue records which messages it was asked to hide, and for how long.
type queue struct {
	first  time.Time // when a message was first received
	mu     sync.Mutex
	hidden []int32
	sent   []*sqs.SendMessageInput // messages, including those in batches
	calls  int                     // number of calls that sent them
	err    error
}

func (q *queue) ChangeMessageVisibility(
	_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hidden = append(q.hidden, in.VisibilityTimeout)
	return &sqs.ChangeMessageVisibilityOutput{}, q.err
}

func (q *queue) SendMessage(
	_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent, q.calls = append(q.sent, in), q.calls+1
	return &sqs.SendMessageOutput{}, q.err
}

func (q *queue) SendMessageBatch(
	_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options),
) (*sqs.SendMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range in.Entries {
		q.sent = append(q.sent, &sqs.SendMessageInput{MessageBody: e.MessageBody, MessageGroupId: e.MessageGroupId,
			MessageDeduplicationId: e.MessageDeduplicationId})
	}
	q.calls++
	return &sqs.SendMessageBatchOutput{}, q.err
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	s, name := db.Store(t)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: slacktest.Team, Member: true}
	w := &world{Story: pipelinetest.Story{T: t, Store: s, By: by, Last: true}, slack: slacktest.Start(t), queue: &queue{},
		bucket: storetest.Bucket{}, db: db, table: name}
	w.StartClock()
	w.h = w.handler()
	w.root = w.slack.Say(t, webapi.Sato, webapi.HR, pipelinetest.Text)
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: w.root,
		ThreadTS: w.root})
	return w
}

// handler returns a Handler as another invocation would have it.
func (w *world) handler() *Handler {
	return &Handler{
		Store: w.Store.Of.Store, Rows: w.Store, Kinds: map[string]Kind{task.Kind.Name: taskCards{results: w.bucket}},
		Slack: w.slack.Client, Queue: w.queue, QueueURL: "queue", NewID: aggregate.NewID,
		Now:  w.Now,
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// deliver delivers one message and reports whether it was handled.
func (w *world) deliver() bool {
	w.T.Helper()
	return w.deliverAt(w.Load().Head)
}

// head is the task's head, as a message names it.
func (w *world) head() aggregate.Head { return *w.Load().Root().Common() }

// deliverAt delivers the message that was sent when the head was h.
func (w *world) deliverAt(h task.Head) bool {
	w.T.Helper()
	return w.send(asking(w.Ref, h.Head))
}

// asking is the message about an aggregate's cards that was sent when its head was h.
func asking(ref aggregate.Ref, h aggregate.Head) string {
	return fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"rev":%d,"redraws":%d}`,
		ref.Tenant, ref.Kind, ref.ID, h.Rev, h.Redraws)
}

func (w *world) send(body string) bool {
	w.T.Helper()
	out := expect.Value(w.h.Handle(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{received(1, body)}}))(w.T)
	n := len(out.BatchItemFailures)
	expect.Must(w.T, n <= 0 || out.BatchItemFailures[0].ItemIdentifier == "m1", "%+v", out)
	return len(out.BatchItemFailures) == 0
}

// saying reads a message.
func saying(body string) effect.Message {
	m, _ := effect.ReadMessage(body)
	return m
}

// received is the nth receipt of a message.
func received(nth int, body string) events.SQSMessage {
	return events.SQSMessage{MessageId: "m1", ReceiptHandle: "r1", Body: body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(nth)}}
}

// done delivers a message and checks that it is handled.
func (w *world) done() {
	w.T.Helper()
	expect.Must(w.T, w.deliver(), "given back for %v s", w.queue.hidden)
}

// back delivers a message and checks that it is returned for between min and max seconds.
func (w *world) back(min, max int32) {
	w.T.Helper()
	w.queue.hidden = nil
	expect.Must(w.T, !w.deliver(), "the message was dealt with")
	expect.Must(w.T, len(w.queue.hidden) == 1 && w.queue.hidden[0] >= min && w.queue.hidden[0] <= max,
		"given back for %v s, want %d to %d", w.queue.hidden, min, max)
}

// shows checks for exactly these texts in the thread, in this order.
func (w *world) shows(texts ...string) []webapi.Message {
	w.T.Helper()
	thread := w.slack.Thread(w.T, webapi.HR, w.root)
	var got []string
	for _, m := range thread {
		b := expect.Value(json.Marshal(m))(w.T)
		got = append(got, string(b))
	}
	ok := len(got) == len(texts)
	for i := range texts {
		ok = ok && strings.Contains(got[i], texts[i])
	}
	if !ok {
		w.T.Fatalf("the thread shows %d messages, want %q:\n%s", len(got), texts, strings.Join(got, "\n"))
	}
	return thread
}
