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
	"slices"
	"strings"
	"syscall"
	"time"
)

// parts are what can be measured, in this order.
var parts = []string{"calls", "cold", "latency", "throughput", "pace", "growth"}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// effort is how often each thing is done.
type effort struct {
	pipelines, disturbed, spawns, requests, atOnce, rush int
	rows                                                 []int
}

var (
	whole = effort{pipelines: 5, disturbed: 20, spawns: 21, requests: 200, atOnce: 200, rush: 30, rows: []int{100, 10_000, 100_000}}
	brief = effort{pipelines: 1, disturbed: 4, spawns: 5, requests: 10, atOnce: 10, rush: 6, rows: []int{100, 1_000}}
)

func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", strings.Join(parts, ","), "which parts to measure; empty measures nothing and shows what was kept")
	short := flags.Bool("short", false, "measure each thing a few times only")
	n := flags.Int("n", 0, "requests of latency and throughput; 0 is the usual number")
	rows := flags.Int("rows", 0, "the most rows of growth; 0 is the usual number")
	seed := flags.Uint64("seed", rand.Uint64(), "which calls fail")
	keep := flags.String("keep", ".ringi-local/bench/measured.json", "where measured parts are kept, so that each can be measured alone; empty keeps nothing")
	write := flags.Bool("write", false, "write the table into infra/bench/README.md and the ratios into infra/bench/baseline.json; a part that was never measured here stays as it is there")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	for _, name := range chosen {
		if !slices.Contains(parts, name) {
			return fmt.Errorf("-only: there is no part %q; there are %s", name, strings.Join(parts, ", "))
		}
	}
	e := whole
	if *short {
		e = brief
	}
	if *n > 0 {
		e.requests, e.atOnce = *n, *n
	}
	if *rows > 0 {
		e.rows = slices.DeleteFunc(slices.Clone(e.rows), func(r int) bool { return r > *rows })
	}
	m, err := readMeasured(*keep)
	if err != nil {
		return err
	}
	for _, name := range parts {
		if !slices.Contains(chosen, name) {
			continue
		}
		began := time.Now()
		fmt.Fprintf(log, "measuring %s\n", name)
		if err := m.measure(ctx, name, e, *seed, log); err != nil {
			return fmt.Errorf("measure %s: %w", name, err)
		}
		fmt.Fprintf(log, "measured %s in %s\n", name, time.Since(began).Round(time.Second))
		if err := m.save(*keep); err != nil {
			return err
		}
	}
	table := m.markdown()
	fmt.Fprint(out, table)
	if !*write {
		return nil
	}
	const readme, stored = "infra/bench/README.md", "infra/bench/baseline.json"
	if table, err = withOld(readme, table); err != nil {
		return err
	}
	if err := insert(readme, table); err != nil {
		return err
	}
	before, err := readBaseline(stored)
	if err != nil {
		return err
	}
	return m.baseline(before).save(stored)
}
