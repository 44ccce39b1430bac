package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// baseline is the file of what was measured last. Pages are made of it, and new measurements are compared with it.
const baseline = "infra/bench/baseline.json"

// The pages that show measurements, each between marks of its own.
const (
	readme = "infra/bench/README.md"
	costs  = "infra/bench/cost.md"
	front  = "README.md"
)

// section is the text between two marks of a page that have the section's name.
type section struct{ page, name, text string }

func (m *Measured) sections() []section {
	return []section{
		{readme, "bench", m.markdown()}, {costs, "bill", m.bill()}, {costs, "limits", m.limits()},
		{front, "figures", m.sentence()},
	}
}

// put replaces the text between the section's marks.
func (s section) put(page string) (string, error) {
	open, closing := "<!-- "+s.name+" -->", "<!-- /"+s.name+" -->"
	before, rest, ok := strings.Cut(page, open)
	_, after, ok2 := strings.Cut(rest, closing)
	if !ok || !ok2 {
		return "", fmt.Errorf("%s has no %s and %s after it", s.page, open, closing)
	}
	return before + open + "\n" + s.text + closing + after, nil
}

// load reads the baseline.
func load(root string) (m *Measured, err error) {
	text, err := os.ReadFile(filepath.Join(root, baseline))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	return m, nil
}

// keep writes what was measured into the baseline and the pages.
func (m *Measured) keep(root string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, baseline), append(text, '\n'), 0o644); err != nil {
		return err
	}
	for _, s := range m.sections() {
		path := filepath.Join(root, s.page)
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		now, err := s.put(string(page))
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sentence sums up for the first page what one request uses.
func (m *Measured) sentence() string {
	var cold []float64
	for _, f := range m.Cold.Functions {
		cold = append(cold, f.Ratio)
	}
	p := m.Calls.Quiet
	t := p.total()
	return fmt.Sprintf(`One request with five steps and two stamps takes %.0f calls to AWS, %.0f to Slack, %s state transitions, %.0f read
units and %.0f write units. Functions start in %s to %s times what a bare Go handler with the same clients takes.
`, t.AWS, t.Slack, num(p.Transitions), t.Read, t.Write+t.Index, num(slices.Min(cold)), num(slices.Max(cold)))
}
