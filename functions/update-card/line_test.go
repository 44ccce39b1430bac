package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/expect"
	"ringi/shared/slackapi"
	"ringi/shared/store"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// A backlog: 2,000 cards of one workspace are to say within a minute how the work ended, of
// which Slack takes 46 a minute. No message is received so often that the queue gives it up,
// all are drawn as fast as Slack allows, and the cards of another workspace are drawn promptly
// by the same five lanes, whenever they come.
func TestABacklogOfOneWorkspaceDelaysNobody(t *testing.T) {
	const (
		backlog  = 2000
		lanes    = 5
		busy     = 75 * time.Millisecond // a lane, with a message
		receives = 100                   // as template.yaml has it
	)
	quiet := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(quiet) })
	b := &backlogged{t: t, clock: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), tasks: map[string]*waiting{}, paces: map[string]*paper{}}
	h := &Handler{
		Store: b, Rows: b, Kinds: map[string]Kind{task.Kind.Name: taskCards{b}}, Slack: b, Pace: b, PaceScale: 1, Queue: b, NewID: aggregate.NewID,
		Now: func() time.Time { return b.clock }, Wait: func(context.Context, time.Duration) error { return nil },
	}
	began, minutes, n := b.clock, 0, 0
	for n < backlog || b.left > 0 {
		passed := b.clock.Sub(began)
		for ; n < backlog && passed >= time.Duration(n)*time.Minute/backlog; n++ {
			b.asks("T1")
		}
		for ; passed >= time.Duration(minutes)*time.Minute; minutes++ {
			b.sweep()
			b.asks("T2")
		}
		for range lanes {
			b.receive(h)
		}
		if passed > 2*time.Hour {
			t.Fatalf("%d cards are not drawn after two hours", b.left)
		}
		b.clock = b.clock.Add(busy)
	}
	most, slowest := 0, time.Duration(0)
	for _, w := range b.tasks {
		most = max(most, w.most)
		if w.a.Request.TeamID == "T2" {
			slowest = max(slowest, w.drawn.Sub(w.began))
		}
	}
	took := b.clock.Sub(began)
	t.Logf("all within %s, by %d receives, %d of one message; the other workspace's cards within %s", took, b.received, most, slowest)
	if most >= receives {
		t.Errorf("a message was received %d times", most)
	}
	if slowest > 15*time.Second {
		t.Errorf("another workspace's card waited %s", slowest)
	}
	if took > 55*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// waiting is a task whose only card has the button to try again, which Slack does not show yet.
type waiting struct {
	a            *task.Aggregate
	began, drawn time.Time
	due          time.Time
	hidden       time.Time // its message in the queue
	received     int
	most         int // the most that one message of it was received
}

// paper is a budget in memory, as the store keeps it in a row.
type paper struct {
	calls []time.Time // the newest first
	lines map[int]time.Time
}

// backlogged is the table, the queue, the sweeper and Slack of a simulation.
type backlogged struct {
	Rows
	Slack
	t        *testing.T
	clock    time.Time
	tasks    map[string]*waiting // by task id
	queue    []*waiting
	paces    map[string]*paper
	left     int
	received int
}

func (b *backlogged) asks(team string) {
	id := aggregate.NewID()
	a := &task.Aggregate{
		Head:    task.Head{Head: aggregate.Head{TenantID: aggregate.TenantID(team), Rev: 2, ShownRev: 1, Run: 1, Requester: "U1", ChangedAt: b.clock}, TaskID: id, Parked: &task.Parked{Layer: task.L1, Sentence: task.ReasonRunFailed}},
		Request: &task.Request{TeamID: team, Text: "x", User: "U1", Channel: "C1", MessageTS: "1.1", ThreadTS: "1.1"},
	}
	a.Add(&aggregate.Card{ID: aggregate.NewID(), AggregateID: id, CardType: task.CardTask, Channel: "C1", State: aggregate.CardPosted, MessageTS: "1.2", Hash: "as received", CreatedAt: b.clock})
	w := &waiting{a: a, began: b.clock, due: b.clock.Add(time.Minute)}
	b.tasks[id], b.queue, b.left = w, append(b.queue, w), b.left+1
}

// sweep is what sweep-tasks does for cards.
func (b *backlogged) sweep() {
	for _, w := range b.tasks {
		if w.due.IsZero() || w.due.After(b.clock) {
			continue
		}
		if w.a.Effects(b.clock).Cards && !w.a.Head.InLine(b.clock) && !slices.Contains(b.queue, w) {
			b.queue = append(b.queue, w)
		}
		w.due = time.Time{}
		if due := w.a.DueAt(b.clock); due != nil {
			w.due = *due
		}
	}
}

