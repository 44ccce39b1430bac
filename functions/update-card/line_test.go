package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
)

// A backlog: 2,000 cards of one workspace are due within a minute or at once, of which Slack allows 46 a minute. No
// message waits so often that it is given up, and all cards are drawn as fast as Slack allows. They never
// occupy all invocations: another workspace's card is drawn at once, even while each call to the first one's Slack
// takes
// 10 s.
func TestABacklogOfOneWorkspaceDelaysNobody(t *testing.T) {
	expect.Patience(t)
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(quiet) })
	for name, tt := range map[string]struct{ over, hangs, within time.Duration }{
		"its Slack answers":                {time.Minute, 0, 55 * time.Minute},
		"all at once":                      {0, 0, 55 * time.Minute},
		"its Slack hangs for half an hour": {time.Minute, 30 * time.Minute, 100 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.hangs == 0 && tt.over > 0 {
				expect.AtNight(t)
			}
			synctest.Test(t, func(t *testing.T) { testBacklog(t, tt.over, tt.hangs, tt.within) })
		})
	}
}

func testBacklog(t *testing.T, over, hangs, within time.Duration) {
	const (
		atOnce = 20                    // invocations
		busy   = 75 * time.Millisecond // of an invocation, for one message
	)
	backlog := 2000
	if !expect.Long() {
		backlog = 400
		hangs, within = hangs/5, within/5+3*time.Minute // the last messages rest as long as those of a long backlog
	}
	began := time.Now()
	b := &backlogged{t: t, tasks: map[string]*waiting{}, paces: map[string]*paper{}, hangs: began.Add(hangs)}
	h := &Handler{
		Store: b, Rows: b, Kinds: map[string]Kind{task.Kind.Name: taskCards{results: b}}, Slack: b, Pace: b, PaceScale: 1,
		Queue: b,
		NewID: aggregate.NewID,
		Now:   time.Now, Wait: clock.Sleep,
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for ctx.Err() == nil {
				b.receive(h, busy)
			}
		})
	}
	for minutes, n := 0, 0; n < backlog || b.leftover() > 0; time.Sleep(busy) {
		passed := time.Since(began)
		for ; n < backlog && passed >= time.Duration(n)*over/time.Duration(backlog); n++ {
			b.asks("T1")
		}
		for ; passed >= time.Duration(minutes)*time.Minute; minutes++ {
			b.sweep()
			b.asks("T2")
		}
		if passed > 3*time.Hour {
			t.Errorf("%d cards are not drawn after three hours", b.left)
			break
		}
	}
	took := time.Since(began)
	cancel()
	all.Wait()
	slowest := time.Duration(0)
	for _, w := range b.tasks {
		if w.a.Request.TeamID == "T2" {
			slowest = max(slowest, w.drawn.Sub(w.began))
		}
	}
	t.Logf("all within %s, by %d receives, one message sent around %d times, %d at once; the other workspace's cards "+
		"within %s; %d calls hung",
		took, b.received, b.most, b.peak, slowest, b.hung)
	expect.That(t, b.peak < atOnce, "one workspace's cards occupied all %d invocations", atOnce)
	expect.That(t, b.most <= effect.MostHops+3, "a message was sent around %d times", b.most)
	expect.That(t, slowest <= 500*time.Millisecond, "another workspace's card waited %s", slowest)
	expect.That(t, took <= within, "it took %s", took)
}

// waiting is a task whose only card has a button to try again, which Slack does not show yet.
type waiting struct {
	a            *task.Aggregate
	began, drawn time.Time
	due          time.Time
}

// letter is a message in the queue.
type letter struct {
	group, body, id string
	hidden          time.Time // until when it is invisible
	held            bool      // by an invocation
	received        int
}

// paper is a budget in memory, like the store's row.
type paper struct {
	calls []time.Time // the newest first
	lines map[int]time.Time

	since, until time.Time // since when Slack is silent, and the end of that note
}

// backlogged simulates the table, the queue, the sweeper and Slack.
type backlogged struct {
	Rows
	Slack
	Queue
	t        *testing.T
	hangs    time.Time // until when calls to one workspace's Slack are slow
	mu       sync.Mutex
	hung     int
	tasks    map[string]*waiting // by task id
	queue    []*letter
	sent     int
	paces    map[string]*paper
	left     int
	received int
	most     int // how often a message was sent around at most
	busy     int // invocations
	peak     int // of busy
}

