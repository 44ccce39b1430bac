package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// try is one delivery of the message about a task's cards.
type try struct {
	after time.Duration // since the one before it
	fails webapi.Fault  // what Slack answers; no Kind: as usual
	back  [2]int32      // for at least and at most how many seconds the message is hidden; none: it is done with
	shows []string      // what stands in the thread then
}

// What Slack answers a post or an update with decides when it is tried again, and what is posted.
func TestWhatSlackAnswersDecidesWhatIsTriedAgain(t *testing.T) {
	const first, then = "受け付けました", "勤怠"
	post := func(f webapi.Fault) webapi.Fault { f.Method = "chat.postMessage"; return f }
	update := func(f webapi.Fault) webapi.Fault { f.Method = "chat.update"; return f }
	search := func(f webapi.Fault) webapi.Fault { f.Method = "conversations.replies"; return f }
	limited := func(s time.Duration) webapi.Fault {
		return webapi.Fault{Kind: webapi.RateLimited, RetryAfter: s * time.Second}
	}
	refused := func(code string) webapi.Fault { return webapi.Fault{Kind: webapi.Refused, Code: code} }
	own := webapi.Fault{Kind: webapi.Unavailable, Status: 500}
	again, reader := [2]int32{31, 39}, []string{first}
	posted := func(w *world) { w.done(); w.Extracted() }
	parts := map[string]func(*testing.T, *world){}
	for name, tt := range map[string]struct {
		before func(w *world)
		tries  []try
	}{
		"a rate limit is waited out, with no claim left behind": {nil, []try{
			{fails: post(limited(8)), back: [2]int32{8, 10}}, {shows: reader}}},
		"an answer that was lost: the message is adopted": {nil, []try{
			{fails: post(webapi.Fault{Kind: webapi.Lost}), shows: reader}, {shows: reader}}},
		"a lost post that never arrived is left, then posted": {nil, []try{
			{fails: post(webapi.Fault{Kind: webapi.Unavailable}), back: again},
			{back: [2]int32{3, 4}}, // the invocation with the claim may still be posting
			{after: 31 * time.Second, shows: reader}}},
		"a post at which Slack itself failed is made anew within seconds": {nil, []try{
			{fails: post(own), back: [2]int32{1, 2}}, {fails: post(own), back: [2]int32{1, 2}}, {shows: reader}}},
		"a claim of another invocation is waited for": {func(w *world) {
			ctx := w.T.Context()
			expect.Value(w.Store.ClaimCard(ctx, w.Ref, "CARD#task", "another", w.Now(), w.Now().Add(-stale)))(w.T)
		}, []try{{after: 10 * time.Second, back: [2]int32{3, 4}}, {after: 21 * time.Second, shows: reader}}},
		"no permission to search: posted and counted": {func(w *world) {
			w.h.Store = unsaved(w.h.Store)
			w.back(31, 39)
			w.h = w.handler()
		}, []try{{after: 31 * time.Second, fails: search(limited(1)), back: again, shows: reader},
			{after: 31 * time.Second, fails: search(refused("missing_scope")), shows: []string{first, first}}}},
		"an update's rate limit": {posted, []try{
			{fails: update(limited(1)), back: [2]int32{1, 3}, shows: reader}, {shows: []string{then}}}},
		"an update without an answer": {posted, []try{
			{fails: update(webapi.Fault{Kind: webapi.Unavailable}), back: [2]int32{1, 2}, shows: reader},
			{shows: []string{then}}}},
		"a message of another app's is posted anew": {posted, []try{
			{fails: update(refused("cant_update_message")), shows: []string{first, then}}}},
		"a message that is too old to change is posted anew": {posted, []try{
			{fails: update(refused("edit_window_closed")), shows: []string{first, then}}}},
		"a message deleted in Slack is posted anew": {func(w *world) {
			posted(w)
			expect.NoError(w.T, w.slack.Delete(webapi.HR, w.Load().Card("CARD#task").MessageTS, webapi.Bot))
		}, []try{{shows: []string{then}}}},
		"cards are posted in the order of the work": {func(w *world) {
			w.Extracted()
			w.Draft(tenancy.DefaultSettings())
		}, []try{{shows: []string{then, "approve_prompt"}}}},
	} {
		parts[name] = func(t *testing.T, w *world) {
			if tt.before != nil {
				tt.before(w)
			}
			for _, x := range tt.tries {
				if w.Later(x.after); x.fails.Kind != "" {
					w.slack.Faults.Add(x.fails)
				}
				if x.back == [2]int32{} {
					w.done()
				} else {
					w.back(x.back[0], x.back[1])
				}
				w.shows(x.shows...)
			}
			c := w.Load().Card("CARD#task")
			expect.That(t, c.State == aggregate.CardPosted && c.ClaimedBy == "" && c.MessageTS != "", "%+v", c)
			w.slack.Calls()
			w.done()
			expect.Is(t, len(w.slack.Calls()), 0, "calls for what is shown")
		}
	}
	inWorlds(t, parts)
}

