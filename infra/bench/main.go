// Command bench measures a request on the local stack: what it calls and writes, how long people wait, and how long
// functions take to start. Times are of this machine, and good as ratios to another measurement of the same hour.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
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