func (b *backlogged) leftover() int {
	defer b.locked()()
	return b.left
}

// locked locks the simulation, and returns the function that unlocks it.
func (b *backlogged) locked() func() {
	b.mu.Lock()
	return b.mu.Unlock
}

func (b *backlogged) asks(team string) {
	id := aggregate.NewID()
	a := &task.Aggregate{
		Head: task.Head{Head: aggregate.Head{TenantID: aggregate.TenantID(team), Rev: 2, ShownRev: 1, Run: 1,
			Requester: "U1", ChangedAt: time.Now()}, TaskID: id,
			Parked: &task.Parked{Layer: task.L1, Sentence: task.ReasonRunFailed}},
		Request: &task.Request{TeamID: team, Text: "x", User: "U1", Channel: team, MessageTS: "1.1", ThreadTS: "1.1"},
	}
	a.Add(&aggregate.Card{ID: aggregate.NewID(), AggregateID: id, CardType: task.CardTask, Channel: team,
		State: aggregate.CardPosted, MessageTS: "1.2", Hash: "as received", CreatedAt: time.Now()})
	func() {
		defer b.locked()()
		b.tasks[id], b.left = &waiting{a: a, began: time.Now(), due: time.Now().Add(time.Minute)}, b.left+1
	}()
	b.redraw(a)
}

func (b *backlogged) redraw(a *task.Aggregate) {
	expect.NoError(b.t, effect.Runner{Queue: b}.Redraw(b.t.Context(), a.Ref(), a.Head.Head, aggregate.NewID()))
}

// sweep does the part of sweep-tasks that concerns cards.
func (b *backlogged) sweep() {
	for _, a := range b.undrawn(time.Now()) {
		b.redraw(a)
	}
}

// undrawn returns the due tasks whose cards must be requested.
func (b *backlogged) undrawn(now time.Time) (out []*task.Aggregate) {
	defer b.locked()()
	queued := map[string]bool{}
	for _, m := range b.queue {
		ref := saying(m.body).Ref
		queued[ref.ID] = true
	}
	for id, w := range b.tasks {
		if w.due.IsZero() || w.due.After(now) {
			continue
		}
		if w.a.Effects(now).Cards && !w.a.Head.InLine(now) && !queued[id] {
			out = append(out, w.a)
		}
		w.due = time.Time{}
		if due := w.a.DueAt(now); due != nil {
			w.due = *due
		}
	}
	return out
}

// receive gives a random message that may be received to an invocation.
func (b *backlogged) receive(h *Handler, busy time.Duration) {
	m := b.seen()
	if m != nil && !saying(m.body).After.IsZero() {
		busy /= 5 // it is only looked at, and moved
	}
	defer time.Sleep(busy)
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	out := expect.Value(h.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: m.id, ReceiptHandle: m.id, Body: m.body,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.received), "MessageGroupId": m.group},
	}}}))(b.t)
	defer b.locked()()
	m.held, b.busy = false, b.busy-1
	if len(out.BatchItemFailures) == 0 {
		b.queue = slices.DeleteFunc(b.queue, func(x *letter) bool { return x == m })
	}
}

// seen returns a random message that is its group's first, visible and with no invocation, or nil.
func (b *backlogged) seen() *letter {
	defer b.locked()()
	var free []*letter
	groups := map[string]bool{}
	for _, m := range b.queue {
		if !groups[m.group] && !m.held && !time.Now().Before(m.hidden) {
			free = append(free, m)
		}
		groups[m.group] = true
	}
	if len(free) == 0 {
		return nil
	}
	m := free[rand.IntN(len(free))]
	m.held, m.received = true, m.received+1
	b.received++
	b.busy++
	b.peak = max(b.peak, b.busy)
	return m
}

func (b *backlogged) ChangeMessageVisibility(
	_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options),
) (*sqs.ChangeMessageVisibilityOutput, error) {
	defer b.locked()()
	i := slices.IndexFunc(b.queue, func(m *letter) bool { return m.id == *in.ReceiptHandle })
	b.queue[i].hidden = time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}
