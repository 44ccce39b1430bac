package main

import (
	"os"
	"path/filepath"
	"testing"

	"ringi/infra/bench/coldstart"
	"ringi/shared/runtime/expect"
)

func TestAPartMeasuredAloneLeavesTheOthers(t *testing.T) {
	cold := func(ratio float64, spawns int) *coldstart.Report {
		return &coldstart.Report{Spawns: spawns, Functions: []coldstart.Function{{Name: "close-task", Pair: coldstart.Pair{Ratio: ratio}}}}
	}
	rush := func(n int) *Throughput { return &Throughput{Tasks: n} }
	latency := &Latency{FirstCard: Spread{Count: 2}}
	before := &Measured{At: "2026-11-19", Cold: cold(3, 5), Latency: latency, Throughput: rush(2)}
	for name, test := range map[string]struct{ now, want *Measured }{
		"the first":    {&Measured{At: "2026-11-20", Cold: cold(1, 21)}, &Measured{At: "2026-11-20", Cold: cold(1, 21), Latency: latency, Throughput: rush(2)}},
		"the last":     {&Measured{At: "2026-11-20", Throughput: rush(3)}, &Measured{At: "2026-11-20", Cold: cold(3, 5), Latency: latency, Throughput: rush(3)}},
		"nothing anew": {&Measured{At: "2026-11-19"}, before},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "README.md")
			expect.NoError(t, os.WriteFile(path, []byte("x\n"+begin+"\n"+before.markdown()+end+"\ny"), 0o600))
			expect.NoError(t, insert(path, test.now.markdown()))
			got := expect.Value(os.ReadFile(path))(t)
			expect.Same(t, "x\n"+begin+"\n"+test.want.markdown()+end+"\ny", string(got))
			expect.Same(t, test.want.baseline(Baseline{}), test.now.baseline(before.baseline(Baseline{})))
		})
	}
}
