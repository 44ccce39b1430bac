package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/slackapi"
	"ringi/shared/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/task"
)

// TestUpdateCard runs every part against one database, each in a table and a workspace of its own.
func TestUpdateCard(t *testing.T) {
	db := storetest.Start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"a card is posted once and follows its rows", testFollows},
		{"cards are posted in the order of the story", testOrder},
		{"repeated, late and parallel messages are harmless", testRepeated},
		{"the language of the settings", testLocale},
		{"a rate limit is waited out, with no claim left behind", testRateLimit},
		{"an answer that was lost: the message is adopted", testLostAnswer},
		{"a lost post that never arrived is left, then posted", testNeverArrived},
		{"a crash between post and save: the earliest is adopted", testCrash},
		{"a claim of another invocation is waited for", testClaimed},
		{"no permission to search: posted and counted", testNoSearch},
		{"a claim lost meanwhile: our own message is taken back", testLostClaim},
		{"a message deleted in Slack is posted anew", testDeleted},
		{"a message of another app's is posted anew", testCantUpdate},
		{"an archived channel", testArchived},
		{"a fault while updating", testUpdateFault},
		{"a redraw heals what was shown", testRedraw},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, newWorld(t, db)) })
	}
}

// world is one workspace and one table with one task in it.
type world struct {
	t     *testing.T
	store *store.Store
	slack *slacktest.Slack
	h     *Handler
	queue *queue
	ref   task.Ref
	root  string // of the thread
	clock time.Time
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
	w := &world{t: t, store: s, slack: slacktest.Start(t), queue: &queue{}, clock: time.Now()}
	w.h = w.handler()
	w.root = w.slack.Say(t, workspace.Sato, workspace.HR, "今月の勤怠をまとめて")
	c, ref, err := task.Receive(task.TenantID(slacktest.Team), task.Request{
		TeamID: slacktest.Team, Text: "今月の勤怠をまとめて", User: workspace.Sato, Channel: workspace.HR, ChannelType: "channel",
		MessageTS: w.root, ThreadTS: w.root, Source: task.SourceChannel, EventID: "Ev1",
	}, w.clock)
	if err != nil {
		t.Fatal(err)
	}
	w.ref = ref
	if err := s.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return w
}

// handler is another invocation's.
func (w *world) handler() *Handler {
	return &Handler{
		Tasks: w.store, Rows: w.store, Slack: w.slack.Client, Queue: w.queue, QueueURL: "queue", NewID: task.NewID,
		Now:  func() time.Time { return w.clock },
		Wait: func(context.Context, time.Duration) error { return nil },
	}
}

// decide moves the task on.
func (w *world) decide(f func(a *task.Aggregate) (task.Change, error)) *task.Aggregate {
	w.t.Helper()
	a, err := w.store.Decide(w.t.Context(), w.ref, f)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) extract() {
	w.t.Helper()
	w.decide(func(a *task.Aggregate) (task.Change, error) {
		return a.Extracted(1, task.Extract{Title: "勤怠", Description: "今月", Priority: task.High, TaskType: task.TypeStandard}, w.clock)
	})
}

func (w *world) draft() {
	w.t.Helper()
	w.decide(func(a *task.Aggregate) (task.Change, error) { return a.BeginPrompt(1, w.clock) })
	w.decide(func(a *task.Aggregate) (task.Change, error) {
		return a.FinishPrompt(1, "方針", task.DefaultSettings(), w.clock)
	})
}

// deliver hands over one message and reports whether it was dealt with.
func (w *world) deliver() bool {
	w.t.Helper()
	return w.send(fmt.Sprintf(`{"tenant":%q,"task":%q}`, w.ref.Tenant, w.ref.Task))
}

func (w *world) send(body string) bool {
	w.t.Helper()
	out, err := w.h.Handle(w.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: "m1", ReceiptHandle: "r1", Body: body, Attributes: map[string]string{"ApproximateReceiveCount": "1"},
	}}})
	if err != nil {
		w.t.Fatal(err)
	}
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
	a, err := w.store.Load(w.t.Context(), w.ref)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// shows wants exactly these texts in the thread, in this order.
func (w *world) shows(texts ...string) []workspace.Message {
	w.t.Helper()
	thread := w.slack.Thread(w.t, workspace.HR, w.root)
	var got []string
	for _, m := range thread {
		b, err := json.Marshal(m)
		if err != nil {
			w.t.Fatal(err)
		}
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

func testFollows(t *testing.T, w *world) {
	w.done()
	first := w.shows("受け付けました")
	if head := w.load().Head; head.ShownRev != head.Rev {
		t.Errorf("shown %d of %d", head.ShownRev, head.Rev)
	}
	w.slack.Calls()
	w.done()
	if calls := w.slack.Calls(); len(calls) != 0 {
		t.Errorf("nothing changed, yet: %v", calls)
	}
	w.extract()
	w.done()
	if now := w.shows("勤怠"); now[0].TS != first[0].TS {
		t.Error("the card is another message")
	}
	if c := w.load().Card("CARD#task"); c.State != task.CardPosted || c.Hash == "" || c.ClaimedBy != "" {
		t.Errorf("%+v", c)
	}
}

func testOrder(_ *testing.T, w *world) {
	w.extract()
	w.draft()
	w.done() // the first message that comes through finds two cards to post
	w.shows("勤怠", "approve_prompt")
}

func testRepeated(t *testing.T, w *world) {
	results := make(chan bool, 8)
	for range cap(results) {
		h := w.handler()
		go func() {
			out, err := h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
				MessageId: "m", Body: fmt.Sprintf(`{"tenant":%q,"task":%q}`, w.ref.Tenant, w.ref.Task),
			}}})
			results <- err == nil && len(out.BatchItemFailures) == 0
		}()
	}
	done := 0
	for range cap(results) {
		if <-results {
			done++
		}
	}
	if done == 0 {
		t.Error("nobody came through")
	}
	w.h.NewID = task.NewID
	w.done()
	w.shows("受け付けました")
}

