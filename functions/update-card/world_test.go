package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// world is one workspace and one table, with one task.
type world struct {
	ringitest.Story
	slack  *ringitest.Slack
	h      *Handler
	queue  *queue
	bucket storetest.Bucket
	root   string // of the thread
}

// queue records which messages it was asked to hide, and for how long.
type queue struct {
	mu     sync.Mutex
	hidden []int32
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

// inWorlds runs parts against one database, each with its own table and workspace.
func inWorlds(t *testing.T, parts map[string]func(*testing.T, *world)) {
	t.Helper()
	db := storetest.Start(t)
	for name, run := range parts {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

func newWorld(t *testing.T, db *storetest.Server) *world {
	t.Helper()
	s, _ := db.Store(t)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki, Team: ringitest.Team, Member: true}
	w := &world{Story: ringitest.Story{T: t, Store: s, By: by, Last: true}, slack: ringitest.StartSlack(t),
		queue: &queue{}, bucket: storetest.Bucket{}}
	w.StartClock()
	w.h = w.handler()
	w.root = w.slack.Say(t, webapi.Sato, webapi.HR, ringitest.Text)
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: w.root,
		ThreadTS: w.root})
	return w
}

// console is the console's address.
const console = "https://ringi.example/console"

// handler returns a Handler as another invocation would have it.
func (w *world) handler() *Handler {
	s := w.Store.KindStore.Store
	return &Handler{Store: s, Results: w.bucket, Slack: w.slack.Client,
		Inbox: decide.InboxReader{Rows: s, Store: w.Store, Slack: w.slack.Client, Now: w.Now},
		Queue: w.queue, QueueURL: "queue", Console: console, NewID: aggregate.NewID, Now: w.Now,
		Wait: func(context.Context, time.Duration) error { return nil }, Random: rand.Int64N}
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
	return w.receive(received(1, body))
}

func (w *world) receive(m events.SQSMessage) bool {
	w.T.Helper()
	out := expect.Value(w.h.Handle(w.T.Context(), events.SQSEvent{Records: []events.SQSMessage{m}}))(w.T)
	expect.Must(w.T, len(out.BatchItemFailures) == 0 || out.BatchItemFailures[0].ItemIdentifier == "m1", "%+v", out)
	return len(out.BatchItemFailures) == 0
}

// first is the first receipt of a message.
var first = receipt{"m1", 1}

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
		got = append(got, expect.JSON(m))
	}
	ok := len(got) == len(texts)
	for i := range texts {
		ok = ok && strings.Contains(got[i], texts[i])
	}
	expect.Must(w.T, ok, "the thread shows %d messages, want %q:\n%s", len(got), texts, strings.Join(got, "\n"))
	return thread
}

func message() card.Message {
	return card.Message{Text: "x",
		Attachments: []slack.Attachment{{Color: "#f2c744", Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, "x", false, false), nil, nil),
		}}}}}
}

// broken is a table that returns an error, or panics.
type broken struct {
	Store
	err    error
	panics bool
	loads  []aggregate.Ref
}

func (b *broken) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	b.loads = append(b.loads, ref)
	if b.panics {
		panic("text of a person")
	}
	return nil, b.err
}

func cardRecords(bodies ...string) events.SQSEvent {
	var e events.SQSEvent
	for i, b := range bodies {
		e.Records = append(e.Records, events.SQSMessage{MessageId: fmt.Sprintf("m%d", i), Body: b,
			Attributes: map[string]string{"ApproximateReceiveCount": "3"}})
	}
	return e
}

// What can never be handled is done with, and no message overtakes one that waits.
func TestWhatCanNeverBeHandledIsDoneWith(t *testing.T) {
	good := fmt.Sprintf(`{"tenant":%q,"kind":"task","id":%q,"rev":1}`, aggregate.NewID(), aggregate.NewID())
	down := errors.New("throttled")
	for name, tt := range map[string]struct {
		bodies []string
		b      *broken
		back   []string
		loads  int
	}{
		"no JSON":               {[]string{"x"}, &broken{}, nil, 0},
		"no ids":                {[]string{"{}"}, &broken{}, nil, 0},
		"ids that are none":     {[]string{`{"tenant":"a","kind":"task","id":"b"}`}, &broken{}, nil, 0},
		"no such task":          {[]string{good}, &broken{err: fmt.Errorf("load: %w", aggregate.ErrNotFound)}, nil, 1},
		"the table is down":     {[]string{good}, &broken{err: down}, []string{"m0"}, 1},
		"a panic":               {[]string{good}, &broken{panics: true}, []string{"m0"}, 1},
		"one behind that waits": {[]string{"x", good, good}, &broken{err: down}, []string{"m1", "m2"}, 1},
	} {
		h := &Handler{Store: tt.b, Queue: &queue{err: errors.New("gone")}, NewID: aggregate.NewID, Now: time.Now,
			Random: rand.Int64N}
		out := expect.Value(h.Handle(t.Context(), cardRecords(tt.bodies...)))(t)
		var got []string
		for _, f := range out.BatchItemFailures {
			got = append(got, f.ItemIdentifier)
		}
		diff := cmp.Diff(tt.back, got)
		expect.That(t, diff == "" && len(tt.b.loads) == tt.loads, "%s: %v, %d loads", name, diff, len(tt.b.loads))
	}
}

