package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/infra/bench/measure"
	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
)

// Spread has the 50th, 90th and 99th percentile of durations.
type Spread struct {
	Count         int
	P50, P90, P99 time.Duration
}

func spread(values []time.Duration) Spread {
	return Spread{len(values), percentile(values, 0.5), percentile(values, 0.9), percentile(values, 0.99)}
}

// percentile returns the smallest value that at least the share p of all values does not exceed; 0 if there are none.
func percentile(values []time.Duration, p float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p))]
}

// Latency is how long people wait, in the local stack, one request at a time.
type Latency struct {
	FirstCard Spread  // message → first card
	Changed   Spread  // click → card changed
	Resumed   Spread  // click → run goes on
	Shares    []Share // of the time from a message to its first card
}

func measureLatency(ctx context.Context, n int) (*Latency, error) {
	s, err := open(ctx, nil, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var first, changed, resumed []time.Duration
	err = driver.Try(ctx, func(t driver.T) {
		for i := range n + 1 {
			r := ask(t, s, 5*time.Millisecond)
			posted := called(r, "chat.postMessage", r.Card(driver.TaskCard, "").TS, r.Asked)
			click := r.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
			r.Card(driver.PromptCard, "✅ 承認")
			updated := called(r, "chat.update", click.Card.TS, click.At)
			// The next request is made when this one waits for a person and all is quiet.
			r.Card(driver.ProcessCard, "approve_process")
			left := leftGate(r)
			if i > 0 { // the first started the processes
				first, changed, resumed = append(first, posted.Sub(r.Asked)), append(changed, updated.Sub(click.At)),
					append(resumed, left.Sub(click.At))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	where, err := measureShares(ctx, n)
	if err != nil {
		return nil, err
	}
	return &Latency{spread(first), spread(changed), spread(resumed), where}, nil
}

// leftGate returns when the run went on after the policy's gate.
func leftGate(r *driver.Request) (left time.Time) {
	v, err := r.S.Task(r.T.Context(), r.Ref.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	for _, state := range v.Runs[0].States {
		if state.Name == "AwaitPromptApproval" && state.Exited != nil {
			left = *state.Exited
		}
	}
	if left.IsZero() {
		r.T.Fatalf("task %s: its run is not seen to go on", r.Ref.ID)
	}
	return left
}

// called returns the time of the first call of a method about a message after a moment. It waits until the sandbox has
// recorded that call, which it does after answering.
func called(r *driver.Request, method, ts string, after time.Time) (at time.Time) {
	r.Eventually(method+" of message "+ts, func() bool {
		for _, c := range r.S.Sandbox.Calls() {
			if c.Method == method && c.TS == ts && c.Error == "" && c.At.After(after) {
				at = c.At
				return true
			}
		}
		return false
	})
	return at
}

// Share is the time of one stage between a message and its first card.
type Share struct {
	Stage string
	Took  time.Duration
}

// passage is a stage, and the call whose first occurrence ends it.
type passage struct{ stage, function, name string }

var passages = []passage{
	{"gateway, start of receive-event", "ReceiveEventFunction", lambda.KindStart},
	{"receive-event commits", "ReceiveEventFunction", lambda.KindAnswer},
	{"stream to relay-changes", relay, lambda.KindStart},
	{"relay-changes loads, sends", relay, "SQS.SendMessage"},
	{"queue to update-card", updater, lambda.KindStart},
	{"update-card loads, claims", updater, "slack chat.postMessage"},
}

// measureShares times n requests one after another, after one more that starts the processes. Its recorder has no
// meter: a meter reads before and after each write, and the writing function would wait for those reads.
func measureShares(ctx context.Context, n int) ([]Share, error) {
	rec := measure.New(0)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var asked []*driver.Request
	err = driver.Try(ctx, func(t driver.T) {
		for range n + 1 {
			r := ask(t, s, 5*time.Millisecond)
			r.Card(driver.TaskCard, "")
			// The next request is made when this one waits for a person and all is quiet.
			r.Until("the policy waits and is shown", func(a *task.Aggregate) bool { return len(a.Waits) > 0 })
			asked = append(asked, r)
		}
	})
	if err != nil {
		return nil, err
	}
	calls, err := whenQuiet(ctx, rec)
	if err != nil {
		return nil, err
	}
	return shares(asked[1:], calls)
}

// shares returns the median of each stage over requests that were made one after another. It refuses metered calls,
// because their times include the meter's reads.
func shares(asked []*driver.Request, calls []measure.Call) ([]Share, error) {
	for _, c := range calls {
		if c.Units != (measure.Units{}) {
			return nil, fmt.Errorf("%s of %s was metered: its time says nothing", c.Name, c.Function)
		}
	}
	took := make([][]time.Duration, len(passages))
	for i, r := range asked {
		end := time.Now()
		if i+1 < len(asked) {
			end = asked[i+1].Asked
		}
		at := r.Asked
		for j, p := range passages {
			next := first(calls, p, at, end)
			if next.IsZero() {
				break // no such call before the next request
			}
			took[j] = append(took[j], next.Sub(at))
			at = next
		}
	}
	var out []Share
	for j, p := range passages {
		out = append(out, Share{Stage: p.stage, Took: percentile(took[j], 0.5)})
	}
	return out, nil
}

func first(calls []measure.Call, p passage, from, to time.Time) (at time.Time) {
	for _, c := range calls {
		if c.Function == p.function && c.Name == p.name && c.At.After(from) && c.At.Before(to) &&
			(at.IsZero() || c.At.Before(at)) {
			at = c.At
		}
	}
	return at
}
