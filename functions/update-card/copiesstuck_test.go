package main

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// crowded is a pace of which others take all for an hour.
type crowded struct {
	Pace
	now   func() time.Time
	until time.Time
}

func (p *crowded) TakePace(_ context.Context, b store.Budget, _ int, now time.Time) (time.Time, error) {
	if now.Before(p.until) {
		return now.Add(b.Window), nil
	}
	return time.Time{}, nil
}
func (p *crowded) SparePace(context.Context, store.Budget, time.Time) (int, error) { return 0, nil }
func (p *crowded) HoldPace(context.Context, store.Budget, time.Time) error         { return nil }
func (p *crowded) SilentSince(context.Context, string, time.Time) (time.Time, error) {
	return time.Time{}, nil
}
func (p *crowded) JoinLine(_ context.Context, _ store.Budget, _ int, now time.Time) (time.Time, error) {
	return now, nil
}

func TestCopiesThatWait(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"for Slack's pace are not given up": func(t *testing.T, w *world) {
			s := w.listing([]string{workspace.Suzuki}, nil)
			w.Prompted(s)
			w.done()
			body := *w.queue.sent[len(w.queue.sent)-1].MessageBody
			w.h.Pace, w.h.PaceScale = &crowded{nil, w.Now, w.Now().Add(time.Hour)}, 1
			began := w.Now()
			for received := 1; received <= 600; received++ {
				w.queue.hidden, w.queue.sent = nil, nil
				out := expect.Value(w.h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
					MessageId: "m1", ReceiptHandle: "r1", Body: body, Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(received), "MessageGroupId": "group"},
				}}}))(t)
				if received > 100 {
					t.Fatalf("received %d times: the queue sets it aside after %v, for a wait that is an hour", received, w.Now().Sub(began).Round(time.Second))
				}
				if len(out.BatchItemFailures) == 0 {
					if len(w.queue.sent) == 0 {
						break
					}
					body, received = *w.queue.sent[0].MessageBody, 0
					continue
				}
				w.Later(time.Duration(w.queue.hidden[0]) * time.Second)
			}
			expect.That(t, len(w.direct(workspace.Suzuki)) == 1, "no copy")
		},
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}
