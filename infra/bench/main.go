// Command bench measures what a request costs: calls, capacity, time and size.
// All figures come from the local stack, so times are good as ratios only.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"ringi/infra/bench/coldstart"
)

// readme has the table, ratios what later measurements are compared with.
const readme, ratios = "infra/bench/README.md", "infra/bench/baseline.json"

// Measured is everything that was measured; what was not is nil.
type Measured struct {
	At         string // the day
	Calls      *Calls
	Contest    *Contests
	Talk       *Pipeline // a conversation with an agent
	Cold       *coldstart.Report
	Latency    *Latency
	Throughput *Throughput
}

// effort is how often each thing is done.
type effort struct {
	pipelines, disturbed, spawns, requests int
	seed                                   uint64
}

var (
	whole = effort{pipelines: 5, disturbed: 20, spawns: 21, requests: 200}
	brief = effort{pipelines: 1, disturbed: 4, spawns: 5, requests: 10}
)

// parts are what can be measured alone, in this order.
var parts = []string{"calls", "others", "cold", "latency", "throughput"}

// measure does one part.
func (m *Measured) measure(ctx context.Context, part string, e effort, log io.Writer) (err error) {
	switch part {
	case "calls":
		m.Calls, err = measureCalls(ctx, e.pipelines, e.disturbed, e.seed)
	case "others":
		err = m.measureOthers(ctx, min(3, e.pipelines))
	case "cold":
		m.Cold, err = coldstart.Measure(ctx, coldstart.Options{Spawns: e.spawns, Log: log})
	case "latency":
		m.Latency, err = measureLatency(ctx, e.requests)
	case "throughput":
		m.Throughput, err = measureThroughput(ctx, e.requests)
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
	n := flags.Int("n", 0, "requests of latency and throughput; 0 is the usual number")
	seed := flags.Uint64("seed", rand.Uint64(), "which calls fail")
	write := flags.Bool("write", false, "write each part, once it is measured, into the table of "+readme+", into "+ratios+", its sentence into "+front+" and, as dollars, into "+costs)
	bill := flags.Bool("bill", false, "measure nothing, and make "+costs+" of the table that stands in "+readme)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *bill {
		return keepCosts(readme, costs)
	}
	chosen := strings.Split(*only, ",")
	for _, name := range chosen {
		if !slices.Contains(parts, name) {
			return fmt.Errorf("-only: there is no part %q; there are %s", name, strings.Join(parts, ", "))
		}
	}
	e := whole
	if *short {
		e = brief
	}
	if e.seed = *seed; *n > 0 {
		e.requests = *n
	}
	m := &Measured{At: time.Now().UTC().Format(time.DateOnly)}
	for _, part := range parts {
		if !slices.Contains(chosen, part) {
			continue
		}
		began := time.Now()
		fmt.Fprintf(log, "measuring %s\n", part)
		if err := m.measure(ctx, part, e, log); err != nil {
			return fmt.Errorf("measure %s with seed %d: %w", part, e.seed, err)
		}
		fmt.Fprintf(log, "measured %s in %s\n", part, time.Since(began).Round(time.Second))
		if *write {
			if err := m.keep(); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprint(out, m.markdown())
	return err
}

// keep writes what was measured where it stands; what was not stays as it is there.
func (m *Measured) keep() error {
	if err := insert(readme, m.markdown()); err != nil {
		return err
	}
	before, err := readBaseline(ratios)
	if err != nil {
		return err
	}
	after := m.baseline(before)
	if err := after.save(ratios); err != nil {
		return err
	}
	if err := after.tell(front); err != nil {
		return err
	}
	return keepCosts(readme, costs)
}

// machine is where it was measured.
func machine() string {
	return fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