func testLocale(t *testing.T, w *world) {
	tenant := task.Tenant{ID: w.ref.Tenant, Name: "x", Slug: "default", TeamID: slacktest.Team, Admins: []string{}}
	if _, err := w.store.Bootstrap(t.Context(), tenant, w.clock); err != nil {
		t.Fatal(err)
	}
	saved, err := w.store.Settings(t.Context(), w.ref.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	saved.Locale = "en"
	if _, err := w.store.SaveSettings(t.Context(), w.ref.Tenant, saved, task.System(), w.clock); err != nil {
		t.Fatal(err)
	}
	w.done()
	if m := w.shows("")[0]; strings.Contains(fmt.Sprint(m.Attachments), "受け付けました") {
		t.Error("the card is Japanese")
	}
}

func testRateLimit(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.back(8, 10)
	w.shows()
	w.done() // at once: the claim does not have to grow stale
	w.shows("受け付けました")
	w.slack.Calls()

	w.extract()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.RateLimited, RetryAfter: time.Second})
	w.back(1, 2)
	w.shows("受け付けました")
	w.done()
	w.shows("勤怠")
	if n := len(w.slack.Calls("conversations.replies", "conversations.open")); n != 0 {
		t.Errorf("%d needless calls", n)
	}
}

func testLostAnswer(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	w.done()
	m := w.shows("受け付けました")
	if c := w.load().Card("CARD#task"); c.MessageTS != m[0].TS || c.State != task.CardPosted {
		t.Errorf("%+v", c)
	}
	w.slack.Calls()
	w.done()
	if calls := w.slack.Calls(); len(calls) != 0 {
		t.Errorf("it shows what it was posted with, yet: %v", calls)
	}
}

func testNeverArrived(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable})
	w.back(30, 38)
	w.back(29, 38) // too early: whoever posted may still be at it
	if n := len(w.slack.Calls("chat.postMessage")); n != 1 {
		t.Errorf("posted %d times", n)
	}
	w.clock = w.clock.Add(31 * time.Second)
	w.done()
	w.shows("受け付けました")
}

// crashed is a handler that dies before it saves what it posted.
type crashed struct{ Rows }

func (crashed) PostedCard(context.Context, task.Ref, string, string, string, string, string) error {
	return errors.New("the process is gone")
}

func testCrash(t *testing.T, w *world) {
	w.h.Rows = crashed{w.store}
	w.back(30, 38)
	first := w.shows("受け付けました")[0].TS
	// Another invocation's late try, which the first one's claim did not stop.
	if _, err := w.slack.Client.Post(t.Context(), workspace.HR, w.root, message(), slackapi.Metadata{Task: w.ref.Task, Card: "CARD#task"}); err != nil {
		t.Fatal(err)
	}
	w.extract()
	w.h = w.handler()
	w.clock = w.clock.Add(31 * time.Second)
	w.done()
	if m := w.shows("勤怠"); m[0].TS != first {
		t.Error("the later one was adopted")
	}
}

func testClaimed(_ *testing.T, w *world) {
	if _, err := w.store.ClaimCard(context.Background(), w.ref, "CARD#task", "another", w.clock, w.clock.Add(-stale)); err != nil {
		w.t.Fatal(err)
	}
	w.clock = w.clock.Add(10 * time.Second)
	w.back(20, 25)
	w.shows()
	w.clock = w.clock.Add(21 * time.Second)
	w.done()
	w.shows("受け付けました")
}

func testNoSearch(t *testing.T, w *world) {
	w.h.Rows = crashed{w.store}
	w.back(30, 38)
	w.h = w.handler()
	w.clock = w.clock.Add(31 * time.Second)
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.RateLimited, RetryAfter: time.Second})
	w.back(30, 38)
	w.clock = w.clock.Add(31 * time.Second)
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.Refused, Code: "missing_scope"})
	w.done()
	w.shows("受け付けました", "受け付けました")
	if c := w.load().Card("CARD#task"); c.State != task.CardPosted {
		t.Errorf("%+v", c)
	}
}

// slow is a Slack whose post takes so long that others come in between.
type slow struct {
	Slack
	meanwhile func()
}

