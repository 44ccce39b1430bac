package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/runtime/sleep"
)

const (
	// rush is within what time all requests are made.
	rush = time.Minute
	// thinking is how long a person looks at a gate's card before they stamp it.
	thinking = time.Minute
)

// conversations are where the requests are made, by whom, and who stamps there.
var conversations = []struct{ channel, mention, asks, stamps string }{
	{workspace.HR, "<@" + workspace.Bot + "> ", workspace.Sato, workspace.Suzuki},
	{workspace.General, "<@" + workspace.Bot + "> ", workspace.Tanaka, workspace.Suzuki},
	{workspace.DirectMessage(workspace.Alex), "", workspace.Alex, workspace.Alex},
}

// Pace is a rush of requests while Slack keeps its published limits: how long after it
// opened a gate was seen, and after it ended an execution's end.
type Pace struct {
	Traffic
	Tasks       int
	Gates, Ends []time.Duration
	Wall        time.Duration
}

func measurePace(ctx context.Context, n int) (*Pace, error) {
	s, err := open(ctx, nil, webapi.Rates{Enforce: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &Pace{Tasks: n}
	began := time.Now()
	var mu sync.Mutex
	p.Traffic, err = traffic(ctx, s, func() error {
		return crowd(ctx, n, n, func(t driver.T, i int) {
			gates, end := hurry(t, s, i, began.Add(time.Duration(i)*rush/time.Duration(n)))
			mu.Lock()
			defer mu.Unlock()
			p.Gates, p.Ends = append(p.Gates, gates...), append(p.Ends, end)
		})
	})
	p.Wall = time.Since(began)
	return p, err
}

// hurry is one request: made at a time, stamped a minute after each gate is seen.
func hurry(t driver.T, s *stack.Stack, nth int, at time.Time) (gates []time.Duration, end time.Duration) {
	where := conversations[nth%len(conversations)]
	until(t, at)
	r := askIn(t, s, where.asks, where.channel, where.mention+everyTool, 200*time.Millisecond)
	for _, g := range []struct{ card, action string }{{driver.PromptCard, "approve_prompt"}, {driver.ProcessCard, "approve_process"}} {
		r.Card(g.card, g.action)
		seen := time.Now()
		gates = append(gates, seen.Sub(opened(r)))
		until(t, seen.Add(thinking))
		r.Click(where.stamps, g.card, g.action)
	}
	r.Eventually("the execution's end is shown", func() bool { return r.Shows(driver.ExecutionCard, completed, failed) })
	seen := time.Now()
	e := r.Load().Execution()
	if e == nil || e.CompletedAt == nil {
		t.Fatalf("task %s has not ended, though it is shown", r.Ref.ID)
	}
	return gates, max(0, seen.Sub(*e.CompletedAt))
}

// opened is when the gate that waits began to.
func opened(r *driver.Request) time.Time {
	open, ok := r.Load().OpenGate()
	if !ok || open.Terms.DecideBy == nil {
		r.T.Fatalf("task %s: no gate waits, though one is shown", r.Ref.ID)
	}
	return open.Terms.DecideBy.Add(-time.Duration(open.Terms.ApprovalHours) * time.Hour)
}

func until(t driver.T, at time.Time) {
	if err := sleep.For(t.Context(), time.Until(at)); err != nil {
		t.Fatal(err)
	}
}

func (m *Measured) paceRows(t *table) {
	x := m.Pace
	if x == nil {
		return
	}
	t.part(fmt.Sprintf("Slack's own pace: %d requests in a minute, three conversations, each gate stamped a minute after it is seen", x.Tasks), "p50, p95, last", "")
	for _, row := range []struct {
		name string
		took []time.Duration
		goal string
	}{{"gate opens → seen", x.Gates, "p95 within 15 s is the aim"}, {"execution ends → seen", x.Ends, "all within 90 s is the aim"}} {
		t.row(row.name, fmt.Sprintf("%.1f s, %.1f s, %.1f s", percentile(row.took, 0.5).Seconds(), percentile(row.took, 0.95).Seconds(), percentile(row.took, 1).Seconds()), row.goal)
	}
	t.row("all requests ended and seen", x.Wall.Round(time.Second).String(), fmt.Sprintf("chat.postMessage %d, chat.update %d; %d calls turned away", x.Writes["chat.postMessage"], x.Writes["chat.update"], x.RateLimited))
}
