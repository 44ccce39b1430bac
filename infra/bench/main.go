// Command bench measures what a request costs: calls, capacity, time and size. All figures come from the local stack,
// so its times are only meaningful as ratios.
//
// A Recorder notes every call that the functions of a local stack make, with its cost, and can make some calls fail.
// The Meter computes what DynamoDB charges for a call by its published rules, because emulators return a constant.
// Measure says how long a function's process takes until it asks for its first event, and its size.
//
// Run reckons what an open load does to a deployment in AWS: requests arrive by the clock, whether or not earlier ones
// are done. It is a simulation, because a machine of two cores can't run a hundred requests a minute with AWS's times.
// What a request does comes from the measurement of real ones: invocations, calls and rows. How long that takes is
// assumed, and so are the people, who decide within a minute or two.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"ringi/infra/local/lambda"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Measured has all measurements; parts that were not measured are nil.
type Measured struct {
	At, On       string // the day and the machine
	Calls        *Calls
	Contest      *Contests
	Conversation *Pipeline // with an agent
	Outside      *Outside
	Cold         *Report
	Latency      *Latency
	Throughput   *Throughput
	Load         *LoadReport // reckoned from Calls
}

// effort says how often each measurement is repeated.
type effort struct {
	pipelines, disturbed, spawns, requests int
	arrivals                               time.Duration // of the open load
	seed                                   uint64
}

var (
	fullEffort = effort{pipelines: 5, disturbed: 20, spawns: 21, requests: 200, arrivals: time.Hour}
	brief      = effort{pipelines: 1, disturbed: 4, spawns: 5, requests: 10, arrivals: 10 * time.Minute}
)

// parts are the measurements that can be run separately, in order.
var parts = []string{"calls", "others", "outside", "cold", "latency", "throughput", "load"}

func (m *Measured) measure(ctx context.Context, part string, e effort, log io.Writer) (err error) {
	switch part {
	case "calls":
		m.Calls, err = measureCalls(ctx, e.pipelines, e.disturbed, e.seed)
		if err == nil && m.Load != nil { // it follows from the calls
			err = m.reckonLoad(".", m.Load.Arrivals)
		}
	case "others":
		err = m.measureOthers(ctx, min(3, e.pipelines))
	case "outside":
		m.Outside, err = measureOutside(ctx, min(3, e.pipelines), e.requests)
	case "cold":
		m.Cold, err = Measure(ctx, Options{Spawns: e.spawns, Flags: lambda.LikeAWS, Log: log})
	case "latency":
		m.Latency, err = measureLatency(ctx, e.requests)
	case "throughput":
		m.Throughput, err = measureThroughput(ctx, e.requests)
	case "load":
		err = m.reckonLoad(".", e.arrivals)
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", strings.Join(parts, ","), "which parts to measure")
	short := flags.Bool("short", false, "measure each thing a few times only")
	seed := flags.Uint64("seed", rand.Uint64(), "which calls fail")
	write := flags.Bool("write", false, "keep each part, once it is measured, in "+baseline+" and in the pages that are made of it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	for _, name := range chosen {
		if !slices.Contains(parts, name) {
			return fmt.Errorf("-only: there is no part %q; there are %s", name, strings.Join(parts, ", "))
		}
	}
	e := fullEffort
	if *short {
		e = brief
	}
	e.seed = *seed
	m := &Measured{}
	if *write || len(chosen) == 0 {
		var err error
		if m, err = load("."); err != nil {
			return err
		}
	}
	if *write {
		if err := m.keep("."); err != nil { // the pages follow the program even if nothing is measured
			return err
		}
	}
	for _, part := range parts {
		if !slices.Contains(chosen, part) {
			continue
		}
		began := time.Now()
		fmt.Fprintf(log, "measuring %s\n", part)
		if err := m.measure(ctx, part, e, log); err != nil {
			return fmt.Errorf("measure %s with seed %d: %w", part, e.seed, err)
		}
		if part != "load" { // which measures nothing
			m.At, m.On = began.UTC().Format(time.DateOnly),
				fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
		}
		fmt.Fprintf(log, "measured %s in %s\n", part, time.Since(began).Round(time.Second))
		if *write {
			if err := m.keep("."); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprint(out, m.printed(chosen))
	return err
}

// printed returns the measurements; after the loads alone, those; if nothing was measured, all of the baseline.
func (m *Measured) printed(chosen []string) string {
	switch {
	case len(chosen) == 0:
		return m.markdown() + "\n" + m.Load.markdown(m.Calls) + "\n" + m.breaks(len(m.bounds()))
	case slices.Equal(chosen, []string{"load"}):
		return m.Load.markdown(m.Load.of)
	}
	return m.markdown()
}
