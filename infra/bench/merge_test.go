package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/bench/coldstart"
)

func TestAPartMeasuredAloneLeavesTheOthers(t *testing.T) {
	cold := func(ratio float64, spawns int) *coldstart.Report {
		return &coldstart.Report{Spawns: spawns, Functions: []coldstart.Function{{Name: "close-task", Pair: coldstart.Pair{Ratio: ratio}}}}
	}
	growth := func(units float64) *Growth {
		return &Growth{PageSize: 25, Pages: []Page{{"tasks", 100, units, units}}}
	}
	latency := &Latency{FirstCard: Spread{Count: 2}}
	before := &Measured{At: "2026-11-19", Cold: cold(3, 5), Latency: latency, Growth: growth(2)}
	for name, test := range map[string]struct{ now, want *Measured }{
		"the first":    {&Measured{At: "2026-11-20", Cold: cold(1, 21)}, &Measured{At: "2026-11-20", Cold: cold(1, 21), Latency: latency, Growth: growth(2)}},
		"the last":     {&Measured{At: "2026-11-20", Growth: growth(3)}, &Measured{At: "2026-11-20", Cold: cold(3, 5), Latency: latency, Growth: growth(3)}},
		"nothing anew": {&Measured{At: "2026-11-19"}, before},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "README.md")
			if err := os.WriteFile(path, []byte("x\n"+begin+"\n"+before.markdown()+end+"\ny"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := insert(path, test.now.markdown()); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("x\n"+begin+"\n"+test.want.markdown()+end+"\ny", string(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want.baseline(Baseline{}), test.now.baseline(before.baseline(Baseline{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