func (s slow) Post(ctx context.Context, channel, thread string, m cardMessage, about slackapi.Metadata) (string, error) {
	ts, err := s.Slack.Post(ctx, channel, thread, m, about)
	s.meanwhile()
	return ts, err
}

func testLostClaim(t *testing.T, w *world) {
	w.h.Slack = slow{w.slack.Client, func() {
		w.clock = w.clock.Add(31 * time.Second)
		other := "another"
		if _, err := w.store.ClaimCard(t.Context(), w.ref, "CARD#task", other, w.clock, w.clock.Add(-stale)); err != nil {
			t.Fatal(err)
		}
		ts, err := w.slack.Client.Post(t.Context(), workspace.HR, w.root, message(), slackapi.Metadata{Task: w.ref.Task, Card: "CARD#task"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.store.PostedCard(t.Context(), w.ref, "CARD#task", other, ts, workspace.HR, ""); err != nil {
			t.Fatal(err)
		}
	}}
	w.back(1, 1)
	w.shows("x")
	w.h = w.handler()
	w.done()
	if m := w.shows("受け付けました"); m[0].TS != w.load().Card("CARD#task").MessageTS {
		t.Error("the row names another message")
	}
}

func testDeleted(t *testing.T, w *world) {
	w.done()
	old := w.shows("受け付けました")[0].TS
	if err := w.slack.Delete(workspace.HR, old, workspace.Bot); err != nil {
		t.Fatal(err)
	}
	w.extract()
	w.done()
	if m := w.shows("勤怠"); m[0].TS == old {
		t.Error("the same message")
	}
}

func testCantUpdate(_ *testing.T, w *world) {
	w.done()
	w.extract()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Refused, Code: "cant_update_message"})
	w.done()
	w.shows("受け付けました", "勤怠")
}

func testArchived(t *testing.T, w *world) {
	if err := w.slack.SetArchived(workspace.HR, true); err != nil {
		t.Fatal(err)
	}
	w.done()
	c := w.load().Card("CARD#task")
	if c.State != task.CardUnreachable || c.Refusal != "is_archived" || c.TriedRev != 1 {
		t.Fatalf("%+v", c)
	}
	dm := func() int {
		all, err := w.slack.Everything(workspace.DirectMessage(workspace.Sato))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	if dm() != 1 {
		t.Fatalf("the requester was told %d times", dm())
	}
	w.slack.Calls()
	w.done()
	if calls := w.slack.Calls(); len(calls) != 0 {
		t.Errorf("tried again at the same revision: %v", calls)
	}
	w.extract()
	w.draft()
	w.done()
	if dm() != 1 {
		t.Errorf("the requester was told %d times", dm())
	}
	if err := w.slack.SetArchived(workspace.HR, false); err != nil {
		t.Fatal(err)
	}
	w.decide(func(a *task.Aggregate) (task.Change, error) {
		by := task.Actor{Type: task.ActorUser, ID: workspace.Suzuki, Team: slacktest.Team, Member: true}
		return a.ApprovePrompt(a.Prompt().ID, by, task.Policy{Team: slacktest.Team, AllowSelf: true}, w.clock)
	})
	w.done()
	w.shows("勤怠", "承認")
	if c := w.load().Card("CARD#task"); c.State != task.CardPosted || c.Refusal != "" {
		t.Errorf("%+v", c)
	}
}

func testUpdateFault(t *testing.T, w *world) {
	w.done()
	w.extract()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Lost})
	w.back(1, 2)
	if c := w.load().Card("CARD#task"); c.Hash != "" || c.State != task.CardPosted {
		t.Errorf("%+v", c)
	}
	w.done()
	w.shows("勤怠")
	// A refusal of the content: the message is remembered, and follows again at the next revision.
	w.draft()
	w.done()
	before := w.load().Card("CARD#prompt#0001").MessageTS
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.Refused, Code: "msg_too_long"})
	by := task.Actor{Type: task.ActorUser, ID: workspace.Sato, Team: slacktest.Team, Member: true}
	policy := task.Policy{Team: slacktest.Team, AllowSelf: true}
	w.decide(func(a *task.Aggregate) (task.Change, error) {
		return a.ApprovePrompt(a.Prompt().ID, by, policy, w.clock)
	})
	w.done()
	if c := w.load().Card("CARD#prompt#0001"); c.State != task.CardUnreachable || c.MessageTS != before || c.Refusal != "msg_too_long" {
		t.Errorf("%+v", c)
	}
	w.decide(func(a *task.Aggregate) (task.Change, error) { return a.CancelTask(by, policy, w.clock) })
	w.done()
	if c := w.load().Card("CARD#prompt#0001"); c.State != task.CardPosted || c.MessageTS != before {
		t.Errorf("%+v", c)
	}
}

func testRedraw(t *testing.T, w *world) {
	w.done()
	if err := w.store.Redraw(t.Context(), w.ref); err != nil {
		t.Fatal(err)
	}
	w.done()
	if head := w.load().Head; head.ShownRev != head.Rev {
		t.Errorf("shown %d of %d", head.ShownRev, head.Rev)
	}
	w.shows("受け付けました")
}
