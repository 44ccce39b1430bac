// Command bench measures a request on the local stack: what it calls and writes, how long people wait, and how long
// functions take to start. Times are of this machine, and good as ratios to another measurement of the same hour.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
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

// effort is how often each thing is measured.
type effort struct{ requests, waits, spawns, atOnce int }

var (
	fullEffort = effort{requests: 5, waits: 100, spawns: 21, atOnce: 40}
	brief      = effort{requests: 1, waits: 10, spawns: 5, atOnce: 10}
)

// parts are the measurements, in order.
var parts = []struct {
	name    string
	measure func(context.Context, effort, io.Writer) error
}{
	{"calls", printCalls}, {"starts", printStarts}, {"waits", printWaits}, {"crowd", printCrowd},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", strings.Join(names, ","), "which `parts` to measure")
	short := flags.Bool("short", false, "measure each thing a few times only")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := strings.Split(*only, ",")
	for _, name := range chosen {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-only: there is no part %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	e := fullEffort
	if *short {
		e = brief
	}
	for _, p := range parts {
		if !slices.Contains(chosen, p.name) {
			continue
		}
		if err := p.measure(ctx, e, out); err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
	}
	return nil
}

func printCalls(ctx context.Context, e effort, out io.Writer) error {
	for _, x := range []struct {
		name string
		do   kind
	}{{"one request, 5 steps, 2 stamps", request}, {"one write of an outside agent, one stamp", outside}} {
		u, err := measureCalls(ctx, e.requests, x.do)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "- %s: %s\n", x.name, u)
	}
	return nil
}

func printStarts(ctx context.Context, e effort, out io.Writer) error {
	all, err := measureStarts(ctx, e.spawns)
	for _, s := range all {
		fmt.Fprintf(out, "- %s starts in %s, %s× a bare handler; %.1f MiB\n", s.name, millis(s.median), num(s.ratio),
			float64(s.size)/(1<<20))
	}
	return err
}

func printWaits(ctx context.Context, e effort, out io.Writer) error {
	w, err := measureWaits(ctx, e.waits)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		took []time.Duration
	}{{"message → first card", w.first}, {"click → card changed", w.changed}, {"click → run goes on", w.resumed}} {
		fmt.Fprintf(out, "- %s, p50, p90, p99 of %d: %s, %s, %s\n", x.name, len(x.took), millis(percentile(x.took, 0.5)),
			millis(percentile(x.took, 0.9)), millis(percentile(x.took, 0.99)))
	}
	return nil
}

func printCrowd(ctx context.Context, e effort, out io.Writer) error {
	c, err := measureCrowd(ctx, e.atOnce)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "- %d requests at once in one channel: %s; %d clicks and %d executions again, %d events "+
		"delivered again\n",
		e.atOnce, c.wall.Round(time.Second), c.unsaved, c.retried, c.redelivered)
	return nil
}

func num(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// percentile returns the smallest value that at least the share p of all values does not exceed.
func percentile(values []time.Duration, p float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*p))]
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
// presses 再実行, and returns how often it did. It looks at cards only, as people do.
func finish(r *driver.Request) (retried int) {
	r.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	r.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
	for {
		r.Eventually("the execution ends", func() bool { return r.Shows(driver.ExecutionCard, completed, failed) })
		if !r.Shows(driver.ExecutionCard, failed) {
			return retried
		}
		retried++
		r.Click(webapi.Sato, driver.ExecutionCard, failed)
		// The card shows the next attempt a moment later.
		r.Eventually("the next attempt is shown", func() bool { return !r.Shows(driver.ExecutionCard, failed) })
	}
}

// allShown waits until the task is completed and all its cards show it.
func allShown(r *driver.Request) {
	r.Until("all cards are shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
}

// waits are how long people wait, one request at a time.
type waits struct{ first, changed, resumed []time.Duration }

func measureWaits(ctx context.Context, n int) (w waits, err error) {
	s, err := open(ctx, nil, webapi.Rates{})
	if err != nil {
		return w, err
	}
	defer s.Close()
	err = driver.Try(ctx, func(t driver.T) {
		for i := range n + 1 {
			r := ask(t, s, 5*time.Millisecond)
			posted := called(r, "chat.postMessage", r.Card(driver.TaskCard, "").TS, r.Asked)
			card, clicked := r.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
			r.Card(driver.PromptCard, "✅ 承認")
			updated := called(r, "chat.update", card.TS, clicked)
			// The next request is made when this one waits for a person and all is quiet.
			r.Card(driver.ProcessCard, "approve_process")
			left := leftGate(r)
			if i > 0 { // the first started the processes
				w.first, w.changed = append(w.first, posted.Sub(r.Asked)), append(w.changed, updated.Sub(clicked))
				w.resumed = append(w.resumed, left.Sub(clicked))
			}
		}
	})
	return w, err
}

// leftGate returns when the run went on after the policy's gate.
func leftGate(r *driver.Request) time.Time {
	v, err := r.S.Task(r.T.Context(), r.Ref.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	for _, state := range v.Runs[0].States {
		if state.Name == "AwaitPromptApproval" && state.Exited != nil {
			return *state.Exited
		}
	}
	r.T.Fatalf("task %s: its run is not seen to go on", r.Ref.ID)
	return time.Time{}
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

// slackPace is how many times faster than Slack the sandbox lets the app write, so that a channel's tasks take minutes.
const slackPace = 20

// crowd is what came of many requests at once in one channel, with Slack's limits. All of them completed.
type crowd struct {
	wall                          time.Duration
	unsaved, retried, redelivered int // clicks, executions and events again
}

func measureCrowd(ctx context.Context, n int) (c crowd, err error) {
	s, err := open(ctx, nil, webapi.Rates{Enforce: true, Scale: slackPace})
	if err != nil {
		return c, err
	}
	defer s.Close()
	sweeping, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		for clock.Sleep(sweeping, 20*time.Second) == nil {
			s.Fire(sweeping, sweeper) // fired again in the next round
		}
	})
	began := time.Now()
	var mu sync.Mutex
	people, within := errgroup.WithContext(ctx)
	for range n {
		people.Go(func() error {
			return driver.Try(within, func(t driver.T) {
				r := ask(t, s, time.Second) // seldom enough that people's looks are no load
				r.WhenQuiet = func() {}     // the sweeper is fired for all
				retried := finish(r)
				allShown(r)
				mu.Lock()
				defer mu.Unlock()
				c.unsaved, c.retried = c.unsaved+r.Unsaved, c.retried+retried
			})
		})
	}
	err = people.Wait()
	stop()
	beside.Wait()
	if err != nil {
		return c, err
	}
	c.wall = time.Since(began)
	for _, a := range s.Sandbox.Attempts() {
		if a.Retry > 0 {
			c.redelivered++
		}
	}
	return c, noDeadLetters(ctx, s)
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