func TestPause(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      error
		receives string
		min, max time.Duration
	}{
		{"as Slack asks", fmt.Errorf("post: %w", slackapi.RateLimited{RetryAfter: 20 * time.Second}), "1", 20 * time.Second,
			22 * time.Second},
		{"which is spread more each time", slackapi.RateLimited{RetryAfter: 20 * time.Second}, "4", 20 * time.Second,
			36 * time.Second},
		{"but not for ever", slackapi.RateLimited{RetryAfter: 20 * time.Second}, "19", 20 * time.Second, 52 * time.Second},
		{"at least a second", slackapi.RateLimited{}, "1", time.Second, 2 * time.Second},
		{"at most an hour and a bit", slackapi.RateLimited{RetryAfter: 1000 * time.Hour}, "1", time.Hour,
			time.Hour + 2*time.Second},
		{"as is known", fmt.Errorf("card: %w", later{after: stale}), "9", 30 * time.Second, 30 * time.Second},
		{"a time that passed meanwhile", fmt.Errorf("card: %w", later{after: -3 * time.Second}), "1", time.Second,
			time.Second},
		{"the first failure", errors.New("x"), "1", time.Second, 2 * time.Second},
		{"the fourth", errors.New("x"), "4", 8 * time.Second, 10 * time.Second},
		{"the hundredth", errors.New("x"), "100", 2 * time.Minute, 150 * time.Second},
		{"uncounted", errors.New("x"), "", time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 100 {
				m := events.SQSMessage{Attributes: map[string]string{"ApproximateReceiveCount": tt.receives}}
				got := (&Handler{Random: rand.Int64N}).pause(tt.err, receives(m))
				expect.Must(t, got >= tt.min && got <= tt.max && got%time.Second == 0, "%s, want %s to %s", got, tt.min, tt.max)
			}
		})
	}
}

// TestNoPostBeginsWithoutTime: a post that is cut off by the invocation's end would have an unknown outcome.
func TestNoPostBeginsWithoutTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), enough-time.Second)
	defer cancel()
	d := &drawing{Handler: &Handler{}} // neither rows nor Slack may be called
	expect.That(t, d.post(ctx, &aggregate.Card{}, message(), "h") != nil, "it was posted")
}

// beside is a table beside which something happens: loaded replaces what a load found, posting comes before the save of
// a post and showing before that of an update.
type beside struct {
	Store
	loaded  func(aggregate.Aggregate) aggregate.Aggregate
	posting func(all *aggregate.Head) error
	showing func() error
}

func (b beside) Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a, err := b.Store.Load(ctx, ref)
	if err == nil && b.loaded != nil {
		a = b.loaded(a)
	}
	return a, err
}

func (b beside) PostedCard(
	ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head,
) error {
	if b.posting != nil {
		if err := b.posting(all); err != nil {
			return err
		}
	}
	return b.Store.PostedCard(ctx, ref, key, by, messageTS, channel, hash, all)
}

func (b beside) ShownCard(
	ctx context.Context, ref aggregate.Ref, c *aggregate.Card, hash string, all *aggregate.Head,
) error {
	if b.showing != nil {
		if err := b.showing(); err != nil {
			return err
		}
	}
	return b.Store.ShownCard(ctx, ref, c, hash, all)
}

// earlier reads a task as it was.
func earlier(s Store, was *task.Aggregate) Store {
	return beside{Store: s, loaded: func(aggregate.Aggregate) aggregate.Aggregate { return was }}
}

// besides is a Slack with something beside its calls: posted comes after each post, and updating before each update.
type besides struct {
	Slack
	posted, updating func()
}

func (b besides) Post(
	ctx context.Context, channel, thread string, m card.Message, about slackapi.Metadata,
) (string, error) {
	ts, err := b.Slack.Post(ctx, channel, thread, m, about)
	if b.posted != nil {
		b.posted()
	}
	return ts, err
}

func (b besides) Update(ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata) error {
	if b.updating != nil {
		b.updating()
	}
	return b.Slack.Update(ctx, channel, ts, m, about)
}

// ends has the requester cancel the task.
func (w *world) ends() {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.End(w.requester(), ringitest.Policy(), w.Now())
	})
}

func (w *world) requester() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Sato, Team: ringitest.Team, Member: true}
}
