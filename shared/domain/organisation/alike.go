package organisation

import (
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// alike returns those of some positions that look like each other, the alike ones together.
func alike(positions map[string]bool) (all []string) {
	looks := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(positions)) {
		looks[legible.Look(p)] = append(looks[legible.Look(p)], p)
	}
	for _, look := range slices.Sorted(maps.Keys(looks)) {
		if same := looks[look]; len(same) > 1 {
			all = append(all, strings.Join(same, " = "))
		}
	}
	return all
}
