package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
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
	rec := New(0)
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
func shares(asked []*driver.Request, calls []Call) ([]Share, error) {
	for _, c := range calls {
		if c.Units != (Units{}) {
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

func first(calls []Call, p passage, from, to time.Time) (at time.Time) {
	for _, c := range calls {
		if c.Function == p.function && c.Name == p.name && c.At.After(from) && c.At.Before(to) &&
			(at.IsZero() || c.At.Before(at)) {
			at = c.At
		}
	}
	return at
}

// pace is how many times faster than Slack the sandbox lets the app write, so that one channel takes 200 tasks within
// minutes.
const askedPace = 20

// lookEvery is how often each of the people looks, seldom enough that their looks are no load.
const lookEvery = time.Second

// Throughput measures many concurrent requests in one channel with Slack's limits. All of them completed.
type Throughput struct {
	Writes      map[string]float64 // calls to Slack, by method
	RateLimited int                // calls that Slack rate-limited
	Tasks       int
	Wall        time.Duration
	Pace        float64 // of Slack's limits
	Unsaved     int     // clicks that had to be repeated
	Retried     int     // executions that a person had to retry
	Redelivered int     // events that the app did not accept within three seconds
}

func measureThroughput(ctx context.Context, n int) (*Throughput, error) {
	s, err := open(ctx, nil, webapi.Rates{Enforce: true, Scale: askedPace})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	t := &Throughput{Writes: map[string]float64{}, Tasks: n, Pace: askedPace}
	began := time.Now()
	var mu sync.Mutex
	var asked []*driver.Request
	err = t.watch(ctx, s, func() error {
		err := crowd(ctx, n, n, func(people driver.T, _ int) {
			r := ask(people, s, lookEvery)
			r.WhenQuiet = func() {} // watch fires the sweeper for all
			retried := finish(r)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, r)
			t.Unsaved, t.Retried = t.Unsaved+r.Unsaved, t.Retried+retried
		})
		if err != nil {
			return err
		}
		return driver.Try(ctx, func(t driver.T) {
			for _, r := range asked {
				r.T = t
				allShown(r)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	t.Wall = time.Since(began)
	for _, a := range s.Sandbox.Attempts() {
		if a.Retry > 0 {
			t.Redelivered++
		}
	}
	return t, noDeadLetters(ctx, s)
}

// watch counts the app's calls while people acts. It fires the sweeper more often than its schedule does.
func (t *Throughput) watch(ctx context.Context, s *stack.Stack, people func() error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	beside.Go(func() {
		for clock.Sleep(ctx, 20*time.Second) == nil {
			s.Fire(ctx, sweeper) // fired again in the next round
		}
	})
	beside.Go(func() {
		var last time.Time
		for more := true; more; last = t.count(s.Sandbox.Calls(), last) { // the sandbox only remembers the last calls
			more = clock.Sleep(ctx, 200*time.Millisecond) == nil
		}
	})
	err := people()
	stop()
	beside.Wait()
	return err
}

// count adds the calls after a time, and returns the time of the newest.
func (t *Throughput) count(calls []webapi.Call, last time.Time) time.Time {
	newest := last
	for _, c := range calls {
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
	return newest
}

func noDeadLetters(ctx context.Context, s *stack.Stack) error {
	c := sqs.NewFromConfig(s.AWS)
	for _, id := range []string{"CardDeadLetters", "ChangeDeadLetters"} {
		url := s.QueueURL(id)
		out, err := c.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []sqstypes.QueueAttributeName{"ApproximateNumberOfMessages"}})
		if err != nil {
			return fmt.Errorf("look into %s: %w", id, err)
		}
		if n := out.Attributes["ApproximateNumberOfMessages"]; n != "0" {
			return fmt.Errorf("%s has %s messages", id, n)
		}
	}
	return nil
}

// everyTool is a request whose plan uses all five tools.
const everyTool = "今月の勤怠をまとめて"

// Texts on an execution's card: after success, and after failure.
const completed, failed = "✅ 実行完了", "retry_execution"

// patience bounds each wait on a busy machine.
const patience = 15 * time.Minute

// open starts a stack whose sweeper runs only when fired.
func open(ctx context.Context, faults lambda.Faults, rates webapi.Rates) (*stack.Stack, error) {
	o := driver.Options()
	o.Faults, o.Sandbox.Rates = faults, rates
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return driver.Start(ctx, o)
}

// ask makes a request in #人事; poll is how often its cards are read.
func ask(t driver.T, s *stack.Stack, poll time.Duration) *driver.Request {
	r := driver.Say(t, s, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> "+everyTool)
	r.Timeout, r.Poll = patience, poll
	return r
}

// finish stamps both cards and waits until the execution's card says that the work is done. If the execution fails it
// presses 再実行, and returns how often it did. It looks at cards only, as people do: two hundred who read their task's
// rows each second are more load than the tasks.
func finish(r *driver.Request) (retried int) {
	r.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	r.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
	for {
		r.Eventually("the execution ends", func() bool { return r.Shows(driver.ExecutionCard, completed, failed) })
		if !r.Shows(driver.ExecutionCard, failed) {
			break
		}
		retried++
		r.Click(webapi.Sato, driver.ExecutionCard, failed)
		// The card shows the next attempt a moment later.
		r.Eventually("the next attempt is shown", func() bool { return !r.Shows(driver.ExecutionCard, failed) })
	}
	return retried
}

// allShown waits until the task is completed and all its cards show it.
func allShown(r *driver.Request) {
	r.Until("all cards are shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
}

// crowd calls do n times, atOnce of them concurrently. The first failure ends all.
func crowd(ctx context.Context, n, atOnce int, do func(t driver.T, nth int)) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(atOnce)
	for i := range n {
		all.Go(func() error { return driver.Try(ctx, func(t driver.T) { do(t, i) }) })
	}
	return all.Wait()
}
