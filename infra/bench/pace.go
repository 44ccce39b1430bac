package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/sleep"
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
	Tasks       int             `json:"tasks"`
	Gates       []time.Duration `json:"gates"` // sorted
	Ends        []time.Duration `json:"ends"`  // sorted
	Wall        time.Duration   `json:"wall"`
	Writes      map[string]int  `json:"writes"`
	RateLimited int             `json:"rate_limited"`
}

func measurePace(ctx context.Context, n int) (*Pace, error) {
	s, err := open(ctx, nil, webapi.Rates{Enforce: true})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening, heard := context.WithCancel(ctx)
	calls := &Throughput{Writes: map[string]int{}}
	var ears sync.WaitGroup
	ears.Go(func() { calls.listen(listening, s) })
	ears.Go(func() { sweep(listening, s) })

	p := &Pace{Tasks: n, Writes: calls.Writes}
	began := time.Now()
	var mu sync.Mutex
	var all []error
	var people sync.WaitGroup
	for i := range n {
		people.Go(func() {
			gates, end, err := hurry(ctx, s, i, began.Add(time.Duration(i)*rush/time.Duration(n)))
			mu.Lock()
			defer mu.Unlock()
			all = append(all, err)
			p.Gates, p.Ends = append(p.Gates, gates...), append(p.Ends, end)
		})
	}
	people.Wait()
	p.Wall = time.Since(began)
	heard()
	ears.Wait()
	p.RateLimited = calls.RateLimited
	slices.Sort(p.Gates)
	slices.Sort(p.Ends)
	return p, errors.Join(all...)
}

// hurry is one request: made at a time, stamped a minute after each gate is seen.
func hurry(ctx context.Context, s *stack.Stack, nth int, at time.Time) (gates []time.Duration, end time.Duration, err error) {
	where := conversations[nth%len(conversations)]
	if err := until(ctx, at); err != nil {
		return nil, 0, err
	}
	d, err := askIn(s, where.asks, where.channel, where.mention+everyTool, 200*time.Millisecond)
	if err != nil {
		return nil, 0, err
	}
	for _, g := range []struct{ card, action string }{{promptCard, "approve_prompt"}, {processCard, "approve_process"}} {
		if _, err := d.card(ctx, g.card, g.action); err != nil {
			return nil, 0, err
		}
		seen := time.Now()
		opened, err := d.opened(ctx)
		if err != nil {
			return nil, 0, err
		}
		gates = append(gates, seen.Sub(opened))
		if err := until(ctx, seen.Add(thinking)); err != nil {
			return nil, 0, err
		}
		if _, _, err := d.click(ctx, where.stamps, g.card, g.action); err != nil {
			return nil, 0, err
		}
	}
	err = d.until(ctx, "the execution's end is shown", func() (bool, error) {
		m, err := d.card(ctx, executionCard, "")
		shown := face(m)
		return strings.Contains(shown, "✅ 実行完了") || strings.Contains(shown, "retry_execution"), err
	})
	if err != nil {
		return nil, 0, err
	}
	seen := time.Now()
	a, err := d.rows.Load(ctx, d.ref)
	if err != nil || a.Execution() == nil || a.Execution().CompletedAt == nil {
		return nil, 0, errors.Join(err, fmt.Errorf("task %s has not ended, though it is shown", d.ref.Task))
	}
	return gates, max(0, seen.Sub(*a.Execution().CompletedAt)), nil
}

// opened is when the gate that waits began to.
func (d *desk) opened(ctx context.Context) (time.Time, error) {
	a, err := d.rows.Load(ctx, d.ref)
	if err != nil {
		return time.Time{}, err
	}
	open, ok := a.Pending()
	if !ok || open.Terms.DecideBy == nil {
		return time.Time{}, fmt.Errorf("task %s: no gate waits, though one is shown", d.ref.Task)
	}
	return open.Terms.DecideBy.Add(-time.Duration(open.Terms.ApprovalHours) * time.Hour), nil
}

func until(ctx context.Context, at time.Time) error {
	return sleep.For(ctx, time.Until(at))
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
