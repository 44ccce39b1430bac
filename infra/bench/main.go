// Command bench measures a request on the local stack: what it calls and writes, how long people wait, and how long
// functions take to start. Times are of this machine, and good as ratios to another measurement of the same hour.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/clock"
)

type part struct {
	name    string
	measure func(context.Context, io.Writer) error
}

// parts are the measurements, in order.
var parts = []part{
	{"calls", printCalls}, {"starts", printStarts}, {"cards", printCards}, {"crowd", printCrowd},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the parts that are named, or all.
func run(ctx context.Context, names []string, out io.Writer) error {
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q, but calls, starts, cards and crowd", name)
		}
	}
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		if err := p.measure(ctx, out); err != nil {
			return fmt.Errorf("measure %s: %w", p.name, err)
		}
	}
	return nil
}

func printCalls(ctx context.Context, out io.Writer) error {
	for _, x := range []struct {
		name string
		do   kind
	}{{"one request, 5 steps, 2 stamps", request}, {"one write of an outside agent, one stamp", outside}} {
		u, err := measureCalls(ctx, 5, x.do)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "- %s: %s\n", x.name, u)
	}
	return nil
}

func printStarts(ctx context.Context, out io.Writer) error {
	all, err := measureStarts(ctx, 21)
	for _, s := range all {
		fmt.Fprintf(out, "- %s starts in %s, %.2f× a bare handler; %.1f MiB\n", s.name, millis(s.median), s.ratio,
			float64(s.size)/(1<<20))
	}
	return err
}

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
func open(ctx context.Context, faults lambda.Faults, pace float64) (*stack.Stack, error) {
	o := driver.Options()
	o.Faults, o.Sandbox.Pace = faults, pace
	o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return driver.Start(ctx, o)
}

// ask makes a request in #人事; poll is how often its cards are read.
func ask(t driver.T, s *stack.Stack, poll time.Duration) *driver.Request {
	r := driver.Say(t, s, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> "+everyTool)
	r.Timeout, r.Poll = patience, poll
	return r
}

// finish stamps both cards and waits until the task is completed and all its cards show it. If the execution fails it
// presses 再実行, and returns how often it did.
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
	r.Until("all cards are shown", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	return retried
}

// printCards measures the wait from a message to its card, one request at a time.
func printCards(ctx context.Context, out io.Writer) error {
	s, err := open(ctx, nil, 0)
	if err != nil {
		return err
	}
	defer s.Close()
	const n = 100
	var took []time.Duration
	err = driver.Try(ctx, func(t driver.T) {
		for i := range n + 1 {
			r := ask(t, s, 5*time.Millisecond)
			posted := postedAt(r, r.Card(driver.TaskCard, "").TS)
			r.Card(driver.PromptCard, "approve_prompt") // the next is made when this one waits for a person
			if i > 0 {                                  // the first started the processes
				took = append(took, posted.Sub(r.Asked))
			}
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "- message → first card, p50, p90, p99 of %d: %s, %s, %s\n", n, millis(percentile(took, 0.5)),
		millis(percentile(took, 0.9)), millis(percentile(took, 0.99)))
	return nil
}

// postedAt returns when a message was posted. It waits until the sandbox has recorded that call, which it does after
// answering.
func postedAt(r *driver.Request, ts string) (at time.Time) {
	r.Eventually("message "+ts+" is posted", func() bool {
		for _, c := range r.S.Sandbox.Calls() {
			if c.Method == "chat.postMessage" && c.TS == ts && c.Error == "" {
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

// printCrowd measures many requests at once in one channel, with Slack's limits, until all of them are completed.
func printCrowd(ctx context.Context, out io.Writer) error {
	s, err := open(ctx, nil, slackPace)
	if err != nil {
		return err
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
	const atOnce = 40
	var again atomic.Int64
	people, within := errgroup.WithContext(ctx)
	for range atOnce {
		people.Go(func() error {
			return driver.Try(within, func(t driver.T) {
				r := ask(t, s, time.Second) // seldom enough that people's looks are no load
				r.WhenQuiet = func() {}     // the sweeper is fired for all
				again.Add(int64(finish(r)))
			})
		})
	}
	err = people.Wait()
	stop()
	beside.Wait()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "- %d requests at once in one channel: %s; %d executions again\n", atOnce,
		time.Since(began).Round(time.Second), again.Load())
	return nil
}
