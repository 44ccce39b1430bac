package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// front is the project's first page, which says the baseline in a sentence between marks of its own.
const (
	front                    = "README.md"
	beginFigures, endFigures = "<!-- figures -->", "<!-- /figures -->"
)

// sentence is what one request uses, as the first page says it.
func (b Baseline) sentence() string {
	sum := func(what string) (n float64) {
		for name, amount := range b.Amounts {
			if strings.HasSuffix(name, " "+what) {
				n += amount
			}
		}
		return n
	}
	cold := slices.Sorted(maps.Values(b.Cold))
	return fmt.Sprintf(`One request with five steps and two stamps takes %.0f calls to AWS, %.0f to Slack, %s state transitions, %.0f read
units and %.0f write units. Functions start in %s to %s times what a bare Go handler with the same clients takes.
`, sum("AWS calls"), sum("Slack calls"), num(b.Amounts["transitions"]), sum("read units"), sum("write units"),
		num(cold[0]), num(cold[len(cold)-1]))
}

// tell puts the sentence into a page.
func (b Baseline) tell(page string) error {
	return between(page, beginFigures, endFigures, func(string) string { return b.sentence() })
}
