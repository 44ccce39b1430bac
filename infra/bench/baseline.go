package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"ringi/infra/local/template"
)

// Baseline is what later measurements are compared with: amounts per pipeline
// and ratios, no times.
type Baseline struct {
	// Amounts are calls, capacity units and transitions of an undisturbed pipeline, by name.
	Amounts map[string]float64 `json:"amounts"`
	// Cold are the functions' starts as ratios to a bare handler's, by folder.
	Cold map[string]float64 `json:"cold"`
}

// baseline is an earlier one with what was measured since.
func (m *Measured) baseline(b Baseline) Baseline {
	if m.Calls != nil {
		b.Amounts = m.Calls.Quiet.amounts()
	}
	if m.Cold != nil {
		b.Cold = map[string]float64{}
		for _, f := range m.Cold.Functions {
			b.Cold[f.Name] = f.Ratio
		}
	}
	return b
}

// amounts are what a pipeline uses, but for what depends on how many changes one redraw covers.
func (p Pipeline) amounts() map[string]float64 {
	out := map[string]float64{"transitions": p.Transitions}
	for name, u := range p.Functions {
		if name == sweeper {
			continue
		}
		aws, slack, vendor := kinds(u.Calls)
		for what, n := range map[string]float64{"AWS calls": aws, "Slack calls": slack, "vendor calls": vendor, "read units": u.Read, "write units": u.Write + u.Index} {
			if n > 0 {
				out[template.Folder(name)+" "+what] = round(n)
			}
		}
	}
	return out
}

func (b Baseline) save(path string) error {
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func readBaseline(path string) (b Baseline, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, fmt.Errorf("read the baseline: %w", err)
	}
	return b, nil
}

// worse tells what has grown beyond a ratio of what it was, or is new; slack is
// an amount that counts as noise.
func worse(now, before map[string]float64, ratio, slack float64) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		was, known := before[name]
		switch {
		case !known:
			out = append(out, fmt.Sprintf("%s is new: %s", name, num(now[name])))
		case now[name] > was*ratio+slack:
			out = append(out, fmt.Sprintf("%s is %s, %s times the baseline's %s", name, num(now[name]), num(now[name]/was), num(was)))
		}
	}
	return out
}
