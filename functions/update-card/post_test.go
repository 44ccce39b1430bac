package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

func testRateLimit(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.RateLimited, RetryAfter: 8 * time.Second})
	w.back(8, 10)
	w.shows()
	w.done() // at once: the claim need not become stale
	w.shows("受け付けました")
	w.slack.Calls()

	w.Extracted()
	w.slack.Faults.Add(webapi.Fault{Method: "chat.update", Kind: webapi.RateLimited, RetryAfter: time.Second})
	w.back(1, 3)
	w.shows("受け付けました")
	w.done()
	w.shows("勤怠")
	expect.Same(t, 0, len(w.slack.Calls("conversations.replies", "conversations.open")))
}

func testLostAnswer(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Lost})
	w.done()
	m := w.shows("受け付けました")
	c := w.Load().Card("CARD#task")
	expect.That(t, c.MessageTS == m[0].TS && c.State == aggregate.CardPosted, "%+v", c)
	w.slack.Calls()
	w.done()
	calls := w.slack.Calls()
	expect.That(t, len(calls) == 0, "it shows what it was posted with, yet: %v", calls)
}

func testNeverArrived(t *testing.T, w *world) {
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable})
	w.back(31, 39)
	w.back(3, 4) // too early: the invocation with the claim may still be posting
	expect.Same(t, 1, len(w.slack.Calls("chat.postMessage")))
	w.Later(31 * time.Second)
	w.done()
	w.shows("受け付けました")
}

// hangs is a Slack that never answers a post. The message appears when show is called.
type hangs struct {
	Slack
	w     *world
	posts int
	show  func()
}

func (s *hangs) Post(
	_ context.Context, channel, thread string, m cardMessage, about slackapi.Metadata,
) (string, error) {
	s.w.Later(slackTimeout)
	s.posts++
	s.show = func() { expect.Value(s.Slack.Post(s.w.T.Context(), channel, thread, m, about))(s.w.T) }
	return "", slackapi.Unknown{Cause: "no answer"}
}

func (w *world) hangs() *hangs {
	s := &hangs{Slack: w.slack.Client, w: w}
	w.h.Slack = s
	w.h.Wait = func(_ context.Context, d time.Duration) error { w.Later(d); return nil }
	return s
}

func testHangs(_ *testing.T, w *world) {
	s := w.hangs()
	w.back(19, 24) // the rest of the claim, of which the call and the search took 12 s
	w.Later(19 * time.Second)
	w.h.Slack = s.Slack
	w.done()
	w.shows("受け付けました")
}

func testHangsAndShowsLate(t *testing.T, w *world) {
	s := w.hangs()
	w.back(19, 24)
	w.Later(18 * time.Second)
	s.show()
	w.back(1, 2)
	w.Later(time.Second)
	w.done()
	w.shows("受け付けました")
	expect.That(t, s.posts == 1, "posted %d times", s.posts)
}

func testHangsAfterASlowSearch(_ *testing.T, w *world) {
	s := w.hangs()
	w.back(19, 24)
	w.Later(20 * time.Second)
	w.h.Slack = slowSearch{s}
	w.back(19, 24) // counted from the post, not from the claim before the search
}

// slowSearch is a Slack whose searches are slow and find nothing.
type slowSearch struct{ *hangs }

func (s slowSearch) FindCards(context.Context, string, string, slackapi.Metadata) ([]string, error) {
	if s.posts == 1 {
		s.w.Later(8 * time.Second)
	}
	return nil, nil
}

func testOwnFault(t *testing.T, w *world) {
	var waited time.Duration
	w.h.Wait = func(_ context.Context, d time.Duration) error { waited += d; return nil }
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable, Status: 500, Times: 2})
	w.back(1, 2)
	w.back(1, 2)
	n := w.slack.Calls("chat.postMessage", "conversations.replies")
	expect.That(t, len(n) == 6 && waited == 10*time.Second,
		"%v, waited %s: want two posts, each looked for after 2 and 5 s", n, waited)
	w.done() // the clock was not moved: no claim need become stale
	w.shows("受け付けました")
}

// crashed is a handler that dies before it saves its post.
type crashed struct{ Store }

func (crashed) PostedCard(
	context.Context, aggregate.Ref, string, string, string, string, string, *aggregate.Head,
) error {
	return errors.New("the process is gone")
}

func testCrash(t *testing.T, w *world) {
	w.h.Store = crashed{w.h.Store}
	w.back(31, 39)
	first := w.shows("受け付けました")[0].TS
	// Another invocation tries late; the first one's claim no longer stops it.
	expect.Value(w.slack.Client.Post(t.Context(), webapi.HR, w.root, message(),
		slackapi.Metadata{Task: w.Ref.ID, Card: "CARD#task"}))(t)
	w.Extracted()
	w.h = w.handler()
	w.Later(31 * time.Second)
	w.done()
	expect.That(t, w.shows("勤怠")[0].TS == first, "the later one was adopted")
}

func testClaimed(_ *testing.T, w *world) {
	expect.Value(w.Store.ClaimCard(context.Background(), w.Ref, "CARD#task", "another", w.Now(), w.Now().Add(-stale)))(w.T)
	w.Later(10 * time.Second)
	w.back(3, 4)
	w.shows()
	w.Later(21 * time.Second)
	w.done()
	w.shows("受け付けました")
}

func testNoSearch(t *testing.T, w *world) {
	w.h.Store = crashed{w.h.Store}
	w.back(31, 39)
	w.h = w.handler()
	w.Later(31 * time.Second)
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.RateLimited, RetryAfter: time.Second})
	w.back(31, 39)
	w.Later(31 * time.Second)
	w.slack.Faults.Add(webapi.Fault{Method: "conversations.replies", Kind: webapi.Refused, Code: "missing_scope"})
	w.done()
	w.shows("受け付けました", "受け付けました")
	expect.Same(t, aggregate.CardPosted, w.Load().Card("CARD#task").State)
}

// slow is a Slack whose post takes so long that other invocations begin meanwhile.
type slow struct {
	Slack
	meanwhile func()
}

func (s slow) Post(
	ctx context.Context, channel, thread string, m cardMessage, about slackapi.Metadata,
) (string, error) {
	ts, err := s.Slack.Post(ctx, channel, thread, m, about)
	s.meanwhile()
	return ts, err
}

func testLostClaim(t *testing.T, w *world) {
	w.h.Slack = slow{w.slack.Client, func() {
		w.Later(31 * time.Second)
		other := "another"
		expect.Value(w.Store.ClaimCard(t.Context(), w.Ref, "CARD#task", other, w.Now(), w.Now().Add(-stale)))(t)
		ts := expect.Value(w.slack.Client.Post(t.Context(), webapi.HR, w.root, message(),
			slackapi.Metadata{Task: w.Ref.ID, Card: "CARD#task"}))(t)
		expect.NoError(t, w.Store.PostedCard(t.Context(), w.Ref, "CARD#task", other, ts, webapi.HR, "", nil))
	}}
	w.back(1, 1)
	w.shows("x")
	w.h = w.handler()
	w.done()
	expect.That(t, w.shows("受け付けました")[0].TS == w.Load().Card("CARD#task").MessageTS, "the row names another message")
}