// A post at which Slack itself failed is looked for twice before it is made anew.
func testOwnFault(t *testing.T, w *world) {
	var waited time.Duration
	w.h.Wait = func(_ context.Context, d time.Duration) error { waited += d; return nil }
	w.slack.Faults.Add(webapi.Fault{Method: "chat.postMessage", Kind: webapi.Unavailable, Status: 500})
	w.back(1, 2)
	n := w.slack.Calls("chat.postMessage", "conversations.replies")
	expect.That(t, len(n) == 3 && waited == 5*time.Second, "%v, waited %s", n, waited)
}

// hangs is a Slack that never answers a post. The message appears when show is called. A second search is slow.
type hangs struct {
	Slack
	w     *world
	posts int
	slow  bool
	show  func()
}

func (s *hangs) Post(
	_ context.Context, channel, thread string, m card.Message, about slackapi.Metadata,
) (string, error) {
	s.w.Later(slackTimeout)
	s.posts++
	s.show = func() { expect.Value(s.Slack.Post(s.w.T.Context(), channel, thread, m, about))(s.w.T) }
	return "", slackapi.Unknown{Cause: "no answer"}
}

func (s *hangs) FindCards(ctx context.Context, channel, thread string, about slackapi.Metadata) ([]string, error) {
	if !s.slow {
		return s.Slack.FindCards(ctx, channel, thread, about)
	}
	if s.posts == 1 {
		s.w.Later(8 * time.Second)
	}
	return nil, nil
}

func (w *world) hangs() *hangs {
	s := &hangs{Slack: w.slack.Client, w: w}
	w.h.Slack = s
	w.h.Wait = func(_ context.Context, d time.Duration) error { w.Later(d); return nil }
	w.back(19, 24) // the rest of the claim, of which the call and the search took 12 s
	return s
}

// A post that hangs is tried again when the claim is free, which counts from the post, and is adopted where it appeared
// meanwhile.
func testHangs(t *testing.T, w *world) {
	s := w.hangs()
	w.Later(18 * time.Second)
	s.show()
	w.back(1, 2)
	w.Later(time.Second)
	w.done()
	w.shows("受け付けました")
	expect.That(t, s.posts == 1, "posted %d times", s.posts)
}

func testHangsForGood(_ *testing.T, w *world) {
	s := w.hangs()
	w.Later(20 * time.Second)
	s.slow = true
	w.back(19, 24) // not from the claim before the search
	w.Later(24 * time.Second)
	w.h.Slack = s.Slack
	w.done()
	w.shows("受け付けました")
}

// unsaved is a table for a handler that dies before it saves its post.
func unsaved(s Store) Store {
	return beside{Store: s, posting: func(*aggregate.Head) error { return errors.New("the process is gone") }}
}

