package main

import (
	"context"
	"fmt"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
)

// Spread is how long something took: half of all, nine in ten, 99 in 100 were faster.
type Spread struct {
	Count int           `json:"count"`
	P50   time.Duration `json:"p50"`
	P90   time.Duration `json:"p90"`
	P99   time.Duration `json:"p99"`
}

func spread(values []time.Duration) Spread {
	return Spread{len(values), percentile(values, 0.5), percentile(values, 0.9), percentile(values, 0.99)}
}

// Latency is how long people wait, in the local stack, one request at a time.
type Latency struct {
	FirstCard Spread `json:"event_to_first_card"`
	Changed   Spread `json:"click_to_card_changed"`
	Resumed   Spread `json:"click_to_run_resumed"`
	// Shares tells where the time from a message to its first card goes, of 1.
	Shares []Share `json:"shares"`
}

func measureLatency(ctx context.Context, n int) (*Latency, error) {
	s, err := open(ctx, nil, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var first, changed, resumed []time.Duration
	for i := range n + 1 {
		d, err := ask(s, everyTool, 5*time.Millisecond)
		if err != nil {
			return nil, err
		}
		card, err := d.card(ctx, taskCard, "")
		if err != nil {
			return nil, err
		}
		posted, err := d.called(ctx, "chat.postMessage", card.TS, d.at)
		if err != nil {
			return nil, err
		}
		clicked, pending, err := d.click(ctx, workspace.Suzuki, promptCard, "approve_prompt")
		if err != nil {
			return nil, err
		}
		if _, err := d.card(ctx, promptCard, "✅ 承認"); err != nil {
			return nil, err
		}
		updated, err := d.called(ctx, "chat.update", pending.TS, clicked)
		if err != nil {
			return nil, err
		}
		// The next request is made when this one waits for a person and all is quiet.
		if _, err := d.card(ctx, processCard, "approve_process"); err != nil {
			return nil, err
		}
		v, err := s.Task(ctx, d.ref.Task)
		if err != nil {
			return nil, err
		}
		var left time.Time
		for _, state := range v.Runs[0].States {
			if state.Name == "AwaitPromptApproval" && state.Exited != nil {
				left = *state.Exited
			}
		}
		if left.IsZero() {
			return nil, fmt.Errorf("task %s: its run is not seen to go on", d.ref.Task)
		}
		if i == 0 {
			continue // it started the processes
		}
		first, changed, resumed = append(first, posted.Sub(d.at)), append(changed, updated.Sub(clicked)), append(resumed, left.Sub(clicked))
	}
	where, err := measureShares(ctx, n)
	if err != nil {
		return nil, err
	}
	return &Latency{spread(first), spread(changed), spread(resumed), where}, nil
}

// called is when Slack heard a method for a message, after a moment. The sandbox
// notes a call when it has answered, a little after the message is to be seen.
func (d *desk) called(ctx context.Context, method, ts string, after time.Time) (at time.Time, err error) {
	err = d.until(ctx, method+" of message "+ts, func() (bool, error) {
		for _, c := range d.s.Sandbox.Calls() {
			if c.Method == method && c.TS == ts && c.Error == "" && c.At.After(after) {
				at = c.At
				return true, nil
			}
		}
		return false, nil
	})
	return at, err
}