// receive hands one message that is to be seen to a lane, by chance.
func (b *backlogged) receive(h *Handler) {
	for _, i := range rand.Perm(len(b.queue)) {
		w := b.queue[i]
		if b.clock.Before(w.hidden) {
			continue
		}
		b.received++
		w.received++
		w.most = max(w.most, w.received)
		out := expect.Value(h.Handle(b.t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "m", ReceiptHandle: w.a.Head.TaskID, Body: fmt.Sprintf(`{"tenant":%q,"task":%q}`, w.a.Head.TenantID, w.a.Head.TaskID),
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(w.received)},
		}}}))(b.t)
		if len(out.BatchItemFailures) == 0 {
			b.queue = slices.Delete(b.queue, i, i+1)
			w.received = 0
		}
		return
	}
}

func (b *backlogged) ChangeMessageVisibility(_ context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	b.tasks[*in.ReceiptHandle].hidden = b.clock.Add(time.Duration(in.VisibilityTimeout) * time.Second)
	return &sqs.ChangeMessageVisibilityOutput{}, nil
}

func (b *backlogged) Load(_ context.Context, ref aggregate.Ref) (aggregate.Aggregate, error) {
	a := *b.tasks[ref.ID].a
	return &a, nil
}

func (b *backlogged) Head(_ context.Context, ref aggregate.Ref) (aggregate.Root, error) {
	return b.tasks[ref.ID].a.Root(), nil
}

func (b *backlogged) Opened(_ context.Context, a *task.Aggregate, _ string) (*task.Aggregate, error) {
	return a, nil
}

func (b *backlogged) Settings(context.Context, string) (tenancy.Settings, error) {
	return tenancy.DefaultSettings(), nil
}

func (b *backlogged) Shown(_ context.Context, ref aggregate.Ref, h aggregate.Head) error {
	w := b.tasks[ref.ID]
	w.a.Head.ShownRev, w.a.Head.DrawAt, w.drawn = h.Rev, nil, b.clock
	b.left--
	return nil
}

func (b *backlogged) DrawAt(_ context.Context, ref aggregate.Ref, at time.Time, due bool) error {
	w := b.tasks[ref.ID]
	w.a.Head.DrawAt = &at
	if due && at.Before(w.due) {
		w.due = at
	}
	return nil
}

func (b *backlogged) ForgetCard(context.Context, aggregate.Ref, string, string) error { return nil }

func (b *backlogged) ShownCard(ctx context.Context, ref aggregate.Ref, _, _, hash string, all *aggregate.Head) error {
	b.tasks[ref.ID].a.Cards[0].Hash = hash
	if all != nil {
		return b.Shown(ctx, ref, *all)
	}
	return nil
}

func (b *backlogged) Update(context.Context, string, string, card.Message, slackapi.Metadata) error {
	return nil
}

func (b *backlogged) pace(x store.Budget) *paper {
	key := x.Workspace + x.Name
	if b.paces[key] == nil {
		b.paces[key] = &paper{lines: map[int]time.Time{}}
	}
	return b.paces[key]
}

func (b *backlogged) TakePace(_ context.Context, x store.Budget, spare int, now time.Time) (time.Time, error) {
	p := b.pace(x)
	if nth := x.Calls - 1 - spare; len(p.calls) > nth && p.calls[nth].Add(x.Window).After(now) {
		return p.calls[nth].Add(x.Window), nil
	}
	p.calls = append([]time.Time{now}, p.calls[:min(len(p.calls), x.Calls-1)]...)
	return time.Time{}, nil
}

func (b *backlogged) JoinLine(_ context.Context, x store.Budget, spare int, now time.Time) (time.Time, error) {
	p, apart := b.pace(x), x.Window/time.Duration(x.Calls-spare)
	if p.lines[spare].Before(now) {
		p.lines[spare] = now
	}
	p.lines[spare] = p.lines[spare].Add(apart)
	return p.lines[spare], nil
}

func (b *backlogged) SparePace(context.Context, store.Budget, time.Time) (int, error) { return 0, nil }

func (b *backlogged) HoldPace(context.Context, store.Budget, time.Time) error { return nil }

// Team can't be asked: nobody's workspace is held against another here.
func (*backlogged) Team(context.Context) (string, error) {
	return "", slackapi.Refused{Code: slackapi.CodeUnknownMethod}
}

func (*backlogged) Integrations(context.Context, string) ([]tenancy.Integration, error) {
	return nil, nil
}

func (b *backlogged) SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return &sqs.SendMessageOutput{}, nil
}

func (b *backlogged) SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	return &sqs.SendMessageBatchOutput{}, nil
}

func (b *backlogged) Redraw(context.Context, aggregate.Ref) error { return nil }