func testCrash(t *testing.T, w *world) {
	w.h.Store = unsaved(w.h.Store)
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

func testLostClaim(t *testing.T, w *world) {
	w.h.Slack = besides{Slack: w.slack.Client, posted: func() {
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

// asked is one of many requests, with the messages of its group of the queue.
type asked struct {
	ref    aggregate.Ref
	root   string
	next   int       // index of the next move
	at     time.Time // time of the next move; zero: when the gate's card is seen
	waits  string    // the button that people wait for
	queued []letter
}

// letter is a message of the queue.
type letter struct {
	body     string
	at       time.Time // when it may be received
	receives int
}

// crowd is many requests in one channel, at Slack's own rate limits and with its own clock and chances.
type crowd struct {
	*world
	all      []*asked
	order    *rand.Rand
	receives int // the most of one message
}

// Forty requests at once in one channel, where Slack takes a post a second and 50 updates a minute: each card ends up
// right, the last within 1.3 times what Slack's pace allows, and no message is received twenty times, which is when the
// queue gives it up.
func TestFortyRequestsAtOnce(t *testing.T) {
	expect.Patience(t)
	requests := 12 // by day
	if expect.Long() {
		requests = 40
	}
	w := newWorld(t, storetest.Start(t))
	w.slack.Now = w.Now
	w.slack.Faults.Limit(1)
	c := &crowd{world: w, order: rand.New(rand.NewPCG(48, 6))}
	w.h.Random = c.order.Int64N
	for range requests {
		c.ask()
	}
	w.slack.Calls()
	began := w.Now()
	for !c.over() {
		for _, i := range c.order.Perm(requests) {
			c.move(c.all[i])
			c.receive(c.all[i])
		}
		w.Later(time.Second)
		expect.Must(t, w.Now().Sub(began) < 15*time.Minute, "not all is shown")
	}
	took, called := w.Now().Sub(began), map[string]int{}
	for _, method := range w.slack.Calls() {
		called[method]++
	}
	t.Logf("%s; %v; received %d times at most", took, called, c.receives)
	pace := time.Duration(4*requests) * time.Second // of as many posts; fewer updates than Slack takes meanwhile
	if !expect.Long() {                             // of few requests the last one's own moves count for more
		pace = pace * 13 / 10
	}
	expect.That(t, took <= pace*13/10, "it took %s, at Slack's pace %s", took, pace)
	expect.That(t, c.receives < 20, "a message was received %d times", c.receives)
	for _, x := range c.all {
		thread := w.slack.Thread(t, webapi.HR, x.root)
		said := fmt.Sprint(thread)
		expect.That(t, len(thread) == 4 && strings.Contains(said, "retry_execution") &&
			!strings.Contains(said, "approve_") && !strings.Contains(said, "cancel_execution"), "%s", said)
	}
}

func (c *crowd) ask() {
	c.T.Helper()
	n := len(c.all)
	root := c.slack.Say(c.T, webapi.Sato, webapi.HR, fmt.Sprintf("依頼 %d", n))
	change, ref, err := task.Receive(aggregate.TenantID(ringitest.Team), task.Request{TeamID: ringitest.Team, Text: "依頼",
		User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: root, ThreadTS: root,
		Source: task.SourceChannel, EventID: fmt.Sprintf("Ev%d", n)}, c.Now())
	expect.NoError(c.T, err)
	expect.NoError(c.T, c.Store.Create(c.T.Context(), change))
	x := &asked{ref: ref, root: root, at: c.Now()}
	c.all = append(c.all, x)
	c.post(x, expect.Value(c.Store.Load(c.T.Context(), ref))(c.T))
}

func (c *crowd) post(x *asked, a *task.Aggregate) {
	x.queued = append(x.queued, letter{body: asking(x.ref, a.Head.Head), at: c.Now()})
}

// over reports whether all requests have ended and nothing is left in the queue.
func (c *crowd) over() bool {
	for _, x := range c.all {
		if x.next < 9 || len(x.queued) > 0 {
			return false
		}
	}
	return true
}

// move makes a request's next move when it is time.
func (c *crowd) move(x *asked) {
	c.T.Helper()
	if x.at.IsZero() && strings.Contains(fmt.Sprint(c.slack.Thread(c.T, webapi.HR, x.root)), x.waits) {
		x.at = c.Now()
	}
	if x.at.IsZero() || c.Now().Before(x.at) || x.next > 8 {
		return
	}
	now, s := c.Now(), tenancy.DefaultSettings()
	a, err := c.Store.Decide(c.T.Context(), x.ref, func(a *task.Aggregate) (aggregate.Change, error) {
		switch x.next {
		case 0:
			return a.Extracted(a.Head.Run, task.Extract{Title: "依頼", Description: "今月", Priority: task.High,
				TaskType: task.TypeStandard}, now)
		case 1:
			return a.BeginPrompt(a.Head.Run, now)
		case 2:
			return a.FinishPrompt(a.Head.Run, task.Drafted{Content: "方針"}, s, now)
		case 3:
			return decide.Approve(a, a.Prompt().ID, c.requester(), ringitest.Policy(), now)
		case 4:
			return a.BeginProcess(a.Head.Run, now)
		case 5:
			return a.FinishProcess(a.Head.Run, []task.Step{{StepID: "s1", Order: 1, Title: "一覧", Description: "手順",
				ExpectedOutput: "結果", Tool: "list_employees", ToolInput: aggregate.JSON("{}"), Access: aggregate.Read,
				ToolVersion: "1"}}, "", s, now)
		case 6:
			return decide.Approve(a, a.Process().ID, c.requester(), ringitest.Policy(), now)
		case 7:
			return a.StartExecution(a.Head.Run, task.Series{}, now)
		}
		return a.FailExecution(a.Head.Run, task.ReasonRunFailed, "", now)
	})
	expect.Must(c.T, err == nil, "move %d: %v", x.next, err)
	c.post(x, a)
	x.at = now.Add([]time.Duration{1, 3, 0, 1, 3, 0, 1, 3, 0}[x.next] * time.Second)
	if x.waits = map[int]string{2: "approve_prompt", 5: "approve_process"}[x.next]; x.waits != "" {
		x.at = time.Time{}
	}
	x.next++
}

// receive handles the messages of a request's group that may be received: none while an earlier one is hidden.
func (c *crowd) receive(x *asked) {
	c.T.Helper()
	for len(x.queued) > 0 && !c.Now().Before(x.queued[0].at) {
		m := &x.queued[0]
		m.receives++
		c.receives, c.queue.hidden = max(c.receives, m.receives), nil
		out := expect.Value(c.h.Handle(c.T.Context(),
			events.SQSEvent{Records: []events.SQSMessage{received(m.receives, m.body)}}))(c.T)
		if len(out.BatchItemFailures) > 0 {
			m.at = c.Now().Add(time.Duration(c.queue.hidden[0]) * time.Second)
			return
		}
		x.queued = x.queued[1:]
	}
}
