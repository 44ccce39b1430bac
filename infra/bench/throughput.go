package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
)

// pace is how many times faster than Slack the sandbox lets the app write, so
// that one channel takes 200 tasks in minutes.
const pace = 20

// Throughput is many requests made at once, in one channel with Slack's limits.
type Throughput struct {
	Tasks       int            `json:"tasks"` // all of them were completed and shown
	Wall        time.Duration  `json:"wall"`
	Pace        float64        `json:"pace"` // of Slack's limits
	Writes      map[string]int `json:"writes"`
	RateLimited int            `json:"rate_limited"` // calls that Slack turned away
	Unsaved     int            `json:"unsaved"`      // clicks that had to be repeated
	Retried     int            `json:"retried"`      // executions that a person had to ask for again
	DeadLetters int            `json:"dead_letters"`
	Redelivered int            `json:"redelivered"` // events that the app did not take in three seconds
}

func measureThroughput(ctx context.Context, n int) (*Throughput, error) {
	s, err := open(ctx, nil, webapi.Rates{Enforce: true, Scale: pace})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &Throughput{Tasks: n, Pace: pace, Writes: map[string]int{}}
	listening, heard := context.WithCancel(ctx)
	var ears sync.WaitGroup
	ears.Go(func() { t.listen(listening, s) })
	ears.Go(func() { sweep(listening, s) })

	began := time.Now()
	var mu sync.Mutex
	var all []error
	var people sync.WaitGroup
	for range n {
		people.Go(func() {
			d, err := ask(s, everyTool, 250*time.Millisecond)
			if err == nil {
				err = d.finish(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			if all = append(all, err); d != nil {
				t.Unsaved, t.Retried = t.Unsaved+d.again, t.Retried+d.retried
			}
		})
	}
	people.Wait()
	t.Wall = time.Since(began)
	heard()
	ears.Wait()
	if err := errors.Join(all...); err != nil {
		return nil, err
	}
	for _, a := range s.Sandbox.Attempts() {
		if a.Retry > 0 {
			t.Redelivered++
		}
	}
	if t.DeadLetters, err = deadLetters(ctx, s); err == nil && t.DeadLetters > 0 {
		err = fmt.Errorf("%d messages are in a dead letter queue", t.DeadLetters)
	}
	return t, err
}

// listen counts the app's calls until ctx ends; the sandbox remembers the last ones only.
func (t *Throughput) listen(ctx context.Context, s *stack.Stack) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last time.Time
	for more := true; more; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			more = false
		}
		newest := last
		for _, c := range s.Sandbox.Calls() {
			if !c.At.After(last) {
				continue
			}
			if c.At.After(newest) {
				newest = c.At
			}
			if c.Error == "ratelimited" || c.Error == string(webapi.RateLimited) {
				t.RateLimited++
			} else {
				t.Writes[c.Method]++
			}
		}
		last = newest
	}
}

// sweep tells the sweeper to look, as its schedule would but oftener.
func sweep(ctx context.Context, s *stack.Stack) {
	tick := time.NewTicker(20 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.Fire(ctx, sweeper) // what it fails at it tries again
		case <-ctx.Done():
			return
		}
	}
}

func deadLetters(ctx context.Context, s *stack.Stack) (total int, err error) {
	c := sqs.NewFromConfig(s.AWS)
	for _, id := range []string{"CardDeadLetters", "ChangeDeadLetters"} {
		url := s.QueueURL(id)
		out, err := c.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"ApproximateNumberOfMessages"}})
		if err != nil {
			return 0, fmt.Errorf("look into %s: %w", id, err)
		}
		n, err := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
		if err != nil {
			return 0, fmt.Errorf("look into %s: %w", id, err)
		}
		total += n
	}
	return total, nil
}
