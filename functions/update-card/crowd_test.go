package main

import (
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
	"ringi/shared/store/storetest"
)

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
	w.slack.Faults.SetRates(webapi.Rates{Enforce: true})
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
			return decide.Approve(a, a.Prompt().ID, c.requester(), c.policy(), now)
		case 4:
			return a.BeginProcess(a.Head.Run, now)
		case 5:
			return a.FinishProcess(a.Head.Run, []task.Step{{StepID: "s1", Order: 1, Title: "一覧", Description: "手順",
				ExpectedOutput: "結果", Tool: "list_employees", ToolInput: aggregate.JSON("{}"), Access: aggregate.Read,
				ToolVersion: "1"}}, "", s, now)
		case 6:
			return decide.Approve(a, a.Process().ID, c.requester(), c.policy(), now)
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
