package main

import (
	"context"
	"fmt"
	"time"

	"ringi/infra/bench/capacity"
	"ringi/infra/bench/recorder"
	"ringi/infra/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
)

// Share is a stage of the way from a message to its first card.
type Share struct {
	Stage string
	Took  time.Duration
}

// passage is the first call that begins a stage, and what that stage is called.
type passage struct{ stage, function, name string }

// passages are in the order in which a message goes.
var passages = []passage{
	{"gateway, start of receive-event", "ReceiveEventFunction", lambda.KindStart},
	{"receive-event commits", "ReceiveEventFunction", lambda.KindAnswer},
	{"stream to relay-changes", relay, lambda.KindStart},
	{"relay-changes loads, sends", relay, "SQS.SendMessage"},
	{"queue to update-card", updater, lambda.KindStart},
	{"update-card loads, claims", updater, "slack chat.postMessage"},
}

// measureShares makes n requests one after another, and one before them, that starts
// the processes. Its recorder has no meter: that finds out what a write costs by reads
// before and after it, for which the function that writes would have to wait.
func measureShares(ctx context.Context, n int) ([]Share, error) {
	rec := recorder.New(0)
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

// shares takes the median of each stage over requests that were made one after
// another. It refuses calls that were metered: their times are the meter's as well.
func shares(asked []*driver.Request, calls []recorder.Call) ([]Share, error) {
	for _, c := range calls {
		if c.Units != (capacity.Units{}) {
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
				break // it was overtaken by something else
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

func first(calls []recorder.Call, p passage, from, to time.Time) (at time.Time) {
	for _, c := range calls {
		if c.Function == p.function && c.Name == p.name && c.At.After(from) && c.At.Before(to) &&
			(at.IsZero() || c.At.Before(at)) {
			at = c.At
		}
	}
	return at
}
