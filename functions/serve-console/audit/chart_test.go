package audit

import (
	"fmt"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

// The label of the last day ends at the chart's end, so the one before it needs more room than others do.
func TestTheLabelsOfAChartStandFree(t *testing.T) {
	for n, want := range map[int][]int{30: {5, 13, 21, 29}, 90: {20, 43, 66, 89}, 7: {0, 2, 4, 6}} {
		bars := make([]bar, n)
		for i := range bars {
			bars[i] = bar{Value: 1, Label: fmt.Sprint(i)}
		}
		var got []int
		for i, label := range chartOf("", bars, web.Count).Columns {
			if label != "" {
				got = append(got, i)
			}
		}
		expect.Same(t, want, got)
	}
}
