package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"ringi/infra/bench/coldstart"
)

// Measured is everything that was measured; what was not is nil.
type Measured struct {
	At         string            `json:"at,omitempty"` // day of the last measurement
	Machine    string            `json:"machine,omitempty"`
	Calls      *CallsPart        `json:"calls,omitempty"`
	Cold       *coldstart.Report `json:"cold,omitempty"`
	Latency    *Latency          `json:"latency,omitempty"`
	Throughput *Throughput       `json:"throughput,omitempty"`
	Pace       *Pace             `json:"pace,omitempty"`
	Growth     *Growth           `json:"growth,omitempty"`
}

// CallsPart is what pipelines call.
type CallsPart struct {
	Quiet  Pipeline `json:"undisturbed"`
	Faulty Pipeline `json:"with_faults"`
	Sweep  Usage    `json:"idle_sweep"`
	Seed   uint64   `json:"seed"` // of the faults
}

func readMeasured(path string) (*Measured, error) {
	m := &Measured{}
	if path == "" {
		return m, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(b, m)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was measured before: %w", err)
	}
	return m, nil
}

func (m *Measured) save(path string) error {
	if path == "" {
		return nil
	}
	return writeJSON(path, m)
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// measure does one part anew.
func (m *Measured) measure(ctx context.Context, part string, e effort, seed uint64, log io.Writer) (err error) {
	m.At, m.Machine = time.Now().UTC().Format(time.DateOnly), fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	switch part {
	case "calls":
		c := &CallsPart{Seed: seed}
		c.Quiet, c.Faulty, c.Sweep, err = measureCalls(ctx, e.pipelines, e.disturbed, seed)
		if err == nil {
			m.Calls = c
		}
	case "cold":
		var r coldstart.Report
		if r, err = coldstart.Measure(ctx, coldstart.Options{Spawns: e.spawns, Log: log}); err == nil {
			m.Cold = &r
		}
	case "latency":
		m.Latency, err = measureLatency(ctx, e.requests)
	case "throughput":
		m.Throughput, err = measureThroughput(ctx, e.atOnce)
	case "pace":
		m.Pace, err = measurePace(ctx, e.rush)
	case "growth":
		m.Growth, err = measureGrowth(ctx, e.rows, log)
	}
	return err
}
